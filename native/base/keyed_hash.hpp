// The token hash of keyed collections: what a token or a shingle hashes to is known to nobody without the key. docs/format.md defines it.
//
// Tokens are hashed with SipHash-1-3 (Aumasson, Bernstein 2012), which was made for this: without the key nobody can tell which strings
// collide, and a collision of version 1's hash is none here. A shingle is put together as in version 1, and its hash is turned by further
// words of the key: whoever sees hashes of shingles cannot take them apart into those of tokens.
#pragma once

#include <array>
#include <span>

#include "base/platform.hpp"

namespace lookalike {

struct HashKey {
    static constexpr std::size_t kWords = 7;
    std::array<std::uint64_t, 2> tokens, integers;
    std::array<std::uint64_t, 3> shingles;

    static constexpr HashKey of(std::span<const std::uint64_t, kWords> words) {
        return {{words[0], words[1]}, {words[2], words[3]}, {words[4], words[5], words[6]}};
    }
};

// SipHash-1-3 of a string; nothing need be readable beyond its end.
std::uint64_t siphash(const std::array<std::uint64_t, 2>& key, const std::uint8_t* p, std::size_t size);

// out[i] = siphash of bytes[begins[i]] … bytes[ends[i] - 1]; eight readable bytes must lie beyond the last one.
void keyed_tokens(const HashKey& key, const std::uint8_t* bytes, const std::size_t* begins, const std::size_t* ends, std::size_t count, std::uint64_t* out);
// The same of tokens of one or three bytes that lie side by side; a fourth byte must be readable.
void keyed_tokens(const HashKey& key, const std::uint8_t* first, unsigned width, std::size_t count, std::uint64_t* out);

// The last step of shingles: shingles[k] = mix(shingles[k] ^ key.shingles[1]) ^ key.shingles[2].
void finish_keyed_shingles(const HashKey& key, std::uint64_t* shingles, std::size_t count);

}  // namespace lookalike
