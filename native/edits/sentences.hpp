// Sentences of two texts that have much in common, wherever they stand.
#pragma once

#include <vector>

#include "edits/token_side.hpp"

namespace lookalike {

struct SentencePair {
    std::uint64_t common;  // characters
    Stretch left, right;
    std::vector<SharedRun> runs;  // that the two share, counted from their starts
};

// `places` say of every token where it stands in the other text; below 0: nowhere that is known.

// Sentences and lines, or what was not kept of them, of which not everything was moved as it is.
std::vector<Stretch> unmoved_sentences(const TokenSide& side, const std::vector<Stretch>& gaps, const std::vector<std::int64_t>& places);

// Pairs with enough in common. `places` are those of the left side.
std::vector<SentencePair> similar_sentences(const TokenSide& a, const TokenSide& b, const std::vector<Stretch>& lefts, const std::vector<Stretch>& rights,
                                            const std::vector<SharedRun>& kept, const std::vector<std::int64_t>& places);

}  // namespace lookalike
