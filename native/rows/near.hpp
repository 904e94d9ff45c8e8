// Near search over a store, from a text to the documents that are like it: everything between is done here, in one go.
#pragma once

#include "base/secret.hpp"
#include "rows/stored.hpp"
#include "sketch/minhash.hpp"

namespace lookalike {

struct NearState {
    KnownState known;
    std::vector<const BandTables*> parts;
};

struct NearOptions {
    std::size_t size, bands, rows;  // of a MinHash
    std::size_t most_candidates;
};

// The buffers of a search, and the recipe. For one thread at a time.
class NearSearcher {
   public:
    NearSearcher(const TextOptions& text, const NearOptions& options)
        : options_(options), shingler_(text, process_secret(), true), verifier_(text, process_secret(), false), hasher_(options.size), values_(options.size),
          keys_(options.bands) {}

    // The documents whose features have a Jaccard similarity of at least the threshold with those of the text, at most `limit`. The tail is
    // replaced by the one that was searched.
    StoredFound run(std::span<const std::uint8_t> utf8, const NearState& state, std::shared_ptr<const Tail>& tail, StoredRows& stored, double threshold,
                    std::size_t limit);

   private:
    StoredFound search(std::span<const std::uint8_t> utf8, const NearState& state, const Tail& tail, StoredRows& stored, double threshold, std::size_t limit);
    StoredFound verified(const KnownState& known, StoredRows& stored, double threshold, std::size_t limit, std::size_t candidates);

    NearOptions options_;
    SecretShingler shingler_, verifier_;  // of the query, with what its MinHash is made of; of stored texts
    MinHasher hasher_;
    std::vector<std::uint32_t> values_, keys_;
    std::vector<std::uint64_t> features_;  // of the query
    std::vector<NearGroup> groups_;
};

}  // namespace lookalike
