// What dedupe needs to know of a document: its distinct features, a digest of its tokens, and the keys of its bands.
#pragma once

#include <span>
#include <vector>

#include "feature_set.hpp"
#include "leaders.hpp"
#include "minhash.hpp"

namespace lookalike {

struct Banding {
    std::size_t size = 0;  // of the MinHash; at least bands * rows
    unsigned bands = 0, rows = 0;
};

// A digest of shingles in their order: equal for equal token sequences. Shingles are hashes already, so a word is enough to
// keep them in order, and two different words make 128 bits.
class SequenceDigest {
   public:
    void reset() { low_ = high_ = count_ = 0; }
    void add(const std::uint64_t* hashes, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            low_ = (std::rotl(low_, 23) ^ hashes[i]) * kBlockMultiplier;
            high_ = (std::rotl(high_, 41) + hashes[i]) * kTokenMultiplier;
        }
        count_ += count;
    }
    TokenDigest result() const {
        if (count_ == 0) return kNothing;
        return {mix(low_ ^ count_ * kGolden) | 1, mix(high_ + count_)};  // never kNothing
    }

   private:
    std::uint64_t low_ = 0, high_ = 0, count_ = 0;
};

// Sketches one document after the other, re-using its buffers.
class DocumentSketcher {
   public:
    explicit DocumentSketcher(const Banding& banding) : banding_(banding), hasher_(std::max<std::size_t>(banding.size, 1)), bins_(banding.size) {}

    void start() {
        digest_.reset();
        features_.clear();
    }
    void add(const std::uint64_t* hashes, std::size_t count) {
        digest_.add(hashes, count);
        if (banding_.bands) features_.insert(features_.end(), hashes, hashes + count);
    }
    // The features stay valid until the next start(). `keys` gets one a band.
    std::span<const std::uint64_t> finish(TokenDigest& digest, std::uint32_t* keys);

   private:
    Banding banding_;
    MinHasher hasher_;
    SequenceDigest digest_;
    FeatureSet set_;
    std::vector<std::uint64_t> features_;
    std::vector<std::uint32_t> bins_;
};

}  // namespace lookalike
