#include "documents.hpp"

namespace lookalike {

std::span<const std::uint64_t> DocumentSketcher::finish(TokenDigest& digest, std::uint32_t* keys) {
    digest = digest_.result();
    if (banding_.bands == 0) return {};
    set_.make_distinct(features_);
    hasher_.start(bins_.data());
    hasher_.add(features_.data(), features_.size());
    hasher_.finish();
    const std::uint32_t* bin = bins_.data();
    for (unsigned band = 0; band < banding_.bands; ++band) {
        std::uint64_t state = (band + 1) * kGolden;
        for (unsigned row = 0; row < banding_.rows; ++row) state = absorb(state, *bin++);
        keys[band] = static_cast<std::uint32_t>(mix(state));
    }
    return features_;
}

}  // namespace lookalike
