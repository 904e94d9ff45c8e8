#include "text/documents.hpp"

#include "base/dispatch.hpp"

namespace lookalike {

LOOKALIKE_INLINED TokenDigest sequence_digest_here(std::span<const std::uint64_t> shingles) {
    if (shingles.empty()) return kNothing;
    // Each lane takes every sixteenth shingle: a step waits for the one before it, and lanes do not wait for each other.
    constexpr std::size_t kLanes = 16;
    std::uint64_t low[kLanes] = {}, high[kLanes] = {};
    const auto step = [&](std::size_t lane, std::uint64_t shingle) {
        low[lane] = (std::rotl(low[lane], 23) ^ shingle) * kBlockMultiplier;
        high[lane] += low[lane];
    };
    std::size_t done = 0;
    for (; done + kLanes <= shingles.size(); done += kLanes) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) step(lane, shingles[done + lane]);
    }
    for (std::size_t lane = 0; done + lane < shingles.size(); ++lane) step(lane, shingles[done + lane]);
    std::uint64_t all_low = shingles.size() * kGolden, all_high = shingles.size();
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        all_low = mix(all_low ^ low[lane]);
        all_high = mix(all_high + high[lane]);
    }
    return {all_low | 1, all_high};  // never kNothing
}

TokenDigest sequence_digest(std::span<const std::uint64_t> shingles) { return widest<sequence_digest_here>(shingles); }

std::size_t DocumentSketcher::finish(TokenDigest& digest, std::uint64_t* keys) {
    std::uint64_t* const features = features_.data() + first_;
    digest = sequence_digest({features, features_.size() - first_});
    std::size_t count = banding_.bands ? features_.size() - first_ : 0;
    if (distinct_) count = set_.make_distinct(features, count);
    features_.shorten(first_ + count);
    if (banding_.bands == 0) return 0;
    hasher_.finish();
    const std::uint32_t* bin = bins_.data();
    for (unsigned band = 0; band < banding_.bands; ++band) {
        std::uint64_t state = (band + 1) * kGolden;
        for (unsigned row = 0; row < banding_.rows; ++row) state = absorb(state, *bin++);
        keys[band] = mix(state);
    }
    return count;
}

}  // namespace lookalike
