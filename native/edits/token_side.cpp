#include "edits/token_side.hpp"

#include <algorithm>

namespace lookalike {

std::vector<GapPair> gaps(std::span<const SharedRun> runs, const TokenSide& a, const TokenSide& b) {
    std::vector<GapPair> found;
    found.reserve(runs.size() + 1);
    std::uint32_t left = 0, right = 0;
    for (const SharedRun& run : runs) {
        found.push_back({{left, run.left}, {right, run.right}});
        left = left_end(run);
        right = right_end(run);
    }
    found.push_back({{left, a.size()}, {right, b.size()}});
    return found;
}

std::vector<SharedRun> joined(std::vector<SharedRun> runs) {
    std::sort(runs.begin(), runs.end(), precedes);
    std::vector<SharedRun> found;
    for (const SharedRun& run : runs) {
        if (!found.empty() && left_end(found.back()) == run.left && right_end(found.back()) == run.right) {
            found.back().length += run.length;
        } else {
            found.push_back(run);
        }
    }
    return found;
}

}  // namespace lookalike
