// The 64-bit hash of recipe version 1. docs/format.md defines it to the bit; nothing here may change.
#pragma once

#include "base/platform.hpp"

namespace lookalike {

constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15ULL;
constexpr std::uint64_t kBlockMultiplier = 0xD6E8FEB86659FD93ULL;
constexpr std::uint64_t kTokenMultiplier = 0xC2B2AE3D27D4EB4FULL;
constexpr unsigned kShingleRotation = 13;  // odd, so the positions of up to 64 tokens rotate differently

// A bijection of 64-bit words in which every input bit reaches every output bit; mix(0) = 0.
constexpr std::uint64_t mix(std::uint64_t x) {
    x ^= x >> 30;
    x *= 0xBF58476D1CE4E5B9ULL;
    x ^= x >> 27;
    x *= 0x94D049BB133111EBULL;
    x ^= x >> 31;
    return x;
}

// What a hashed byte string is: strings and byte strings of the same bytes are the same element, integers are not.
enum class Tag : std::uint64_t { text = 0, integer = 0x5851F42D4C957F2DULL };

constexpr std::uint64_t absorb(std::uint64_t state, std::uint64_t word) {
    state = (state ^ word) * kBlockMultiplier;
    return state ^ (state >> 32);
}

constexpr std::uint64_t finish(std::uint64_t state) {
    state *= kTokenMultiplier;
    return state ^ (state >> 29);
}

// The hash of a token: its normal form in UTF-8, as 8-byte words, the last one padded with zeros.
// Eight readable bytes must lie beyond the end.
inline std::uint64_t token_hash_padded(const std::uint8_t* p, std::size_t size, Tag tag = Tag::text) {
    std::uint64_t state = (size * kGolden) ^ static_cast<std::uint64_t>(tag);
    while (size > 8) {
        state = absorb(state, load64(p));
        p += 8;
        size -= 8;
    }
    const std::uint64_t last = size == 0 ? 0 : load64(p) & (~0ULL >> (64 - 8 * size));
    return finish(absorb(state, last));
}

// The same for a token of three bytes, such as an ideograph; a fourth byte must be readable.
inline std::uint64_t token_hash_of_three(const std::uint8_t* p) {
    std::uint32_t word;
    std::memcpy(&word, p, sizeof word);
    return finish(absorb(3 * kGolden, word & 0xFFFFFF));
}

// The same where nothing is known about what lies beyond the end.
inline std::uint64_t token_hash(const std::uint8_t* p, std::size_t size, Tag tag = Tag::text) {
    std::uint64_t state = (size * kGolden) ^ static_cast<std::uint64_t>(tag);
    while (size > 8) {
        state = absorb(state, load64(p));
        p += 8;
        size -= 8;
    }
    std::uint64_t last = 0;
    if (size) std::memcpy(&last, p, size);  // an empty text may lie nowhere
    return finish(absorb(state, last));
}

}  // namespace lookalike
