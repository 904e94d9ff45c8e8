// Which documents have a winnowing hash, and where in them: an inverted index in columns, immutable.
//
// The fingerprints of all documents are numbered in document order; such a number is a *place*. Document d has the places
// firsts[d] to firsts[d + 1], so a place names the document and the fingerprint's rank in it in four bytes, and neighbours
// in a text are neighbouring places. Spans stand in order of place. Postings are the places in order of hash, then place:
// a directory over the top bits of the hashes, and of each hash only the bits below, in whole bytes. About 14 bytes per posting.
#pragma once

#include <algorithm>
#include <compare>
#include <span>
#include <string>
#include <vector>

#include "base/platform.hpp"
#include "segments/column.hpp"

namespace lookalike::postings {

inline constexpr std::size_t kSuffixPadding = 8;  // bytes behind the suffixes, so that a whole word can be read at each

// What a segment consists of, as it is made …
struct Columns {
    std::vector<std::int64_t> rows;         // of each document, ascending
    std::vector<std::uint32_t> firsts;      // the first place of each document, and one more
    std::vector<std::uint8_t> suffix_bits;  // one number: the bits of a hash below those of the directory
    std::vector<std::uint32_t> directory;   // the first posting of each bucket, and one more
    std::vector<std::uint8_t> suffixes;     // of each posting, little-endian, as many bytes as the bits need; then kSuffixPadding bytes
    std::vector<std::uint32_t> places;      // of each posting
    std::vector<std::uint32_t> repeats;     // postings with the hash and the document of the posting before, ascending
    std::vector<std::uint16_t> starts;      // by place: the lower half of where the span begins …
    std::vector<std::uint16_t> lengths;     // … and of how long it is
    // The upper halves, where they change: place << 32 | start >> 16 << 16 | length >> 16. A document begins with zeros.
    std::vector<std::uint64_t> uppers;
};

// … and as it is read, from anywhere.
struct View {
    std::span<const std::int64_t> rows;
    std::span<const std::uint32_t> firsts;
    std::span<const std::uint8_t> suffix_bits;
    std::span<const std::uint32_t> directory;
    std::span<const std::uint8_t> suffixes;
    std::span<const std::uint32_t> places;
    std::span<const std::uint32_t> repeats;
    std::span<const std::uint16_t> starts;
    std::span<const std::uint16_t> lengths;
    std::span<const std::uint64_t> uppers;
};

// Checks that a new segment and one from a file have in common.
void check_count(std::size_t fingerprints);
void check_rows(std::span<const std::int64_t> rows);

struct TextSpan {
    std::uint32_t start, end;
    auto operator<=>(const TextSpan&) const = default;
};

// The document of a place: a binary search among the few documents around it.
class DocumentFinder {
   public:
    DocumentFinder() = default;
    explicit DocumentFinder(std::span<const std::uint32_t> firsts);
    std::uint32_t operator()(std::uint32_t place) const {
        if (place / kBlock + 1 >= blocks_.size()) return 0;
        const std::uint32_t* const begin = firsts_.data() + blocks_[place / kBlock] + 1;
        const std::uint32_t* const end = firsts_.data() + blocks_[place / kBlock + 1] + 1;
        return static_cast<std::uint32_t>(std::upper_bound(begin, end, place) - firsts_.data()) - 1;
    }

   private:
    static constexpr std::uint32_t kBlock = 64;
    std::span<const std::uint32_t> firsts_;
    std::vector<std::uint32_t> blocks_;  // the document of the first place of each block, and the last document
};

// A text to look for: all its fingerprints in order, and which of them count (all of a hash, or none). Others may lie inside a passage.
struct Query {
    std::span<const std::uint64_t> values;
    std::span<const std::uint32_t> starts, ends;
    std::span<const std::uint8_t> used;
};

struct Passage {
    TextSpan query, document;
    auto operator<=>(const Passage&) const = default;
};

class Segment {
   public:
    // Checks every number: what comes from a damaged file is refused with std::invalid_argument, or is safe to search.
    explicit Segment(const View& view);

    struct Run {  // the postings of a hash
        std::size_t first, last;
    };
    struct Sharing {
        std::uint32_t document, hashes;
    };

    const View& view() const { return view_; }
    std::size_t documents() const { return view_.rows.size(); }
    std::uint32_t document_of(std::uint32_t place) const { return document_of_(place); }
    TextSpan span_of(std::uint32_t place, std::uint32_t document) const;
    Run find(std::uint64_t hash) const;
    std::uint32_t count_documents(const Run& run) const;

    // Calls report(document) for each document with the hash, ascending.
    template <class Report>
    void for_each_document_of(const Run& run, Report&& report) const {
        for (std::size_t at = run.first; at < run.last;) {
            const std::uint32_t document = document_of_(view_.places[at]), end = view_.firsts[document + 1];
            report(document);
            while (++at < run.last && view_.places[at] < end) {}
        }
    }

    // The documents whose rows are among `removed`, which ascend.
    std::vector<std::uint32_t> documents_of(std::span<const std::int64_t> removed) const;
    // The pages of these postings are not needed any more, see page_out.
    void let_go(std::size_t first, std::size_t last) const;
    // How many of these documents, which ascend, have the hash.
    std::uint32_t count_among(const Run& run, std::span<const std::uint32_t> documents) const;

    // Documents with at least one of the hashes, which differ, without those of the rows `removed`: most hashes first, then by
    // row, at most `limit`; returns how many there were.
    std::size_t sharing(std::span<const std::uint64_t> hashes, std::span<const std::int64_t> removed, std::size_t limit, std::vector<Sharing>& out) const;

    // The passages that the query shares with each of the documents, in order of their place in the query.
    std::vector<std::vector<Passage>> passages(const Query& query, std::span<const std::uint32_t> documents) const;

    // The largest hash with a place that is_wanted; 0 where there is none.
    template <class IsWanted>
    std::uint64_t largest_hash(IsWanted&& is_wanted) const {
        for (std::size_t bucket = view_.directory.size() - 1; bucket-- > 0;) {
            const Within part(view_.directory[bucket], view_.directory[bucket + 1], view_.places.size());
            for (std::size_t at = part.end; at-- > part.begin;) {
                if (is_wanted(view_.places[at])) return std::uint64_t{bucket} << bits_ | suffix(at);
            }
        }
        return 0;
    }

    // The postings, one after the other.
    class Cursor {
       public:
        explicit Cursor(const Segment& segment) : segment_(&segment) { step(); }
        bool ended() const { return ended_; }
        std::uint64_t hash() const { return hash_; }
        std::uint32_t place() const { return segment_->view_.places[at_]; }
        std::size_t posting() const { return at_; }
        void step() {
            const View& view = segment_->view_;
            ++at_;
            while (at_ >= end_) {
                if (next_bucket_ + 1 >= view.directory.size()) {
                    ended_ = true;
                    return;
                }
                const Within part(view.directory[next_bucket_], view.directory[next_bucket_ + 1], view.places.size());
                at_ = part.begin;
                end_ = part.end;
                ++next_bucket_;
            }
            hash_ = std::uint64_t{next_bucket_ - 1} << segment_->bits_ | segment_->suffix(at_);
        }

       private:
        const Segment* segment_;
        std::size_t next_bucket_ = 0, at_ = 0, end_ = 0;
        std::uint64_t hash_ = 0;
        bool ended_ = false;
    };

   private:
    std::uint64_t suffix(std::size_t posting) const { return load64(view_.suffixes.data() + posting * bytes_) & mask_; }
    void check_documents() const;
    void check_postings();
    void check_spans() const;

    View view_;
    unsigned bits_ = 0;
    std::size_t bytes_ = 0;
    std::uint64_t mask_ = 0;
    DocumentFinder document_of_;
};

// Document i has the values offsets[i] to offsets[i + 1], in the order of its text. Offsets are checked by the caller; what else
// is wrong is std::invalid_argument. Takes little beside the result: postings are sorted a part of the hashes at a time.
Columns build(std::span<const std::int64_t> rows, std::span<const std::int64_t> offsets, std::span<const std::uint64_t> values,
              std::span<const std::uint32_t> starts, std::span<const std::uint32_t> ends);

// What build would give for the documents of all segments except those of the rows `removed`, which ascend. Takes little beside the
// result: the postings of the segments are in order, so they are sorted a part of the hashes at a time. `read_once`: the segments are mapped files
// that nobody else is about to read, and what was read of them need not stay in memory.
Columns merge(std::span<const Segment* const> segments, std::span<const std::int64_t> removed, bool read_once = false);

}  // namespace lookalike::postings
