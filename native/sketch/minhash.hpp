// MinHash by fast similarity sketching (Dahlgaard, Knudsen, Thorup, FOCS 2017).
//
// Round 0 throws every feature into one of `size` bins; a bin keeps its smallest value. Where bins stay empty, further
// rounds throw every feature again, with larger values, until each bin has one; rounds from `size` on fill bin by bin, so
// even a single feature ends. The smallest value of a bin belongs to each feature of the set with the same probability:
// two sketches agree in a bin with probability exactly the Jaccard similarity, at every set size, and since a round gives
// a feature to one bin only, the variance is at most binomial. A document with many more features than bins costs one
// step a feature instead of `size`.
#pragma once

#include <span>
#include <vector>

#include "base/hash.hpp"

namespace lookalike {

constexpr std::uint32_t kEmptyBin = 0xFFFFFFFFU;
constexpr std::size_t kMaxMinHashSize = 65536;

class MinHasher {
   public:
    explicit MinHasher(std::size_t size);

    void start(std::uint32_t* bins);  // `size` values that the sketch is made in
    void add(const std::uint64_t* hashes, std::size_t count);
    void finish();

   private:
    bool full() const;
    void compact();
    bool throw_again();
    void fill_one_by_one();

    std::size_t size_;
    unsigned value_bits_;  // of a value in rounds after the first
    std::uint32_t* bins_ = nullptr;
    bool full_ = false;
    // The distinct features while bins are empty: later rounds need them. A set that leaves bins empty is small
    // (about size * log size features), so this stays small however long the document is.
    std::vector<std::uint64_t> features_;
    std::size_t compact_at_ = 0;
    std::vector<std::uint64_t> throws_;    // of several rounds: the features, moved on by as many rounds
    std::vector<std::uint64_t> prefixes_;  // of their values
};

// Weighted Jaccard by improved consistent weighted sampling (Ioffe, ICDM 2010): value i is a hash of the sampled feature
// and its sampled level. Weights must be positive and finite.
void weighted_minhash(std::span<const std::uint64_t> hashes, std::span<const double> weights, std::size_t size, std::uint64_t seed, std::uint32_t* out);

}  // namespace lookalike
