// What the tokens of a text are and begin: lines, sentences, clauses, list items.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lookalike {

// Bits of a token; comparison/sides.py has the same numbers.
enum Trait : std::uint8_t { kSentence = 1, kLine = 2, kSeparator = 4, kBehindSeparator = 8, kArticle = 16 };

struct TokenTraits {
    std::vector<std::uint8_t> traits;     // of each token, and one more for the end of the text
    std::vector<std::uint32_t> doubtful;  // tokens next to a character that only a table of letters can judge: nothing is set for these
};

// `starts` and `ends` are the spans of the tokens, in code points and in the order of the text.
TokenTraits token_traits(std::span<const std::uint8_t> utf8, std::span<const std::uint32_t> starts, std::span<const std::uint32_t> ends);

}  // namespace lookalike
