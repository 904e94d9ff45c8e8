#include "sketch/minhash.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/dispatch.hpp"

namespace lookalike {
namespace {

std::size_t bin_of(std::uint64_t hash, std::size_t size) { return static_cast<std::size_t>((hash >> 32) * size >> 32); }

LOOKALIKE_INLINED bool any_empty_here(const std::uint32_t* bins, std::size_t size) {
    std::uint32_t any = 0;
    for (std::size_t i = 0; i < size; ++i) any |= bins[i] == kEmptyBin;
    return any != 0;
}

bool any_empty(const std::uint32_t* bins, std::size_t size) { return widest<any_empty_here>(bins, size); }

constexpr std::size_t kAtATime = 64;

// Throws that have a prefix each. Places and values are computed in lanes. What is too many changes nothing: a value of a later round is larger.
LOOKALIKE_INLINED void throw_all_here(const std::uint64_t* throws, const std::uint32_t* prefixes, std::size_t count, std::uint64_t offset, std::uint32_t prefix,
                                      unsigned shift, std::uint64_t size, std::uint32_t* bins) {
    std::uint32_t places[kAtATime], values[kAtATime];
    for (std::size_t first = 0; first < count; first += kAtATime) {
        const std::size_t here = std::min(kAtATime, count - first);
        for (std::size_t i = 0; i < here; ++i) {
            const std::uint64_t hash = mix(throws[first + i] + offset);
            places[i] = static_cast<std::uint32_t>((hash >> 32) * size >> 32);
            values[i] = (prefix + prefixes[first + i]) | static_cast<std::uint32_t>(hash) >> shift;
        }
        for (std::size_t i = 0; i < here; ++i) bins[places[i]] = std::min(bins[places[i]], values[i]);
    }
}

void throw_all(const std::uint64_t* throws, const std::uint32_t* prefixes, std::size_t count, std::uint64_t offset, std::uint32_t prefix, unsigned shift,
               std::uint64_t size, std::uint32_t* bins) {
    widest<throw_all_here>(throws, prefixes, count, offset, prefix, shift, size, bins);
}

LOOKALIKE_INLINED std::uint32_t smallest_here(const std::uint64_t* features, std::size_t count, std::uint64_t offset) {
    std::uint32_t smallest = 0xFFFFFFFFU;
    for (std::size_t i = 0; i < count; ++i) smallest = std::min(smallest, static_cast<std::uint32_t>(mix(features[i] + offset)));
    return smallest;
}

std::uint32_t smallest(const std::uint64_t* features, std::size_t count, std::uint64_t offset) { return widest<smallest_here>(features, count, offset); }

}  // namespace

MinHasher::MinHasher(std::size_t size)
    // The highest bit tells round 0 from the others; the rest is the round, then the value.
    : size_(size), value_bits_(31 - static_cast<unsigned>(std::bit_width(2 * size - 1))) {}

void MinHasher::start(std::uint32_t* bins) {
    bins_ = bins;
    std::fill(bins_, bins_ + size_, kEmptyBin);
    full_ = false;
    features_.clear();
    compact_at_ = std::max<std::size_t>(4096, 8 * size_);
}

void MinHasher::add(const std::uint64_t* hashes, std::size_t count) {
    if (!full_) {
        features_.insert(features_.end(), hashes, hashes + count);
        if (features_.size() >= compact_at_) compact();
    }
    for (std::size_t i = 0; i < count; ++i) {
        std::uint32_t& bin = bins_[bin_of(hashes[i], size_)];
        bin = std::min(bin, static_cast<std::uint32_t>(hashes[i]) >> 1);
    }
    if (!full_ && full()) {
        full_ = true;
        features_.clear();
    }
}

bool MinHasher::full() const { return !any_empty(bins_, size_); }

void MinHasher::compact() {
    std::sort(features_.begin(), features_.end());
    features_.erase(std::unique(features_.begin(), features_.end()), features_.end());
    compact_at_ = std::max(compact_at_, 2 * features_.size());
}

void MinHasher::finish() {
    if (full_ || features_.empty()) return;
    throw_again();
    if (!full()) fill_one_by_one();
}

// Rounds 1 to size - 1. About size * log size throws are needed, whatever the set: a small one throws many rounds before anybody looks for empty bins.
void MinHasher::throw_again() {
    constexpr std::size_t kAtLeast = 128;
    const std::size_t count = features_.size(), rounds = std::min((kAtLeast + count - 1) / count, std::max<std::size_t>(size_ - 1, 1));
    throws_.resize(rounds * count);
    prefixes_.resize(rounds * count);
    for (std::size_t round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < count; ++i) throws_[round * count + i] = features_[i] + round * kGolden;
        std::fill_n(prefixes_.begin() + static_cast<std::ptrdiff_t>(round * count), count, static_cast<std::uint32_t>(round) << value_bits_);
    }
    for (std::size_t round = 1; round < size_ && !full(); round += rounds) {
        const std::uint32_t prefix = 0x80000000U + (static_cast<std::uint32_t>(round) << value_bits_);
        throw_all(throws_.data(), prefixes_.data(), std::min(rounds, size_ - round) * count, round * kGolden, prefix, 32 - value_bits_, size_, bins_);
    }
}

// Rounds from size on fill one bin each: a bin that has a value keeps it.
void MinHasher::fill_one_by_one() {
    for (std::size_t bin = 0; bin < size_; ++bin) {
        if (bins_[bin] != kEmptyBin) continue;
        const std::size_t round = size_ + bin;
        const std::uint32_t prefix = 0x80000000U | static_cast<std::uint32_t>(round) << value_bits_;
        bins_[bin] = prefix | smallest(features_.data(), features_.size(), round * kGolden) >> (32 - value_bits_);
    }
}

namespace {

// The natural logarithm by sums and products alone: the C library's differs between platforms in the last bit, and a
// sketch must not. ln(m * 2^e) = e ln 2 + 2 artanh((m - 1) / (m + 1)) with m in [1/sqrt 2, sqrt 2).
double portable_log(double x) {
    int exponent;
    double mantissa = std::frexp(x, &exponent);  // exact
    if (mantissa < 0.70710678118654752440) {
        mantissa *= 2;
        --exponent;
    }
    const double z = (mantissa - 1) / (mantissa + 1), square = z * z;
    double series = 0;
    for (int k = 23; k >= 1; k -= 2) series = series * square + 1.0 / k;
    return exponent * 0.69314718055994530942 + 2 * z * series;
}

double uniform(std::uint64_t bits) { return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52; }  // in (0, 1)

}  // namespace

void weighted_minhash(std::span<const std::uint64_t> hashes, std::span<const double> weights, std::size_t size, std::uint64_t seed, std::uint32_t* out) {
    std::vector<double> logs(weights.size());
    std::transform(weights.begin(), weights.end(), logs.begin(), portable_log);
    for (std::size_t i = 0; i < size; ++i) {
        double best = 0;
        std::uint64_t best_feature = 0;
        std::int64_t best_level = 0;
        for (std::size_t k = 0; k < hashes.size(); ++k) {
            // Five uniform numbers a feature and value: two for each gamma variate, one for the offset.
            std::uint64_t state = mix(hashes[k] ^ mix(seed + (i + 1) * kGolden));
            double u[5];
            for (double& number : u) number = uniform(mix(state += kGolden));
            const double r = -portable_log(u[0]) - portable_log(u[1]);
            const double c = -portable_log(u[2]) - portable_log(u[3]);
            const double level = std::floor(logs[k] / r + u[4]);
            // ln a = ln c - ln y - r with ln y = r * (level - beta): the order of ln a is the order of a.
            const double rank = portable_log(c) - r * (level - u[4]) - r;
            if (k == 0 || rank < best || (rank == best && hashes[k] < best_feature)) {
                best = rank;
                best_feature = hashes[k];
                best_level = static_cast<std::int64_t>(level);
            }
        }
        out[i] = hashes.empty() ? kEmptyBin : static_cast<std::uint32_t>(mix(best_feature ^ mix(static_cast<std::uint64_t>(best_level) + kGolden)) >> 32);
    }
}

}  // namespace lookalike
