// Search by SimHash over a store, from a text to the documents within some bits of it: everything between is done here, in one go.
#pragma once

#include "rows/stored.hpp"
#include "segments/hamming_index.hpp"
#include "text/text_source.hpp"

namespace lookalike {

struct SimhashState {
    KnownState known;
    std::vector<const HammingSegment*> parts;
};

// The buffers of a search, and the recipe. For one thread at a time.
class SimhashSearcher {
   public:
    // `unique`: a feature counts once.
    SimhashSearcher(const TextOptions& text, unsigned bits, bool unique) : bits_(bits), unique_(unique), shingler_(text) {}

    // The documents whose SimHash differs from that of the text in at most `k` bits, at most `limit`. The tail is replaced by the one that
    // was searched.
    StoredFound run(const TextView& text, const SimhashState& state, std::shared_ptr<const Tail>& tail, StoredRows& stored, unsigned k, std::size_t limit);

   private:
    StoredFound search(const Code& query, const SimhashState& state, const Tail& tail, StoredRows& stored, unsigned k, std::size_t limit);

    unsigned bits_;
    bool unique_;
    TextShingler shingler_;
    std::vector<std::uint64_t> features_;
    std::vector<NumberedHit> hits_;
    std::vector<Match> matches_;
};

}  // namespace lookalike
