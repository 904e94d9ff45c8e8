// How similar two sets of features are, exactly.
#pragma once

#include <span>

#include "sketch/feature_set.hpp"

namespace lookalike {

// What the similarity of two feature sets is: Jaccard's, or where features are the values of MinHashes of one size, each with
// its place, the share of equal ones, which estimates it.
enum class Measure { jaccard, estimate };

// Compares one set with others. The features of each are distinct.
class SetSimilarity {
   public:
    explicit SetSimilarity(Measure measure) : measure_(measure) {}

    // The set that others are compared with from now on; it must stay where it is.
    void begin(std::span<const std::uint64_t> own) {
        own_ = own;
        first_ = last_ = 0;
    }
    // The similarity, or 0 where it is certainly below `least`.
    double to(std::span<const std::uint64_t> other, double least);

   private:
    double least_common(double similarity, std::size_t other) const;
    void fill(std::size_t first, std::size_t last);

    Measure measure_;
    std::span<const std::uint64_t> own_;
    std::size_t first_ = 0, last_ = 0;  // what of it is in the set
    FeatureSet set_;
};

}  // namespace lookalike
