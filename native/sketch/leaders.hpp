// Which documents of a corpus to keep, given them in the order in which they want to be kept.
//
// The rule (decide.hpp) with all that it needs in one pass: candidates from buckets, verified at once. Buckets only hold documents
// that were kept, so copies of a page never make one grow. An exact copy (equal digest) of a kept document costs one look-up; one of a removed document is
// compared with what was kept since.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/large_buffer.hpp"
#include "segments/hamming_index.hpp"
#include "sketch/decide.hpp"
#include "sketch/recent_codes.hpp"
#include "sketch/set_similarity.hpp"

namespace lookalike {

constexpr unsigned kMostBands = 4096;

struct TokenDigest {
    std::uint64_t low, high;
    bool operator==(const TokenDigest&) const = default;
};

constexpr TokenDigest kNothing{0, 0};  // of a document without tokens: it is like another such one, and like nothing else

// What is known of documents by their digest.
class Originals {
   public:
    struct Known {
        std::uint32_t leader;  // of the last document with this digest; itself if it was kept
        std::uint32_t seen;    // how many kept documents it was compared with
        double similarity;

        Decision decision() const { return {leader, similarity}; }
        // Nothing is nearer than an equal document, and of equals the earliest leads.
        bool final() const { return similarity == 1.0; }
    };

    // What is known of an earlier document with this digest, or null. Valid until the next add().
    Known* find(const TokenDigest& digest);
    void prefetch(const TokenDigest& digest) const {
        if (!slots_.empty()) __builtin_prefetch(&slots_[static_cast<std::size_t>(digest.low) & (slots_.size() - 1)]);
    }
    // Only after find() returned null. A kept document's copies point at `document`.
    void add(const TokenDigest& digest, std::uint32_t document, const Decision& decision, std::uint32_t seen);
    std::size_t bytes() const { return digests_.capacity() * sizeof(TokenDigest) + known_.capacity() * sizeof(Known) + slots_.capacity() * 4; }

   private:
    std::size_t slot_of(const TokenDigest& digest) const;
    void grow();

    std::vector<TokenDigest> digests_;
    std::vector<Known> known_;
    std::vector<std::uint32_t> slots_;  // numbers of digests, open addressing
};

// The features of kept documents, one after the other in large chunks. What is in a chunk never changes, so whoever holds this
// may move it out of memory.
class FeatureChunks {
   public:
    // Copied, unless they are a part of the batch at hand.
    void add(std::span<const std::uint64_t> features);
    // A batch of features that stay where they are, as long as `memory` is held; at its end, if few of them were added, those are copied
    // after all, and the batch is let go.
    void begin_batch(std::shared_ptr<const void> memory, std::span<const std::uint64_t> all);
    void end_batch();
    void leave_batch() { batch_.open = false; }  // where something failed: what was added stays where it is
    std::size_t size() const { return places_.size(); }
    std::span<const std::uint64_t> operator[](std::size_t i) const {
        const Place& place = places_[i];
        return {chunks_[place.chunk].data + place.offset, place.count};
    }

    std::size_t chunks() const { return chunks_.size(); }
    std::span<const std::uint64_t> chunk(std::size_t i) const { return {chunks_[i].data, chunks_[i].size}; }
    bool in_memory(std::size_t i) const { return chunks_[i].memory != nullptr; }
    // What keeps a chunk that is in memory alive, for those who look at it while it is replaced.
    std::shared_ptr<const void> memory(std::size_t i) const { return chunks_[i].memory; }
    // From now on chunk i is read from `elsewhere`, which holds the same features, and takes no more.
    void replace(std::size_t i, const std::uint64_t* elsewhere);
    std::size_t bytes() const { return places_.capacity() * sizeof(Place) + in_memory_ * sizeof(std::uint64_t); }

   private:
    struct Chunk {
        std::shared_ptr<const void> memory;  // null: it lies elsewhere
        const std::uint64_t* data;
        std::size_t size = 0;
    };
    struct Filling {  // the chunk that takes copies
        std::size_t chunk = 0;
        std::shared_ptr<LargeBuffer<std::uint64_t>> memory;
    };
    struct AtHand {
        std::size_t chunk = 0, first = 0, added = 0;  // the first place in the batch, and how many features were added
        bool open = false;
    };
    struct Place {
        std::uint32_t chunk, count;
        std::uint64_t offset;
    };
    Place copied(std::span<const std::uint64_t> features);

    std::vector<Chunk> chunks_;
    std::vector<Place> places_;
    Filling filling_;
    AtHand batch_;
    std::size_t made_ = 0;  // chunks for copies
    std::size_t in_memory_ = 0;
};

// Kept documents by the keys of their bands.
class KeptBuckets {
   public:
    explicit KeptBuckets(unsigned bands, std::uint32_t limit) : bands_(bands), limit_(limit), tables_(bands), found_(bands) {}

    unsigned bands() const { return bands_; }
    // Appends the kept documents from `first` on that share a key, newest first in each bucket, with repetitions.
    void find(const std::uint64_t* keys, std::uint32_t first, std::vector<std::uint32_t>& candidates);
    std::uint32_t documents() const { return documents_; }
    void prefetch(const std::uint64_t* keys) const;
    // Adds what find() was asked for last. A bucket that is full takes no more: what is not found there may be found in another band.
    void add(const std::uint64_t* keys);
    std::size_t bytes() const;

    struct Hot {
        std::uint32_t band, refused, example;  // example: the newest kept document in the bucket
        std::uint64_t key;
    };
    std::vector<Hot> hot_buckets() const;  // the full ones, those with the most refused first

   private:
    struct Slot {
        std::uint32_t low = 0, high = 0, newest = kNobody;  // the key in halves, so that a slot takes twelve bytes and not sixteen

        std::uint64_t key() const { return std::uint64_t{high} << 32 | low; }
    };
    struct Table {
        std::vector<Slot> slots;
        std::size_t used = 0;
        unsigned shift = 0;
    };
    static std::size_t home(const Table& table, std::uint64_t key) { return static_cast<std::size_t>(key * kGolden >> table.shift); }
    static std::size_t slot_of(const Table& table, std::uint64_t key);
    static void grow(Table& table);

    unsigned bands_;
    std::uint32_t limit_, documents_ = 0;
    std::vector<Table> tables_;
    std::vector<std::size_t> found_;                                            // where find() ended in each table
    std::vector<std::uint32_t> older_;                                          // bands() a document: the one before it in the same bucket
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> refused_;  // by band and key
};

// Leaders by the similarity of feature sets, with candidates from bands. Without bands only copies are removed.
class Leaders {
   public:
    Leaders(unsigned bands, double threshold, std::uint32_t bucket_limit, Measure measure = Measure::jaccard)
        : threshold_(threshold), tables_(bands, bucket_limit), own_(measure) {}

    unsigned bands() const { return tables_.bands(); }
    void prefetch(const TokenDigest& digest, const std::uint64_t* keys) const {
        originals_.prefetch(digest);
        tables_.prefetch(keys);
    }
    // Features are distinct; `keys` has one per band. Documents are numbered as they are offered.
    Decision offer(std::span<const std::uint64_t> features, const TokenDigest& digest, const std::uint64_t* keys);

    std::uint32_t documents() const { return documents_; }
    std::uint32_t kept() const { return kept_; }
    std::uint64_t compared() const { return compared_; }
    FeatureChunks& chunks() { return features_; }
    std::size_t bytes() const { return features_.bytes() + overhead(); }
    std::size_t overhead() const { return tables_.bytes() + originals_.bytes() + numbers_.capacity() * 4; }  // what cannot be moved out
    std::vector<KeptBuckets::Hot> hot_buckets() const;

   private:
    // The decision about a document, given the one that the kept documents before `first` (as the tables number them) lead to.
    Decision nearest(std::span<const std::uint64_t> features, const std::uint64_t* keys, std::uint32_t first, const Decision& known);

    double threshold_;
    std::uint32_t documents_ = 0, kept_ = 0;
    std::uint64_t compared_ = 0;
    Originals originals_;
    KeptBuckets tables_;
    FeatureChunks features_;
    std::vector<std::uint32_t> numbers_;  // of the documents with features, which the tables number from 0
    std::vector<std::uint32_t> candidates_;
    SetSimilarity own_;  // of the document at hand
};

// Leaders by the Hamming distance of SimHashes: all kept ones within k are found. Digests say which documents have no tokens.
class SimhashLeaders {
   public:
    SimhashLeaders(unsigned bits, unsigned k) : k_(k), index_(bits), recent_(bits, k) {}

    Decision offer(const Code& code, const TokenDigest& digest);
    std::uint32_t documents() const { return documents_; }
    std::uint32_t kept() const { return kept_; }
    unsigned bits() const { return index_.bits(); }
    std::size_t bytes() const { return originals_.bytes() + index_.bytes() + recent_.bytes(); }
    void prefetch(const Code& code) const {
        originals_.prefetch(digest_of(code));
        recent_.prefetch(code);
        index_.prefetch_buckets(code, k_);
    }

   private:
    static constexpr std::size_t kMaxRecent = 1 << 17;  // the index takes many at a time, as a segment

    static TokenDigest digest_of(const Code& code) { return {mix(code.high), code.low}; }
    Decision nearest(const Code& code);
    double similarity(unsigned distance) const { return 1.0 - static_cast<double>(distance) / bits(); }  // exact: bits are a power of two
    void keep(const Code& code, std::uint32_t document);

    unsigned k_;
    std::uint32_t documents_ = 0, kept_ = 0;
    Originals originals_;  // by their codes
    Decision nothing_;     // where a document without tokens points
    HammingIndex index_;
    RecentCodes recent_;
    std::vector<std::int64_t> recent_numbers_;
    std::vector<Hit> scratch_;
    std::vector<Match> matches_;
};

}  // namespace lookalike
