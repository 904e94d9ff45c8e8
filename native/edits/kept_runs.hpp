// Runs of tokens that stand in both texts in the same order: what was kept.
//
// An alignment leaves choices open, and these are made here so that a reader finds them natural: a gap slides to where a line or a
// sentence begins; a kept fragment that is less than half of the changes on both sides of it is chance and counts as changed; and no bits
// are kept of a line, sentence or clause that stands whole elsewhere. tests/reference_edits.py is the slow version.
#pragma once

#include <vector>

#include "edits/token_side.hpp"

namespace lookalike {

std::vector<SharedRun> kept_runs(const TokenSide& a, const TokenSide& b);

}  // namespace lookalike
