// Text that stands elsewhere in the other text: phrases, sentences with a few changed words, clauses and list items.
//
// What was kept leaves gaps on both sides. Moved are, in this order:
// - phrases: runs of at least four tokens and ten characters;
// - sentences and lines that have at least half of their text in common with one on the other side. What was replaced inside was reworded;
// - clauses and list items that stand whole on both sides, however short they are, and those that are whole on one side and all that
//   was changed on the other;
// - runs of three tokens or more that are a whole clause or item on one side;
// - a few words that are all that was changed at their place, and all that was changed at another place nearby, in any order;
// - the marks, conjunctions and articles next to moved text, if both sides have them.
// Chance agreement of other fragments is no move. Every step looks up hashes and bounds the places it tries: the time stays near linear.
// tests/reference_edits.py is the slow version.
#pragma once

#include <vector>

#include "edits/token_side.hpp"

namespace lookalike {

// Tokens of the left text inside a moved stretch, and those of the right text that replaced them.
struct MovedChange {
    Stretch left, right;
};

// What two texts share: no token is in two of these.
struct SharedTokens {
    std::vector<SharedRun> kept, moved;
    std::vector<MovedChange> changes;  // inside moved text
};

// What was moved, given what was kept. Runs that turn out to stand in their place join the kept ones.
SharedTokens shared_tokens(const TokenSide& a, const TokenSide& b, std::vector<SharedRun> kept);

}  // namespace lookalike
