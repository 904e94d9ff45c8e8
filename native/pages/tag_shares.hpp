// How much the attributes, or the strings, of every tag of one page have in common with those of every tag of another.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "pages/tag_alignment.hpp"

namespace lookalike {

// Distinct signatures, and which of them each tag has.
struct Signatures {
    std::vector<Signature> distinct;
    std::array<std::vector<std::uint64_t>, 4> words;  // their classes, 64 at a time
    std::vector<float> counts;
    std::vector<std::uint32_t> places;

    Signatures(const std::vector<std::uint32_t>& rows, const std::vector<Signature>& all);
};

// A share is 0 to 1: of classes in common, beyond what chance has two such signatures share.
class Shares {
   public:
    Signatures left, right;

    Shares(const std::vector<Signature>& all, const std::vector<std::uint32_t>& left_rows, const std::vector<std::uint32_t>& right_rows);
    // With each distinct signature on the right; until the next call. A table of all would cost more to keep than to make.
    const float* row(std::size_t place);

   private:
    std::vector<std::uint32_t> common_;
    std::vector<float> row_;
};

}  // namespace lookalike
