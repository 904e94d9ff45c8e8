#include "tag_alignment.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <unordered_map>

#include "hash.hpp"

namespace lookalike {
namespace {

constexpr float kClasses = 256, kUnits = 32768;

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

// What is known of each tag on the right. The last two are places among the distinct ones.
struct Right {
    std::vector<std::uint32_t> tags, names, attributes, strings;
    std::vector<float> is_tag, has_string;  // 1 or 0
};

// The part of a resemblance that strings make up: nothing where one has none; all, where both have none.
LOOKALIKE_CLONES
void fill_strings(const float* shares, bool has_string, float weight, const Right& right, float* __restrict out) {
    const float* has = right.has_string.data();
    const std::uint32_t* places = right.strings.data();
    const std::size_t count = right.tags.size();
    if (has_string) {
        for (std::size_t j = 0; j < count; ++j) out[j] = weight * has[j] * shares[places[j]];
    } else {
        for (std::size_t j = 0; j < count; ++j) out[j] = weight * (1.0F - has[j]);
    }
}

// Resemblances in units: nothing for those of another kind, all for the tag itself.
LOOKALIKE_CLONES
void fill_row(std::uint32_t tag, const float* attributes, const float* strings, bool is_text, const Right& right, std::int32_t* __restrict out) {
    const std::uint32_t* tags = right.tags.data();
    const float* is_tag = right.is_tag.data();
    const std::size_t count = right.tags.size();
    for (std::size_t j = 0; j < count; ++j) {
        const float found = is_text ? (1.0F - is_tag[j]) * strings[j] : is_tag[j] * (attributes[j] + strings[j]);
        const std::int32_t units = static_cast<std::int32_t>(std::min(found, 1.0F) * kUnits + 0.5F);
        out[j] = tag == tags[j] ? static_cast<std::int32_t>(kUnits) : units;
    }
}

LOOKALIKE_CLONES
void fill_outline(std::uint32_t name, const float* shares, float name_weight, float attribute_weight, const Right& right, float* __restrict out) {
    const std::uint32_t *names = right.names.data(), *places = right.attributes.data();
    const std::size_t count = right.tags.size();
    for (std::size_t j = 0; j < count; ++j) out[j] = (name == names[j] ? name_weight : 0.0F) + attribute_weight * shares[places[j]];
}

// What names and attributes make up: a row for each of the few outlines (a name and attributes) that tags have, with a column a tag on the right.
class Outlines {
   public:
    Outlines(const Right& right, float name_weight, float attribute_weight) : right_(right), name_weight_(name_weight), attribute_weight_(attribute_weight) {}

    const float* of(std::uint32_t name, std::uint32_t attributes, const float* shares) {
        std::vector<float>& row = known_[std::uint64_t{name} << 32 | attributes];
        if (row.empty()) {
            row.resize(right_.tags.size());
            fill_outline(name, shares, name_weight_, attribute_weight_, right_, row.data());
        }
        return row.data();
    }

   private:
    const Right& right_;
    float name_weight_, attribute_weight_;
    std::unordered_map<std::uint64_t, std::vector<float>> known_;
};

enum Step : std::uint8_t { kSkipRight, kSkipLeft, kPair };

// One row of the table of sums: here[j + 1] = max(here[j], above[j + 1], above[j] + row[j]).
LOOKALIKE_CLONES
void advance(const std::int32_t* __restrict above, const std::int32_t* __restrict row, std::size_t count, std::int32_t* __restrict here,
             std::uint8_t* __restrict steps) {
    for (std::size_t j = 0; j < count; ++j) here[j + 1] = std::max(above[j + 1], above[j] + row[j]);
    // The largest so far, in four quarters at a time: one alone would wait for itself at every cell.
    const std::size_t quarter = count / 4;
    std::int32_t *const a = here + 1, *const b = a + quarter, *const c = b + quarter, *const d = c + quarter;
    std::int32_t of_a = 0, of_b = 0, of_c = 0, of_d = 0;
    for (std::size_t j = 0; j < quarter; ++j) {
        a[j] = of_a = std::max(of_a, a[j]);
        b[j] = of_b = std::max(of_b, b[j]);
        c[j] = of_c = std::max(of_c, c[j]);
        d[j] = of_d = std::max(of_d, d[j]);
    }
    of_b = std::max(of_a, of_b);
    of_c = std::max(of_b, of_c);
    of_d = std::max(of_c, of_d);
    for (std::size_t j = 0; j < quarter; ++j) b[j] = std::max(b[j], of_a);
    for (std::size_t j = 0; j < quarter; ++j) c[j] = std::max(c[j], of_b);
    for (std::size_t j = 0; j < quarter; ++j) d[j] = std::max(d[j], of_c);
    for (std::size_t j = 4 * quarter; j < count; ++j) a[j] = of_d = std::max(of_d, a[j]);
    for (std::size_t j = 0; j < count; ++j) {
        steps[j] = static_cast<std::uint8_t>(here[j + 1] == here[j] ? kSkipRight : here[j + 1] == above[j + 1] ? kSkipLeft : kPair);
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
    const std::size_t width = right.size();
    Right others{{right.begin(), right.end()}, {}, {}, {}, {}, {}};
    for (std::size_t j = 0; j < width; ++j) {
        const std::uint32_t tag = right[j], place = columns.places[j];
        others.names.push_back(tags.names[tag]);
        others.attributes.push_back(attributes.right.places[place]);
        others.strings.push_back(strings.right.places[place]);
        others.is_tag.push_back(tags.flags[tag] & TagTable::kText ? 0.0F : 1.0F);
        others.has_string.push_back(tags.flags[tag] & TagTable::kHasString ? 1.0F : 0.0F);
    }
    const float total = static_cast<float>(weights.name + weights.attributes + weights.string);
    Outlines outlines(others, static_cast<float>(weights.name) / total, static_cast<float>(weights.attributes) / total);
    const std::unique_ptr<std::uint8_t[]> steps(new std::uint8_t[left.size() * width]);
    std::vector<std::int32_t> above(width + 1, 0), here(width + 1, 0), row(width);
    std::vector<float> by_strings(width);
    for (std::size_t i = 0; i < left.size(); ++i) {
        const std::uint32_t tag = left[i], place = rows.places[i];
        const bool is_text = (tags.flags[tag] & TagTable::kText) != 0, has_string = (tags.flags[tag] & TagTable::kHasString) != 0;
        fill_strings(strings.row(place), has_string, is_text ? 1.0F : static_cast<float>(weights.string) / total, others, by_strings.data());
        const float* outline = is_text ? nullptr : outlines.of(tags.names[tag], attributes.left.places[place], attributes.row(place));
        fill_row(tag, outline, by_strings.data(), is_text, others, row.data());
        advance(above.data(), row.data(), width, here.data(), steps.get() + i * width);
        std::swap(above, here);
    }
    std::vector<TagPair> pairs;
    for (std::size_t i = left.size(), j = width; i && j;) {
        const std::uint8_t step = steps[(i - 1) * width + j - 1];
        if (step == kPair) pairs.emplace_back(static_cast<std::uint32_t>(i - 1), static_cast<std::uint32_t>(j - 1));
        i -= step != kSkipRight;
        j -= step != kSkipLeft;
    }
    std::reverse(pairs.begin(), pairs.end());
    return pairs;
}

}  // namespace lookalike
