// How alike two strings of a page are: 1 - insertions and deletions / both lengths, in code points.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace lookalike {

// Compares one pair after the other, re-using its buffers. Not for use by two threads at once.
class StringRatio {
   public:
    // Beyond `max_cells` of the table of edits: the Dice share of 5-grams.
    explicit StringRatio(std::uint64_t max_cells) : max_cells_(max_cells) {}

    double operator()(std::string_view left, std::string_view right);

   private:
    std::size_t common(std::span<const std::uint32_t> left, std::span<const std::uint32_t> right);
    double shared_grams(std::string_view left, std::string_view right) const;

    std::uint64_t max_cells_;
    std::vector<std::uint32_t> left_, right_;    // code points
    std::vector<std::uint32_t> keys_, numbers_;  // the characters of a pattern: an open table of code points and their rows
    std::vector<std::uint64_t> places_;          // a row a character: a bit for each of its places
    std::vector<std::uint64_t> unmatched_;
};

}  // namespace lookalike
