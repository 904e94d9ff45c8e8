// Kept documents by the keys of their bands, numbered in the order in which they were kept.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "sketch/decide.hpp"

namespace lookalike {

constexpr unsigned kMostBands = 4096;

class KeptBuckets {
   public:
    KeptBuckets(unsigned bands, std::uint32_t limit) : limit_(limit), tables_(bands) {}

    unsigned bands() const { return static_cast<unsigned>(tables_.size()); }
    std::uint32_t limit() const { return limit_; }
    std::uint32_t documents() const { return documents_; }
    // So many may be kept, or somewhat fewer: tables that are empty begin with a size that grows once more at most. What costs is their memory,
    // so several threads may ask for it.
    void expect(std::size_t documents, unsigned workers);
    void prefetch(const std::uint64_t* keys) const;
    // A document's bucket in one band.
    struct Bucket {
        std::size_t slot;     // where it is, or would be
        std::uint32_t found;  // how many documents were found in it
    };
    // Appends the documents from `first` on that share a key, newest first in each bucket, with repetitions; `buckets` gets one per band.
    void find(const std::uint64_t* keys, std::uint32_t first, std::vector<std::uint32_t>& candidates, Bucket* buckets) const;

    // Enters documents into the buckets of one band, in this order: each is named by its row in lists with a key and a bucket per band, as find() left
    // them since the last ones were entered. Bands do not know each other, so several threads may be here at a time, each with a band of its own. Once all
    // bands are through, entered() says so. A bucket that is full takes no more: what is not found there may be found in another band.
    void enter(unsigned band, const std::uint64_t* keys, const Bucket* buckets, std::span<const std::uint32_t> rows);
    void entered(std::size_t count) { documents_ += static_cast<std::uint32_t>(count); }
    std::size_t bytes() const;

    struct Hot {
        std::uint32_t band, refused, example;  // example: the newest document in the bucket
        std::uint64_t key;
    };
    std::vector<Hot> hot_buckets() const;  // the full ones, those with the most refused first

   private:
    struct Slot {
        std::uint32_t low = 0, high = 0, newest = kNobody;  // the key in halves, so that a slot takes twelve bytes and not sixteen

        std::uint64_t key() const { return std::uint64_t{high} << 32 | low; }
    };
    struct Table {  // of one band
        std::vector<Slot> slots;
        std::size_t used = 0;
        unsigned shift = 0;
        std::vector<std::uint32_t> older;                // of each document, the one before it in the same bucket
        std::map<std::uint64_t, std::uint32_t> refused;  // by key
    };
    static std::size_t home(const Table& table, std::uint64_t key);
    static std::size_t slot_of(const Table& table, std::uint64_t key, std::size_t from);
    static std::size_t slot_of(const Table& table, std::uint64_t key) { return slot_of(table, key, home(table, key)); }
    bool is_full(unsigned band) const;
    static void grow(Table& table) { resize(table, std::max<std::size_t>(kLeastSlots, 2 * table.slots.size())); }
    static void resize(Table& table, std::size_t slots);  // a power of two
    static constexpr std::size_t kLeastSlots = 64;

    std::uint32_t limit_, documents_ = 0;
    std::vector<Table> tables_;
};

}  // namespace lookalike
