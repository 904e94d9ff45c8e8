#include "tag_alignment.hpp"

#include <algorithm>
#include <bit>

#include "hash.hpp"

namespace lookalike {
namespace {

constexpr double kClasses = 256;

void set_class(Signature& signature, std::uint64_t hash) {
    const unsigned place = static_cast<unsigned>(mix(hash) >> 56);
    signature[place >> 6] |= std::uint64_t{1} << (place & 63);
}

// Inlined into each of the versions below, so that it counts bits as the processor can.
[[gnu::always_inline]] inline double share(const Signature& a, const Signature& b) {
    int common = 0, in_a = 0, in_b = 0;
    for (std::size_t word = 0; word < a.size(); ++word) {
        common += std::popcount(a[word] & b[word]);
        in_a += std::popcount(a[word]);
        in_b += std::popcount(b[word]);
    }
    if (in_a == 0 && in_b == 0) return 1.0;
    const double chance = in_a * in_b / kClasses, mean = (in_a + in_b) / 2.0;
    return common <= chance || mean <= chance ? 0.0 : std::min(1.0, (common - chance) / (mean - chance));
}

[[gnu::always_inline]] inline double resemblance(const TagTable& tags, std::uint32_t a, std::uint32_t b, const TagWeights& weights) {
    if (a == b) return 1.0;
    if ((tags.flags[a] ^ tags.flags[b]) & TagTable::kText) return 0.0;
    const bool strings_differ_in_kind = ((tags.flags[a] ^ tags.flags[b]) & TagTable::kHasString) != 0;
    const double strings = strings_differ_in_kind ? 0.0 : share(tags.strings[a], tags.strings[b]);
    if (tags.flags[a] & TagTable::kText) return strings;
    const double same_name = tags.names[a] == tags.names[b] ? 1.0 : 0.0;
    const double attributes = share(tags.attributes[a], tags.attributes[b]);
    return (weights.name * same_name + weights.attributes * attributes + weights.string * strings) /
           (weights.name + weights.attributes + weights.string);
}

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

LOOKALIKE_CLONES
void fill_resemblances(const Used& left, const Used& right, const TagTable& tags, const TagWeights& weights, std::vector<float>& out) {
    out.resize(left.rows.size() * right.rows.size());
    std::size_t cell = 0;
    for (const std::uint32_t a : left.rows) {
        for (const std::uint32_t b : right.rows) out[cell++] = static_cast<float>(resemblance(tags, a, b, weights));
    }
}

}  // namespace

Signature sign_string(std::span<const std::uint8_t> text) {
    Signature signature{};
    // The window begins and ends beyond the text, so that first and last letters count as such.
    std::uint64_t window = 0;
    for (const std::uint8_t byte : text) {
        window = (window << 8 | byte) & 0xFFFFFF;
        set_class(signature, window + 1);
    }
    if (!text.empty()) set_class(signature, ((window << 8) & 0xFFFFFF) + 1);
    return signature;
}

Signature sign_words(std::span<const std::uint8_t> lines) {
    Signature signature{};
    std::size_t start = 0;
    for (std::size_t i = 0; i <= lines.size(); ++i) {
        if (i < lines.size() && lines[i] != '\n') continue;
        if (i > start) set_class(signature, token_hash(lines.data() + start, i - start));
        start = i + 1;
    }
    return signature;
}

double shared_classes(const Signature& a, const Signature& b) { return share(a, b); }

std::vector<std::pair<std::uint32_t, std::uint32_t>> align_tags(std::span<const std::uint32_t> left, std::span<const std::uint32_t> right,
                                                                const TagTable& tags, const TagWeights& weights) {
    const Used rows(left, tags.names.size()), columns(right, tags.names.size());
    std::vector<float> resemblances;
    fill_resemblances(rows, columns, tags, weights, resemblances);
    enum Step : std::uint8_t { kSkipRight, kSkipLeft, kPair };
    std::vector<std::uint8_t> steps(left.size() * right.size());
    std::vector<double> above(right.size() + 1, 0.0), here(right.size() + 1, 0.0);
    for (std::size_t i = 0; i < left.size(); ++i) {
        const float* row = resemblances.data() + std::size_t{rows.places[i]} * columns.rows.size();
        std::uint8_t* step = steps.data() + i * right.size();
        for (std::size_t j = 0; j < right.size(); ++j) {
            const double paired = above[j] + row[columns.places[j]];
            double best = here[j];
            std::uint8_t chosen = kSkipRight;
            if (above[j + 1] > best) best = above[j + 1], chosen = kSkipLeft;
            if (paired > best) best = paired, chosen = kPair;
            here[j + 1] = best;
            step[j] = chosen;
        }
        std::swap(above, here);
    }
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (std::size_t i = left.size(), j = right.size(); i && j;) {
        const std::uint8_t step = steps[(i - 1) * right.size() + j - 1];
        if (step == kPair) pairs.emplace_back(static_cast<std::uint32_t>(i - 1), static_cast<std::uint32_t>(j - 1));
        i -= step != kSkipRight;
        j -= step != kSkipLeft;
    }
    std::reverse(pairs.begin(), pairs.end());
    return pairs;
}

}  // namespace lookalike
