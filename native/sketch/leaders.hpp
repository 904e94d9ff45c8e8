// Which documents of a corpus to keep, given them in the order in which they want to be kept.
//
// The rule (decide.hpp) with all that it needs in one pass: candidates from buckets, verified at once. Buckets only hold documents
// that were kept, so copies of a page never make one grow. An exact copy (equal digest) of a kept document costs one look-up; one of a removed document is
// compared with what was kept since.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "segments/hamming_index.hpp"
#include "sketch/decide.hpp"
#include "sketch/feature_chunks.hpp"
#include "sketch/kept_buckets.hpp"
#include "sketch/originals.hpp"
#include "sketch/piece_buckets.hpp"
#include "sketch/recent_codes.hpp"
#include "sketch/set_similarity.hpp"

namespace lookalike {

// A file in which documents stand, a row each.
struct RowFile {
    std::string path, name;            // the name is for messages
    std::vector<std::string> columns;  // the one of their texts
};

// Makes features of rows once more; each thread has one.
class RowReader {
   public:
    virtual ~RowReader() = default;
    // The distinct features of what stands there now; kNothing: it is no document any more.
    virtual TokenDigest read(const RowFile& file, std::uint64_t begin, std::size_t size, std::vector<std::uint64_t>& features) = 0;
};

// A row does not hold what it held before. The message is the name of its file.
struct RowChanged : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The system cannot read a file, for a reason that it says by a number. The message is the path.
struct RowUnreadable : std::runtime_error {
    RowUnreadable(const std::string& path, int why) : std::runtime_error(path), number(why) {}
    int number;
};

// Documents that are offered together.
struct Offered {
    std::span<const std::uint64_t> all_features;  // those of a document are distinct; where there are rows they need not be, and may be missing
    std::span<const std::int64_t> offsets;        // where each document's begin, and the end
    std::span<const std::uint64_t> digests;       // two words each
    const std::uint64_t* all_keys;                // one per band each
    unsigned bands;
    // Given: where the row of each stands. No more is kept of them, until somebody asks for their features.
    const RowPlace* rows = nullptr;

    std::size_t count() const { return offsets.size() - 1; }
    std::span<const std::uint64_t> features(std::size_t i) const {
        return all_features.subspan(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(offsets[i + 1] - offsets[i]));
    }
    bool has_features(std::size_t i) const { return rows == nullptr ? !features(i).empty() : digest(i) != kNothing; }
    TokenDigest digest(std::size_t i) const { return {digests[2 * i], digests[2 * i + 1]}; }
    const std::uint64_t* keys(std::size_t i) const { return all_keys + i * bands; }
    Offered part(std::size_t first, std::size_t size) const {
        const RowPlace* const own = rows == nullptr ? nullptr : rows + first;
        return {all_features, offsets.subspan(first, size + 1), digests.subspan(2 * first, 2 * size), keys(first), bands, own};
    }
};

// Leaders by the similarity of feature sets, with candidates from bands. Without bands only copies are removed.
//
// Documents are decided a piece at a time. First each is compared with all that were kept before the piece, which stay as they are meanwhile: by
// several threads. Then they are decided in order, where only what was kept of the same piece is still to be looked at. At last those that stay are entered
// into the buckets, a band at a time: again by several threads. The result is that of offering them one by one.
class Leaders {
   public:
    using MakeReader = std::function<std::unique_ptr<RowReader>()>;

    // `make_reader` where documents will have rows.
    Leaders(unsigned bands, double threshold, std::uint32_t bucket_limit, Measure measure = Measure::jaccard, MakeReader make_reader = {})
        : threshold_(threshold), measure_(measure), make_reader_(std::move(make_reader)), tables_(bands, bucket_limit), piece_(bands, bucket_limit) {}

    unsigned bands() const { return tables_.bands(); }
    bool can_read() const { return make_reader_ != nullptr; }
    // The number of a file in which documents stand.
    std::uint32_t number(const std::shared_ptr<const RowFile>& file);
    // About so many will be offered.
    void expect(std::size_t documents, unsigned workers);
    // Documents are numbered as they are offered. Appends a decision for each.
    void offer(const Offered& batch, unsigned workers, std::vector<Decision>& decisions);

    std::uint32_t documents() const { return documents_; }
    std::uint32_t kept() const { return kept_; }
    std::uint64_t compared() const { return compared_; }
    // The seconds in which one thread decided and the others had to wait.
    double alone() const { return std::chrono::duration<double>(alone_).count(); }
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
        SetSimilarity similarity;
        std::vector<std::uint32_t> candidates;
        EqualKeys equal;
        FeatureSet set;
        std::vector<std::uint64_t> own, read;  // features: of the document that is compared, and of one that was kept
        std::unique_ptr<RowReader> reader;
    };

    void offer_piece(const Offered& piece, unsigned workers, std::vector<Decision>& decisions);
    void decide(const Offered& piece, std::vector<Decision>& decisions);
    void look(const Offered& piece, std::uint32_t i, Scratch& scratch);
    Decision decide(const Offered& piece, std::uint32_t i);
    Decision among_piece(const Offered& piece, std::uint32_t i, std::uint32_t first, const Decision& known);
    // The decision about a document that the candidates lead to, given an earlier one.
    Decision nearest(const Offered& piece, std::uint32_t i, const Decision& known, Scratch& scratch);
    std::span<const std::uint64_t> own_features(const Offered& piece, std::uint32_t i, Scratch& scratch);
    std::span<const std::uint64_t> kept_features(std::uint32_t kept, Scratch& scratch);
    TokenDigest read(const RowPlace& row, Scratch& scratch, std::vector<std::uint64_t>& features);

    double threshold_;
    Measure measure_;
    MakeReader make_reader_;
    std::vector<std::shared_ptr<const RowFile>> files_;
    std::unordered_map<const RowFile*, std::uint32_t> file_numbers_;
    std::uint32_t documents_ = 0, kept_ = 0;
    std::uint64_t compared_ = 0;
    std::chrono::steady_clock::duration alone_{};
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
