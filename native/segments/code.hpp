// Fingerprints as segments hold them.
#pragma once

#include <bit>
#include <compare>
#include <span>
#include <vector>

#include "base/platform.hpp"

namespace lookalike {

// A fingerprint of up to 128 bits, left-aligned: bit 0 of a block counts from the top.
struct Code {
    std::uint64_t high, low;
    bool operator==(const Code&) const = default;
    auto operator<=>(const Code&) const = default;
};

inline unsigned distance(const Code& a, const Code& b) { return static_cast<unsigned>(std::popcount(a.high ^ b.high) + std::popcount(a.low ^ b.low)); }

// Code number i of fingerprints as words: one each, or for 128 bits two, the low half first; and back.
inline Code code_at(std::span<const std::uint64_t> words, std::size_t i, unsigned bits) {
    if (bits == 128) return {words[2 * i + 1], words[2 * i]};
    return {bits == 32 ? words[i] << 32 : words[i], 0};
}

inline void push_words(const Code& code, unsigned bits, std::vector<std::uint64_t>& words) {
    if (bits == 128) words.push_back(code.low);
    words.push_back(bits == 32 ? code.high >> 32 : code.high);
}

// `count` bits (up to 32) from bit `start` on, counted from the top, going on at the top after the last bit.
inline std::uint32_t bits_at(const Code& code, unsigned start, unsigned count, unsigned bits) {
    if (bits <= 64) {
        const std::uint64_t word = bits == 64 ? code.high : code.high | code.high >> 32;
        return static_cast<std::uint32_t>(std::rotl(word, static_cast<int>(start % 64)) >> (64 - count));
    }
    start %= 128;
    const std::uint64_t first = start < 64 ? code.high : code.low, second = start < 64 ? code.low : code.high;
    const unsigned shift = start % 64;
    const std::uint64_t window = shift == 0 ? first : first << shift | second >> (64 - shift);
    return static_cast<std::uint32_t>(window >> (64 - count));
}

}  // namespace lookalike
