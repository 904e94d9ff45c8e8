// What became of a token sequence: which runs stand in both texts in the same order, and which were moved.
#pragma once

#include <span>
#include <vector>

#include "sketch/winnow.hpp"

namespace lookalike {

// Equal runs in the same order on both sides. Anchors first: runs of tokens that both sides have once, the longest
// first; what lies between two anchors is aligned the same way, and exactly (a longest common subsequence) once it is
// small. Time and memory stay near linear; a large stretch in which nothing is unique counts as replaced. `sizes` has the
// characters of each left token, or nothing: where equally many tokens could be kept, those with more characters are.
std::vector<SharedRun> align(std::span<const std::uint64_t> left, std::span<const std::uint64_t> right, std::span<const std::uint32_t> sizes = {});

// Equal runs of at least `shortest` tokens among what `kept` leaves over on both sides, in any order. No token is in two
// runs.
std::vector<SharedRun> moved_runs(std::span<const std::uint64_t> left, std::span<const std::uint64_t> right, std::span<const SharedRun> kept,
                                  unsigned shortest);

}  // namespace lookalike
