// Which documents of a corpus to keep, given them in the order in which they want to be kept.
//
// The rule (decide.hpp) with all that it needs in one pass: candidates from buckets, verified at once. Buckets only hold documents
// that were kept, so copies of a page never make one grow. An exact copy (equal digest) of a kept document costs one look-up; one of a removed document is
// compared with what was kept since.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/large_buffer.hpp"
#include "segments/hamming_index.hpp"
#include "sketch/decide.hpp"
#include "sketch/kept_buckets.hpp"
#include "sketch/piece_buckets.hpp"
#include "sketch/recent_codes.hpp"
#include "sketch/set_similarity.hpp"

namespace lookalike {

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
    const Known* find(const TokenDigest& digest) const;
    Known* find(const TokenDigest& digest) { return const_cast<Known*>(std::as_const(*this).find(digest)); }
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

// Documents that are offered together.
struct Offered {
    std::span<const std::uint64_t> all_features;  // those of a document are distinct
    std::span<const std::int64_t> offsets;        // where each document's begin, and the end
    std::span<const std::uint64_t> digests;       // two words each
    const std::uint64_t* all_keys;                // one per band each
    unsigned bands;

    std::size_t count() const { return offsets.size() - 1; }
    std::span<const std::uint64_t> features(std::size_t i) const {
        return all_features.subspan(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(offsets[i + 1] - offsets[i]));
    }
    TokenDigest digest(std::size_t i) const { return {digests[2 * i], digests[2 * i + 1]}; }
    const std::uint64_t* keys(std::size_t i) const { return all_keys + i * bands; }
    Offered part(std::size_t first, std::size_t size) const {
        return {all_features, offsets.subspan(first, size + 1), digests.subspan(2 * first, 2 * size), keys(first), bands};
    }
};

// Leaders by the similarity of feature sets, with candidates from bands. Without bands only copies are removed.
//
// Documents are decided a piece at a time. First each is compared with all that were kept before the piece, which stay as they are meanwhile: by
// several threads. Then they are decided in order, where only what was kept of the same piece is still to be looked at. At last those that stay are entered
// into the buckets, a band at a time: again by several threads. The result is that of offering them one by one.
class Leaders {
   public:
    Leaders(unsigned bands, double threshold, std::uint32_t bucket_limit, Measure measure = Measure::jaccard)
        : threshold_(threshold), measure_(measure), tables_(bands, bucket_limit), piece_(bands, bucket_limit) {}

    unsigned bands() const { return tables_.bands(); }
    // Documents are numbered as they are offered. Appends a decision for each.
    void offer(const Offered& batch, unsigned workers, std::vector<Decision>& decisions);

    std::uint32_t documents() const { return documents_; }
    std::uint32_t kept() const { return kept_; }
    std::uint64_t compared() const { return compared_; }
    FeatureChunks& chunks() { return features_; }
    std::size_t bytes() const { return features_.bytes() + overhead(); }
    std::size_t overhead() const { return tables_.bytes() + originals_.bytes() + numbers_.capacity() * 4; }  // what cannot be moved out
    std::vector<KeptBuckets::Hot> hot_buckets() const;

   private:
    struct Looked {  // what the documents kept before the piece lead to
        Decision decision;
        std::uint32_t compared = 0;
    };
    struct Scratch {  // of one thread
        SetSimilarity own;
        std::vector<std::uint32_t> candidates;
        EqualKeys equal;
    };

    void offer_piece(const Offered& piece, unsigned workers, std::vector<Decision>& decisions);
    void decide(const Offered& piece, std::vector<Decision>& decisions);
    void look(const Offered& piece, std::uint32_t i, Scratch& scratch);
    Decision decide(const Offered& piece, std::uint32_t i);
    Decision among_piece(const Offered& piece, std::uint32_t i, std::uint32_t first, const Decision& known);
    // The decision about a document that the candidates lead to, given an earlier one.
    Decision nearest(std::span<const std::uint64_t> features, const Decision& known, Scratch& scratch) const;

    double threshold_;
    Measure measure_;
    std::uint32_t documents_ = 0, kept_ = 0;
    std::uint64_t compared_ = 0;
    Originals originals_;
    KeptBuckets tables_;
    FeatureChunks features_;
    std::vector<std::uint32_t> numbers_;  // of the documents with features, which the tables number from 0
    std::vector<std::unique_ptr<Scratch>> scratches_;
    // Of the piece at hand:
    PieceBuckets piece_;
    std::vector<std::uint32_t> copies_;  // the last document before it whose digest seems equal
    std::vector<Looked> looked_;
    std::vector<std::uint32_t> entering_;
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
