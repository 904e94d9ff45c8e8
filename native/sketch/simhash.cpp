#include "sketch/simhash.hpp"

#include <algorithm>

namespace lookalike {
namespace {

struct Sum {
    std::uint64_t carry, bit;
};

Sum full_add(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    const std::uint64_t half = a ^ b;
    return {(a & b) | (half & c), half ^ c};
}

// Adds 2^K words to the lowest K counter levels and returns what is carried into level K.
template <unsigned K>
std::uint64_t add_block(const std::uint64_t* words, std::uint64_t* levels) {
    Sum sum;
    if constexpr (K == 1) {
        sum = full_add(levels[0], words[0], words[1]);
    } else {
        const std::uint64_t first = add_block<K - 1>(words, levels);
        const std::uint64_t second = add_block<K - 1>(words + (1u << (K - 1)), levels);
        sum = full_add(levels[K - 1], first, second);
    }
    levels[K - 1] = sum.bit;
    return sum.carry;
}

}  // namespace

void BitCounter::add(const std::uint64_t* words, std::size_t count) {
    added_ += count;
    std::array<std::uint64_t, 5> levels;  // a copy, so that it can stay in registers
    std::copy_n(levels_.begin(), levels.size(), levels.begin());
    std::size_t i = 0;
    for (; i + 32 <= count; i += 32) carry(add_block<5>(words + i, levels.data()), 5);
    std::copy_n(levels.begin(), levels.size(), levels_.begin());
    for (; i + 4 <= count; i += 4) carry(add_block<2>(words + i, levels_.data()), 2);
    for (; i < count; ++i) carry(words[i], 0);
}

std::uint64_t BitCounter::majority() const {
    // A count is more than half of n exactly if it is more than floor(n / 2): compare all counters with it at once.
    const std::uint64_t half = added_ / 2;
    std::uint64_t greater = 0, equal = ~0ULL;
    for (unsigned level = used(); level-- > 0;) {
        const std::uint64_t bound = half >> level & 1 ? ~0ULL : 0;
        greater |= equal & levels_[level] & ~bound;
        equal &= ~(levels_[level] ^ bound);
    }
    return greater;
}

void SimHasher::add(const std::uint64_t* hashes, std::size_t count) {
    low_.add(hashes, count);
    if (bits_ != 128) return;
    constexpr std::size_t kBatch = 256;
    std::array<std::uint64_t, kBatch> upper;
    for (std::size_t i = 0; i < count; i += kBatch) {
        const std::size_t size = std::min(kBatch, count - i);
        for (std::size_t k = 0; k < size; ++k) upper[k] = mix(hashes[i + k] ^ kUpperHalf);
        high_.add(upper.data(), size);
    }
}

void SimHasher::result(std::uint64_t* out) const {
    out[0] = low_.majority();
    if (bits_ == 32) out[0] &= 0xFFFFFFFFULL;
    if (bits_ == 128) out[1] = high_.majority();
}

void weighted_simhash(std::span<const std::uint64_t> hashes, std::span<const double> weights, unsigned bits, std::uint64_t* out) {
    std::array<double, 128> sums{};
    for (std::size_t i = 0; i < hashes.size(); ++i) {
        const std::array<std::uint64_t, 2> words{hashes[i], mix(hashes[i] ^ kUpperHalf)};
        for (unsigned b = 0; b < bits; ++b) sums[b] += words[b / 64] >> (b % 64) & 1 ? weights[i] : -weights[i];
    }
    for (unsigned w = 0; w < (bits + 63) / 64; ++w) out[w] = 0;
    for (unsigned b = 0; b < bits; ++b) out[b / 64] |= static_cast<std::uint64_t>(sums[b] > 0) << (b % 64);
}

}  // namespace lookalike
