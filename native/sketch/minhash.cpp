#include "sketch/minhash.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/portable_log.hpp"
#include "sketch/empty_bins.hpp"
#include "sketch/wide_throws.hpp"

namespace lookalike {
namespace {

constexpr std::size_t kAtATime = 64;

// Round 0. Places and values are computed in lanes.
LOOKALIKE_INLINED void throw_first_here(const std::uint64_t* hashes, std::size_t count, std::uint64_t size, std::uint32_t* bins) {
    std::uint32_t places[kAtATime], values[kAtATime];
    for (std::size_t first = 0; first < count; first += kAtATime) {
        const std::size_t here = std::min(kAtATime, count - first);
        for (std::size_t i = 0; i < here; ++i) {
            places[i] = static_cast<std::uint32_t>((hashes[first + i] >> 32) * size >> 32);
            values[i] = static_cast<std::uint32_t>(hashes[first + i]) >> 1;
        }
        for (std::size_t i = 0; i < here; ++i) keep_smaller(bins[places[i]], values[i]);
    }
}

void throw_first(const std::uint64_t* hashes, std::size_t count, std::uint64_t size, std::uint32_t* bins) {
    widest<throw_first_here>(hashes, count, size, bins);
}

// Throws of later rounds, with a prefix each. What is too many changes nothing: a value of a later round is larger.
LOOKALIKE_INLINED void throw_all_here(const Throws& given, std::uint32_t* bins, std::uint64_t size) {
    const Throws throws = given;  // a copy that nothing else writes to
    std::uint32_t places[kAtATime], values[kAtATime];
    for (std::size_t first = 0; first < throws.count; first += kAtATime) {
        const std::size_t here = std::min(kAtATime, throws.count - first);
        for (std::size_t i = 0; i < here; ++i) {
            const std::uint64_t hash = mix(throws.features[first + i] + throws.offset);
            places[i] = static_cast<std::uint32_t>((hash >> 32) * size >> 32);
            values[i] = static_cast<std::uint32_t>(throws.prefix + throws.prefixes[first + i]) | static_cast<std::uint32_t>(hash) >> throws.shift;
        }
        for (std::size_t i = 0; i < here; ++i) keep_smaller(bins[places[i]], values[i]);
    }
}

void throw_all(const Throws& throws, std::uint32_t* bins, std::uint64_t size) { widest<throw_all_here>(throws, bins, size); }

LOOKALIKE_INLINED std::uint32_t smallest_here(const std::uint64_t* features, std::size_t count, std::uint64_t offset) {
    std::uint32_t smallest = 0xFFFFFFFFU;
    for (std::size_t i = 0; i < count; ++i) smallest = std::min(smallest, static_cast<std::uint32_t>(mix(features[i] + offset)));
    return smallest;
}

std::uint32_t smallest(const std::uint64_t* features, std::size_t count, std::uint64_t offset) { return widest<smallest_here>(features, count, offset); }

// Neither lies in the other: then lanes need no check of that.
LOOKALIKE_INLINED void add_to_each(const std::uint64_t* __restrict from, std::size_t count, std::uint64_t more, std::uint64_t* __restrict to) {
    for (std::size_t i = 0; i < count; ++i) to[i] = from[i] + more;
}

// The features once per round, moved on by as many rounds, and the number of the round in steps of `step`. What is there is copied again and again, twice as
// much each time: loops over a handful of features would be too short for lanes.
LOOKALIKE_INLINED void move_on_here(const std::uint64_t* features, std::size_t count, std::size_t rounds, std::uint32_t step, std::uint64_t* throws,
                                    std::uint64_t* prefixes) {
    for (std::size_t i = 0; i < count; ++i) throws[i] = features[i];
    for (std::size_t i = 0; i < count; ++i) prefixes[i] = 0;
    for (std::size_t done = 1; done < rounds; done *= 2) {
        const std::size_t first = done * count, more = std::min(done, rounds - done) * count;
        add_to_each(throws, more, done * kGolden, throws + first);
        add_to_each(prefixes, more, done * step, prefixes + first);
    }
}

void move_on(const std::uint64_t* features, std::size_t count, std::size_t rounds, std::uint32_t step, std::uint64_t* throws, std::uint64_t* prefixes) {
    widest<move_on_here>(features, count, rounds, step, throws, prefixes);
}

// Enough for some 64 throws, and so that they leave few lanes of a whole step empty.
std::size_t rounds_at_a_time(std::size_t count) {
    constexpr std::size_t kAtLeast = 96, kAtMost = 128;
    std::size_t best = (kAtLeast + count - 1) / count;
    const auto idle = [&](std::size_t rounds) { return (0 - rounds * count) % kThrowsBeyond; };
    for (std::size_t rounds = best + 1; rounds * count <= kAtMost; ++rounds) {
        if (idle(rounds) < idle(best)) best = rounds;
    }
    return best;
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
    // In pieces: most sets have filled all bins long before their end, many with their first piece, and then nothing has to be kept.
    constexpr std::size_t kPiece = 1024;
    for (std::size_t first = 0; first < count; first += kPiece) {
        const std::size_t here = std::min(kPiece, count - first);
        throw_first(hashes + first, here, size_, bins_);
        if (full_) continue;
        full_ = features_.size() + here >= size_ && full();  // fewer features cannot fill all bins
        if (full_) {
            features_.clear();
        } else {
            features_.insert(features_.end(), hashes + first, hashes + first + here);
            if (features_.size() >= compact_at_) compact();
        }
    }
}

bool MinHasher::full() const { return count_empty(bins_, size_) == 0; }

void MinHasher::compact() {
    std::sort(features_.begin(), features_.end());
    features_.erase(std::unique(features_.begin(), features_.end()), features_.end());
    compact_at_ = std::max(compact_at_, 2 * features_.size());
}

void MinHasher::finish() {
    if (full_ || features_.empty()) return;
    if (!throw_again()) fill_one_by_one();
}

// Rounds 1 to size - 1; returns whether they filled all bins. About size * log size throws are needed, whatever the set: a small one throws many rounds
// before anybody looks for empty bins.
bool MinHasher::throw_again() {
    const std::size_t count = features_.size();
    if (knows_wide_throws(size_)) {
        features_.resize(count + kFeaturesAtATime - 1, features_[0]);
        const bool filled = throw_wide(features_.data(), count, bins_, size_, value_bits_);
        features_.resize(count);
        return filled;
    }
    const std::size_t rounds = std::min(rounds_at_a_time(count), std::max<std::size_t>(size_ - 1, 1));
    if (const std::size_t needed = rounds * count + kThrowsBeyond; throws_.size() < needed) {
        throws_.resize(needed);
        prefixes_.resize(needed);
    }
    move_on(features_.data(), count, rounds, 1U << value_bits_, throws_.data(), prefixes_.data());
    Throws throws{throws_.data(), prefixes_.data(), rounds * count, kGolden, 0x80000000U + (1U << value_bits_), 32 - value_bits_};
    if (knows_empty_bins(size_)) {
        throw_at_empty(throws, 1, rounds, bins_, size_);
        return full();
    }
    for (std::size_t round = 1; round < size_ && !full(); round += rounds) {
        throws.count = std::min(rounds, size_ - round) * count;
        throw_all(throws, bins_, size_);
        throws.offset += rounds * kGolden;
        throws.prefix += static_cast<std::uint32_t>(rounds) << value_bits_;
    }
    return full();
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
