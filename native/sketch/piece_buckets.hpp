// The buckets of a few documents that are offered together, before those that stay are entered where all kept documents are.
//
// Which documents of the piece share a key does not depend on who stays: it is found out beforehand, a band at a time and by several threads. Who of
// them was kept is known when it is a document's turn, and then takes a look at each of its bands and no search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sketch/decide.hpp"
#include "sketch/kept_buckets.hpp"

namespace lookalike {

// Which keys are equal.
class EqualKeys {
   public:
    // For each of `count` keys the place of the last equal one before it, or nobody; keys and answers are `stride` apart.
    void link(const std::uint64_t* keys, std::size_t stride, std::uint32_t count, std::uint32_t* before);

   private:
    std::vector<std::uint32_t> slots_;  // places of keys, open addressing
};

class PieceBuckets {
   public:
    PieceBuckets(unsigned bands, std::uint32_t limit) : bands_(bands), limit_(limit) {}

    void begin(std::uint32_t count);
    // Of each band, before the first document is decided.
    void link(unsigned band, const std::uint64_t* keys, std::uint32_t count, EqualKeys& scratch) { scratch.link(keys + band, bands_, count, &before_[band]); }
    // Of each band, the bucket among the documents that were kept before this piece.
    KeptBuckets::Bucket* earlier(std::uint32_t document) { return &earlier_[row(document)]; }

    // Appends those of the piece that were kept, the `first`-th of them or later ones, and share a key with this document: their numbers among the kept
    // ones of the piece, with repetitions.
    void find(std::uint32_t document, std::uint32_t first, std::vector<std::uint32_t>& candidates) const;
    // What became of a document; all are told of, in order. Only kept ones that have keys are found later.
    void pass(std::uint32_t document);
    void keep(std::uint32_t document, std::uint32_t number);

   private:
    std::size_t row(std::uint32_t document) const { return std::size_t{document} * bands_; }
    // The last one before it in the bucket.
    std::uint32_t older(std::uint32_t document, unsigned band) const {
        const std::uint32_t before = before_[row(document) + band];
        return before == kNobody ? kNobody : newest_[row(before) + band];
    }

    unsigned bands_;
    std::uint32_t limit_;
    // A row of bands for each document:
    std::vector<std::uint32_t> before_;  // the last document with the same key
    std::vector<std::uint32_t> newest_;  // the last one in the bucket once this document was decided, maybe itself
    std::vector<KeptBuckets::Bucket> earlier_;
    std::vector<std::uint32_t> numbers_;  // of kept ones
};

}  // namespace lookalike
