// The hashes of tokens, nearly all of which have at most eight bytes: they are hashed as if all had, many at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "text/unicode.hpp"

namespace lookalike {

// The numbers of tokens with more than eight bytes.
struct LongTokens {
    std::uint32_t numbers[TokenEdges::kRoom + 8];  // what is written ahead
    std::size_t count = 0;
};

// out[i] = the hash of the token bytes[begins[i]] … bytes[ends[i] - 1] if it has at most eight bytes; others are listed, and their hashes are anything.
// There are at most TokenEdges::kRoom tokens, none of them empty, and eight readable bytes lie beyond the last one.
void hash_short_tokens(const std::uint8_t* bytes, const std::size_t* begins, const std::size_t* ends, std::size_t count, std::uint64_t* out, LongTokens& longs);

}  // namespace lookalike
