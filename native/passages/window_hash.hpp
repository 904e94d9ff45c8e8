// Hashes of windows of units that roll along: each costs the same, whatever the length of the window.
//
// Units are secret hashes already (base/secret.hpp). A window's hash is a polynomial of them, modulo the prime 2^61 - 1, at a secret place, so that
// nobody can write two windows that collide; and by chance two of a billion windows do with a probability of a fifth. Whoever must be surer
// compares the units.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/secret.hpp"

namespace lookalike {

constexpr std::uint64_t kPrime61 = (1ULL << 61) - 1;

inline std::uint64_t reduced61(std::uint64_t x) {
    x = (x & kPrime61) + (x >> 61);
    return x >= kPrime61 ? x - kPrime61 : x;
}

inline std::uint64_t product61(std::uint64_t a, std::uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return reduced61((static_cast<std::uint64_t>(product) & kPrime61) + static_cast<std::uint64_t>(product >> 61));
}

// The polynomial of a window of `length` units.
class WindowHash {
   public:
    WindowHash(const Secret& secret, std::size_t length) : length_(length), base_(reduced61(secret.longs[0] >> 3) | 2) {
        std::uint64_t square = base_;
        for (std::size_t rest = length; rest > 0; rest >>= 1) {
            if (rest & 1) leaving_ = product61(leaving_, square);
            square = product61(square, square);
        }
        leaving_ = kPrime61 - leaving_;  // what leaves is added with the opposite sign
    }

    std::uint64_t first(const std::uint64_t* units) const {
        std::uint64_t hash = 0;
        for (std::size_t i = 0; i < length_; ++i) hash = reduced61(product61(hash, base_) + reduced61(units[i]));
        return hash;
    }
    // Of the window one further on: `units` begins with the unit that leaves.
    std::uint64_t next(std::uint64_t hash, const std::uint64_t* units) const {
        const std::uint64_t without = product61(hash, base_) + product61(reduced61(units[0]), leaving_);
        return reduced61(without + reduced61(units[length_]));
    }

   private:
    std::size_t length_;
    std::uint64_t base_, leaving_ = 1;
};

// The XOR of the units of a window, each turned by its distance from the end: quicker to have, and weaker, because units 64 apart are turned alike.
class TurnedHash {
   public:
    explicit TurnedHash(std::size_t length) : length_(length), leaving_(static_cast<int>(length % 64)) {}

    std::uint64_t first(const std::uint64_t* units) const {
        std::uint64_t hash = 0;
        for (std::size_t i = 0; i < length_; ++i) hash = std::rotl(hash, 1) ^ units[i];
        return hash;
    }
    std::uint64_t next(std::uint64_t hash, const std::uint64_t* units) const { return std::rotl(hash, 1) ^ std::rotl(units[0], leaving_) ^ units[length_]; }

   private:
    std::size_t length_;
    int leaving_;
};

}  // namespace lookalike
