// SimHash: bit b of the fingerprint is set if more than half of the features' weight has bit b set.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "base/hash.hpp"

namespace lookalike {

// Counts, for each of 64 bits, how many of the added words have it set. The counters are bit-sliced: word l of
// `levels_` holds bit l of all 64 counters, so adding eight words takes seven full adders of 64 lanes.
class BitCounter {
   public:
    void reset() {
        std::fill_n(levels_.begin(), used(), 0);
        added_ = 0;
    }
    void add(const std::uint64_t* words, std::size_t count);
    std::uint64_t majority() const;  // the bits that are set in more than half of the words

   private:
    // Levels that counts so large can reach; the lowest are always in use.
    unsigned used() const { return std::max(5U, static_cast<unsigned>(std::bit_width(added_))); }
    void carry(std::uint64_t word, unsigned level) {
        for (; word; ++level) {
            const std::uint64_t next = levels_[level] & word;
            levels_[level] ^= word;
            word = next;
        }
    }

    std::array<std::uint64_t, 64> levels_{};
    std::uint64_t added_ = 0;
};

constexpr std::uint64_t kUpperHalf = 0xA0761D6478BD642FULL;  // separates bits 64 to 127 from bits 0 to 63

// 32, 64 or 128 bits from shingle hashes that come in batches.
class SimHasher {
   public:
    explicit SimHasher(unsigned bits) : bits_(bits) {}
    unsigned words() const { return bits_ == 128 ? 2 : 1; }
    void reset() { low_.reset(), high_.reset(); }
    void add(const std::uint64_t* hashes, std::size_t count);
    void result(std::uint64_t* out) const;

   private:
    unsigned bits_;
    BitCounter low_, high_;
};

// The same with real weights. The caller orders the features: sums of doubles depend on it.
void weighted_simhash(std::span<const std::uint64_t> hashes, std::span<const double> weights, unsigned bits, std::uint64_t* out);

}  // namespace lookalike
