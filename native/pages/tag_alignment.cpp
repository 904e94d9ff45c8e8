#include "pages/tag_alignment.hpp"

#include <algorithm>
#include <memory>

#include "base/dispatch.hpp"
#include "base/hash.hpp"
#include "pages/tag_shares.hpp"

namespace lookalike {
namespace {

constexpr float kUnits = 32768;
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

// What is known of each tag on the right. Columns are striped: they make up 16 stretches that stand beside each other, so that one step
// of the processor goes on in all of them. Behind the last tag stand columns that nothing resembles.
struct Right {
    std::size_t length;  // of a stretch
    std::vector<std::uint32_t> tags, names;
    std::vector<std::uint32_t> attributes, strings;            // places among the distinct ones
    std::vector<float> is_text, is_tag, has_string, has_none;  // 1 or 0; has_none: no string

    explicit Right(std::size_t width)
        : length((width + kLanes - 1) / kLanes), tags(size(), 0xFFFFFFFFU), names(tags), attributes(size()), strings(size()), is_text(size()), is_tag(size()),
          has_string(size()), has_none(size(), 1.0F) {}
    std::size_t size() const { return length * kLanes; }
    std::size_t place(std::size_t column) const { return column % length * kLanes + column / length; }
};

// Rows of numbers, one a column, that were made a short while ago: pages repeat themselves. So many are kept as stay near the processor.
class RecentRows {
   public:
    explicit RecentRows(std::size_t width) : width_(width), rows_(new float[kSlots * width]) { keys_.fill(~std::uint64_t{0}); }

    template <class Fill>
    const float* get(std::uint64_t key, Fill&& fill) {
        const std::size_t slot = mix(key) % kSlots;
        float* row = rows_.get() + slot * width_;
        if (keys_[slot] != key) fill(row);
        keys_[slot] = key;
        return row;
    }

   private:
    static constexpr std::size_t kSlots = 64;
    std::size_t width_;
    std::unique_ptr<float[]> rows_;
    std::array<std::uint64_t, kSlots> keys_;
};

// What names and attributes add to the resemblance.
LOOKALIKE_INLINED void fill_outlines_here(std::uint32_t name, float by_name, float by_attributes, const float* shares, const Right& right,
                                          float* __restrict out) {
    const std::uint32_t *names = right.names.data(), *attributes = right.attributes.data();
    const std::size_t count = right.size();
    for (std::size_t j = 0; j < count; ++j) out[j] = (name == names[j] ? by_name : 0.0F) + by_attributes * shares[attributes[j]];
}

void fill_outlines(std::uint32_t name, float by_name, float by_attributes, const float* shares, const Right& right, float* __restrict out) {
    return widest<fill_outlines_here>(name, by_name, by_attributes, shares, right, out);
}

// How alike the strings are: they have nothing in common where the other side has none.
LOOKALIKE_INLINED void fill_strings_here(const float* shares, const Right& right, float* __restrict out) {
    const std::uint32_t* strings = right.strings.data();
    const float* has = right.has_string.data();
    const std::size_t count = right.size();
    for (std::size_t j = 0; j < count; ++j) out[j] = has[j] * shares[strings[j]];
}

void fill_strings(const float* shares, const Right& right, float* __restrict out) { return widest<fill_strings_here>(shares, right, out); }

// A tag on the left, or a text, which has no outlines: its string is all it is.
struct Left {
    std::uint32_t tag;
    const float *outlines, *strings;
    float by_string;
};

// Resemblances in units: nothing for those of another kind, all for the tag itself.
LOOKALIKE_INLINED void fill_row_here(const Left& left, const Right& right, std::int32_t* __restrict out) {
    const std::uint32_t* tags = right.tags.data();
    const float *same_kind = (left.outlines ? right.is_tag : right.is_text).data(), *outlines = left.outlines, *strings = left.strings;
    const Left own = left;
    const std::size_t count = right.size();
    const auto units = [&](std::size_t j, float found) {
        const std::int32_t rounded = static_cast<std::int32_t>(std::min(same_kind[j] * found, 1.0F) * kUnits + 0.5F);
        return own.tag == tags[j] ? static_cast<std::int32_t>(kUnits) : rounded;
    };
    if (outlines) {
        for (std::size_t j = 0; j < count; ++j) out[j] = units(j, outlines[j] + own.by_string * strings[j]);
    } else {
        for (std::size_t j = 0; j < count; ++j) out[j] = units(j, strings[j]);
    }
}

void fill_row(const Left& left, const Right& right, std::int32_t* __restrict out) { return widest<fill_row_here>(left, right, out); }

constexpr std::int32_t kSkipRight = 0, kSkipLeft = 1, kPair = 2;

// Vectors as compilers know them: on a processor with narrower ones, each is several.
typedef std::int32_t Sums __attribute__((vector_size(kLanes * sizeof(std::int32_t))));
typedef std::uint8_t Steps __attribute__((vector_size(kLanes)));

// One row of the table of sums: the sum of a cell is the largest of that to the left, that above, and that above to the left with the
// resemblance added. First each stretch goes by itself, then all hear of the largest sum before them. Four rows share the bytes of their
// steps: memory that nobody touched before is the slowest.
LOOKALIKE_INLINED void advance_here(const std::int32_t* __restrict above, const std::int32_t* __restrict row, std::size_t length, std::int32_t* __restrict here,
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

void advance(const std::int32_t* __restrict above, const std::int32_t* __restrict row, std::size_t length, std::int32_t* __restrict here,
             std::uint8_t* __restrict steps, unsigned shift) {
    return widest<advance_here>(above, row, length, here, steps, shift);
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

std::vector<TagPair> align_tags(std::span<const std::uint32_t> left, std::span<const std::uint32_t> right, const TagTable& tags, const TagWeights& weights) {
    const Used rows(left, tags.names.size()), columns(right, tags.names.size());
    Shares attributes(tags.attributes, rows.rows, columns.rows), strings(tags.strings, rows.rows, columns.rows);
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
        others.has_none[column] = 1.0F - others.has_string[column];
    }
    const float total = static_cast<float>(weights.name + weights.attributes + weights.string), by_name = static_cast<float>(weights.name) / total,
                by_attributes = static_cast<float>(weights.attributes) / total, by_string = static_cast<float>(weights.string) / total;
    const std::size_t width = others.size();
    const std::unique_ptr<std::uint8_t[]> steps(new std::uint8_t[(left.size() + 3) / 4 * width]);
    std::vector<std::int32_t> above(width, 0), here(width, 0), row(width);
    RecentRows outlines(width), likenesses(width);
    for (std::size_t i = 0; i < left.size(); ++i) {
        const std::uint32_t tag = left[i], place = rows.places[i], name = tags.names[tag];
        Left own{tag, nullptr, others.has_none.data(), by_string};
        if (!(tags.flags[tag] & TagTable::kText)) {
            const std::uint64_t key = std::uint64_t{name} << 32 | attributes.left.places[place];
            own.outlines = outlines.get(key, [&](float* out) { fill_outlines(name, by_name, by_attributes, attributes.row(place), others, out); });
        }
        if (tags.flags[tag] & TagTable::kHasString) {
            own.strings = likenesses.get(strings.left.places[place], [&](float* out) { fill_strings(strings.row(place), others, out); });
        }
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
