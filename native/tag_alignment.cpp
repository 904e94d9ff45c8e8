#include "tag_alignment.hpp"

#include <algorithm>
#include <bit>
#include <memory>

#include "hash.hpp"

namespace lookalike {
namespace {

constexpr float kClasses = 256, kUnits = 32768;
constexpr std::size_t kLanes = 16;

// The rows of the table that a page uses, and the place of each of its tags among them.
struct Used {
    std::vector<std::uint32_t> rows, places;
    Used(std::span<const std::uint32_t> page, std::size_t table) {
        std::vector<std::uint32_t> number(table, 0);
        places.reserve(page.size());
        for (const std::uint32_t row : page) {
            if (number[row] == 0) {
                rows.push_back(row);
                number[row] = static_cast<std::uint32_t>(rows.size());
            }
            places.push_back(number[row] - 1);
        }
    }
};

// Distinct signatures, and which of them each tag has.
struct Signatures {
    std::vector<Signature> distinct;
    std::vector<float> counts;
    std::vector<std::uint32_t> places;
    Signatures(const std::vector<std::uint32_t>& rows, const std::vector<Signature>& all) {
        constexpr std::uint32_t kFree = 0xFFFFFFFFU;
        std::vector<std::uint32_t> slots(std::bit_ceil(2 * rows.size() + 1), kFree);
        places.reserve(rows.size());
        for (const std::uint32_t row : rows) {
            const std::array<std::uint64_t, 4>& classes = all[row].classes;
            std::size_t slot = mix(mix(mix(classes[0]) ^ classes[1]) ^ mix(mix(classes[2]) ^ classes[3])) & (slots.size() - 1);
            while (slots[slot] != kFree && distinct[slots[slot]].classes != classes) slot = (slot + 1) & (slots.size() - 1);
            if (slots[slot] == kFree) {
                slots[slot] = static_cast<std::uint32_t>(distinct.size());
                distinct.push_back(all[row]);
                counts.push_back(static_cast<float>(all[row].count));
            }
            places.push_back(slots[slot]);
        }
    }
};

// The share of classes in common beyond what chance has two such signatures share: 0 to 1; 1 for two empty ones.
[[gnu::always_inline]] inline float share(float common, float in_a, float in_b) {
    const float chance = in_a * in_b * (1 / kClasses), mean = (in_a + in_b) * 0.5F;
    const float beyond = common - chance, most = mean - chance;
    const float found = beyond > 0.0F && most > 0.0F ? std::min(1.0F, beyond / (most > 0.0F ? most : 1.0F)) : 0.0F;
    return mean == 0.0F ? 1.0F : found;
}

// The shares of one signature with each of many.
LOOKALIKE_CLONES
void fill_shares(const Signature& own, const Signatures& others, std::uint32_t* common, float* out) {
    const std::array<std::uint64_t, 4> a = own.classes;
    const std::size_t count = others.distinct.size();
    for (std::size_t j = 0; j < count; ++j) {
        const std::array<std::uint64_t, 4>& b = others.distinct[j].classes;
        common[j] = static_cast<std::uint32_t>(std::popcount(a[0] & b[0]) + std::popcount(a[1] & b[1]) + std::popcount(a[2] & b[2]) + std::popcount(a[3] & b[3]));
        asm volatile("");  // keeps the compiler from counting bits in vectors, which takes longer where there is no instruction for it
    }
    const float in_own = static_cast<float>(own.count);
    for (std::size_t j = 0; j < count; ++j) out[j] = share(static_cast<float>(common[j]), in_own, others.counts[j]);
}

struct Shares {
    Signatures left, right;
    std::vector<float> table;
    Shares(const std::vector<Signature>& all, const std::vector<std::uint32_t>& left_rows, const std::vector<std::uint32_t>& right_rows)
        : left(left_rows, all), right(right_rows, all), table(left.distinct.size() * right.distinct.size()) {
        std::vector<std::uint32_t> common(right.distinct.size());
        for (std::size_t i = 0; i < left.distinct.size(); ++i) fill_shares(left.distinct[i], right, common.data(), table.data() + i * common.size());
    }
    const float* row(std::size_t place) const { return table.data() + std::size_t{left.places[place]} * right.distinct.size(); }
};

// What is known of each tag on the right. Columns are striped: they make up 16 stretches that stand beside each other, so that one step
// of the processor goes on in all of them. Behind the last tag stand columns that nothing resembles.
struct Right {
    std::size_t length;  // of a stretch
    std::vector<std::uint32_t> tags, names;
    std::vector<std::uint32_t> attributes, strings;  // places among the distinct ones
    std::vector<float> is_text, is_tag, has_string;  // 1 or 0

    explicit Right(std::size_t width)
        : length((width + kLanes - 1) / kLanes), tags(size(), 0xFFFFFFFFU), names(tags), attributes(size()), strings(size()), is_text(size()), is_tag(size()), has_string(size()) {}
    std::size_t size() const { return length * kLanes; }
    std::size_t place(std::size_t column) const { return column % length * kLanes + column / length; }
};

// A tag on the left: what its name, attributes and string weigh, and the shares of the last two with each distinct one on the right.
struct Left {
    std::uint32_t tag, name;
    bool is_text, has_string;
    float by_name, by_attributes, by_string;
    const float *attributes, *strings;
};

// Resemblances in units: nothing for those of another kind, all for the tag itself. Strings have nothing in common where one side has
// none, and all where both have none.
LOOKALIKE_CLONES
void fill_row(const Left& left, const Right& right, std::int32_t* __restrict out) {
    const std::uint32_t *tags = right.tags.data(), *names = right.names.data(), *attributes = right.attributes.data(), *strings = right.strings.data();
    const float *same_kind = (left.is_text ? right.is_text : right.is_tag).data(), *has = right.has_string.data();
    const Left own = left;
    const std::size_t count = right.size();
    const auto units = [&](std::size_t j, float found) {
        const std::int32_t rounded = static_cast<std::int32_t>(std::min(same_kind[j] * found, 1.0F) * kUnits + 0.5F);
        return own.tag == tags[j] ? static_cast<std::int32_t>(kUnits) : rounded;
    };
    const auto outline = [&](std::size_t j) { return (own.name == names[j] ? own.by_name : 0.0F) + own.by_attributes * own.attributes[attributes[j]]; };
    if (own.is_text && own.has_string) {
        for (std::size_t j = 0; j < count; ++j) out[j] = units(j, has[j] * own.strings[strings[j]]);
    } else if (own.is_text) {
        for (std::size_t j = 0; j < count; ++j) out[j] = units(j, 1.0F - has[j]);
    } else if (own.has_string) {
        for (std::size_t j = 0; j < count; ++j) out[j] = units(j, outline(j) + own.by_string * has[j] * own.strings[strings[j]]);
    } else {
        for (std::size_t j = 0; j < count; ++j) out[j] = units(j, outline(j) + own.by_string * (1.0F - has[j]));
    }
}

constexpr std::int32_t kSkipRight = 0, kSkipLeft = 1, kPair = 2;

// Vectors as compilers know them: on a processor with narrower ones, each is several.
typedef std::int32_t Sums __attribute__((vector_size(kLanes * sizeof(std::int32_t))));
typedef std::uint8_t Steps __attribute__((vector_size(kLanes)));

// One row of the table of sums: the sum of a cell is the largest of that to the left, that above, and that above to the left with the
// resemblance added. First each stretch goes by itself, then all hear of the largest sum before them. Four rows share the bytes of their
// steps: memory that nobody touched before is the slowest.
LOOKALIKE_CLONES
void advance(const std::int32_t* __restrict above, const std::int32_t* __restrict row, std::size_t length, std::int32_t* __restrict here,
             std::uint8_t* __restrict steps, unsigned shift) {
    Sums largest{}, corner, top, own, sum;
    std::memcpy(&corner, above + (length - 1) * kLanes, sizeof corner);
    for (std::size_t lane = kLanes - 1; lane > 0; --lane) corner[lane] = corner[lane - 1];
    corner[0] = 0;
    for (std::size_t k = 0; k < length; ++k) {
        std::memcpy(&top, above + k * kLanes, sizeof top);
        std::memcpy(&own, row + k * kLanes, sizeof own);
        own += corner;
        own = own > top ? own : top;
        largest = largest > own ? largest : own;
        std::memcpy(here + k * kLanes, &largest, sizeof largest);
        corner = top;
    }
    Sums before{};
    for (std::size_t lane = 1; lane < kLanes; ++lane) before[lane] = std::max<std::int32_t>(before[lane - 1], largest[lane - 1]);
    Sums left = before;
    for (std::size_t k = 0; k < length; ++k) {
        std::memcpy(&top, above + k * kLanes, sizeof top);
        std::memcpy(&sum, here + k * kLanes, sizeof sum);
        sum = sum > before ? sum : before;
        const Sums step = ~(sum == left) & (kPair + (sum == top));  // a comparison gives -1 or 0
        Steps packed{};
        if (shift) std::memcpy(&packed, steps + k * kLanes, sizeof packed);
        packed |= __builtin_convertvector(step << static_cast<std::int32_t>(shift), Steps);
        std::memcpy(steps + k * kLanes, &packed, sizeof packed);
        std::memcpy(here + k * kLanes, &sum, sizeof sum);
        left = sum;
    }
}

}  // namespace

void sign(Signature& signature, std::uint64_t hash) {
    const unsigned place = static_cast<unsigned>(mix(hash) >> 56);
    const std::uint64_t bit = std::uint64_t{1} << (place & 63);
    signature.count += (signature.classes[place >> 6] & bit) == 0;
    signature.classes[place >> 6] |= bit;
}

Signature sign_string(std::span<const std::uint8_t> text) {
    Signature signature{};
    // The window begins and ends beyond the text, so that first and last letters count as such.
    std::uint64_t window = 0;
    for (const std::uint8_t byte : text) {
        window = (window << 8 | byte) & 0xFFFFFF;
        sign(signature, window + 1);
    }
    if (!text.empty()) sign(signature, ((window << 8) & 0xFFFFFF) + 1);
    return signature;
}

Signature sign_words(std::span<const std::uint8_t> lines) {
    Signature signature{};
    std::size_t start = 0;
    for (std::size_t i = 0; i <= lines.size(); ++i) {
        if (i < lines.size() && lines[i] != '\n') continue;
        if (i > start) sign(signature, token_hash(lines.data() + start, i - start));
        start = i + 1;
    }
    return signature;
}

std::vector<TagPair> align_tags(std::span<const std::uint32_t> left, std::span<const std::uint32_t> right, const TagTable& tags,
                                const TagWeights& weights) {
    const Used rows(left, tags.names.size()), columns(right, tags.names.size());
    const Shares attributes(tags.attributes, rows.rows, columns.rows), strings(tags.strings, rows.rows, columns.rows);
    if (left.empty() || right.empty()) return {};
    Right others(right.size());
    for (std::size_t j = 0; j < right.size(); ++j) {
        const std::uint32_t tag = right[j], place = columns.places[j];
        const std::size_t column = others.place(j);
        others.tags[column] = tag;
        others.names[column] = tags.names[tag];
        others.attributes[column] = attributes.right.places[place];
        others.strings[column] = strings.right.places[place];
        (tags.flags[tag] & TagTable::kText ? others.is_text : others.is_tag)[column] = 1.0F;
        others.has_string[column] = tags.flags[tag] & TagTable::kHasString ? 1.0F : 0.0F;
    }
    const float total = static_cast<float>(weights.name + weights.attributes + weights.string);
    const std::size_t width = others.size();
    const std::unique_ptr<std::uint8_t[]> steps(new std::uint8_t[(left.size() + 3) / 4 * width]);
    std::vector<std::int32_t> above(width, 0), here(width, 0), row(width);
    for (std::size_t i = 0; i < left.size(); ++i) {
        const std::uint32_t tag = left[i], place = rows.places[i];
        const std::uint8_t flags = tags.flags[tag];
        const Left own{tag, tags.names[tag], (flags & TagTable::kText) != 0, (flags & TagTable::kHasString) != 0, static_cast<float>(weights.name) / total,
                       static_cast<float>(weights.attributes) / total, static_cast<float>(weights.string) / total, attributes.row(place), strings.row(place)};
        fill_row(own, others, row.data());
        advance(above.data(), row.data(), others.length, here.data(), steps.get() + i / 4 * width, static_cast<unsigned>(i % 4 * 2));
        std::swap(above, here);
    }
    std::vector<TagPair> pairs;
    for (std::size_t i = left.size(), j = right.size(); i && j;) {
        const int step = steps[(i - 1) / 4 * width + others.place(j - 1)] >> ((i - 1) % 4 * 2) & 3;
        if (step == kPair) pairs.emplace_back(static_cast<std::uint32_t>(i - 1), static_cast<std::uint32_t>(j - 1));
        i -= step != kSkipRight;
        j -= step != kSkipLeft;
    }
    std::reverse(pairs.begin(), pairs.end());
    return pairs;
}

}  // namespace lookalike
