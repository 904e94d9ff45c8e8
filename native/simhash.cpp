#include "simhash.hpp"

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

}  // namespace

void BitCounter::add(const std::uint64_t* words, std::size_t count) {
    added_ += count;
    std::uint64_t ones = levels_[0], twos = levels_[1], fours = levels_[2];
    std::size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const Sum a = full_add(ones, words[i], words[i + 1]);
        const Sum b = full_add(a.bit, words[i + 2], words[i + 3]);
        const Sum c = full_add(b.bit, words[i + 4], words[i + 5]);
        const Sum d = full_add(c.bit, words[i + 6], words[i + 7]);
        const Sum e = full_add(twos, a.carry, b.carry);
        const Sum f = full_add(e.bit, c.carry, d.carry);
        const Sum g = full_add(fours, e.carry, f.carry);
        ones = d.bit;
        twos = f.bit;
        fours = g.bit;
        carry(g.carry, 3);
    }
    levels_[0] = ones;
    levels_[1] = twos;
    levels_[2] = fours;
    for (; i < count; ++i) carry(words[i], 0);
}

std::uint64_t BitCounter::majority() const {
    // A count is more than half of n exactly if it is more than floor(n / 2): compare all counters with it at once.
    const std::uint64_t half = added_ / 2;
    std::uint64_t greater = 0, equal = ~0ULL;
    for (unsigned level = 64; level-- > 0;) {
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
