// What dedupe needs to know of a document: its distinct features and a digest of its tokens, by which it is compared, and the keys of its
// bands, by which candidates are found.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "base/paged_list.hpp"
#include "sketch/feature_set.hpp"
#include "sketch/leaders.hpp"
#include "sketch/minhash.hpp"

namespace lookalike {

struct Banding {
    std::size_t size = 0;  // of the MinHash; at least bands * rows
    unsigned bands = 0, rows = 0;
};

// A digest of shingles in their order: equal for equal token sequences. Shingles are hashes already, so a step a shingle is enough to
// keep them in order, and two different ones make 128 bits.
TokenDigest sequence_digest(std::span<const std::uint64_t> shingles);

// Sketches one document after the other, re-using its buffers. The features of all of them are appended to one list.
class DocumentSketcher {
   public:
    // `distinct`: of equal features one is left in the list.
    DocumentSketcher(const Banding& banding, PagedList<std::uint64_t>& features, bool distinct = true)
        : banding_(banding), distinct_(distinct), features_(features), hasher_(std::max<std::size_t>(banding.size, 1)), bins_(banding.size) {}

    void start() {
        first_ = features_.size();
        if (banding_.bands == 0) return;
        hasher_.start(bins_.data());
        // Bins that no band has are taken for filled with the smallest value: nobody throws again for their sake.
        std::fill(bins_.begin() + banding_.bands * banding_.rows, bins_.end(), 0);
    }
    // Features, and what the MinHash is made of.
    void add(const std::uint64_t* sketched, const std::uint64_t* features, std::size_t count) {
        features_.add(features, count);
        if (banding_.bands) hasher_.add(sketched, count);
    }
    // What is left in the list are the features, and none without bands. `keys` gets one per band. Returns how many features.
    std::size_t finish(TokenDigest& digest, std::uint64_t* keys);

   private:
    Banding banding_;
    bool distinct_;
    PagedList<std::uint64_t>& features_;
    std::size_t first_ = 0;  // of this document
    MinHasher hasher_;
    FeatureSet set_;
    std::vector<std::uint32_t> bins_;
};

}  // namespace lookalike
