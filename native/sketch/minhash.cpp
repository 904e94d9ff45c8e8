#include "sketch/minhash.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/portable_log.hpp"

namespace lookalike {
namespace {

std::size_t bin_of(std::uint64_t hash, std::size_t size) { return static_cast<std::size_t>((hash >> 32) * size >> 32); }

LOOKALIKE_CLONES
bool any_empty(const std::uint32_t* bins, std::size_t size) {
    std::uint32_t any = 0;
    for (std::size_t i = 0; i < size; ++i) any |= bins[i] == kEmptyBin;
    return any != 0;
}

LOOKALIKE_CLONES
void mix_all(const std::uint64_t* features, std::size_t count, std::uint64_t offset, std::uint64_t* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = mix(features[i] + offset);
}

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
    constexpr std::size_t kBatch = 256;
    std::uint64_t hashes[kBatch];
    for (std::size_t round = 1; round < 2 * size_ && !full(); ++round) {
        const std::uint32_t base = 0x80000000U | static_cast<std::uint32_t>(round) << value_bits_;
        for (std::size_t first = 0; first < features_.size(); first += kBatch) {
            const std::size_t count = std::min(kBatch, features_.size() - first);
            mix_all(features_.data() + first, count, round * kGolden, hashes);
            for (std::size_t i = 0; i < count; ++i) {
                std::uint32_t& bin = bins_[round < size_ ? bin_of(hashes[i], size_) : round - size_];
                // A bin that an earlier round has filled keeps its value: those of this round are all larger.
                if (bin >= base) bin = std::min(bin, base | static_cast<std::uint32_t>(hashes[i]) >> (32 - value_bits_));
            }
        }
    }
}

namespace {

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
