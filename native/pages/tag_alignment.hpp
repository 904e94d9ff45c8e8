// Which tag of one page is which of another: the pairing, in order on both sides, with the largest sum of resemblances.
//
// A resemblance is an estimate: names are equal or not, and of attributes and strings it is known which of 256 classes
// their words and their three-byte parts fall into. So the whole table costs a few nanoseconds a cell. Sums are exact:
// a resemblance is a whole number of 32,768ths.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace lookalike {

inline constexpr std::size_t kMaxAlignmentCells = std::size_t{1} << 24;

struct Signature {
    std::array<std::uint64_t, 4> classes{};
    std::int32_t count = 0;  // of classes
};

struct TagTable {  // the distinct tags of both pages; a text is a tag of its own kind
    static constexpr std::uint8_t kText = 1, kHasString = 2;
    std::vector<std::uint32_t> names;
    std::vector<std::uint8_t> flags;
    std::vector<Signature> attributes, strings;
};

struct TagWeights {
    double name, attributes, string;
};

using TagPair = std::pair<std::uint32_t, std::uint32_t>;

void sign(Signature& signature, std::uint64_t hash);  // adds the class of one part
Signature sign_string(std::span<const std::uint8_t> text);
Signature sign_words(std::span<const std::uint8_t> lines);  // one word a line

// Pairs (left, right) of positions, ascending on both sides. left and right name rows of the table.
std::vector<TagPair> align_tags(std::span<const std::uint32_t> left, std::span<const std::uint32_t> right, const TagTable& tags, const TagWeights& weights);

}  // namespace lookalike
