// Passages that stand in a corpus more than once, found exactly, and what of them is cut so that one of each stays.
//
// A document is a sequence of units (passages/units.hpp), and a window is `length` units of one document. Windows are taken in order, document by
// document and from left to right. A window is cut if an equal one stands before it of which no unit was cut: in an earlier document, or, `within`
// documents, in the same one and ending before this window begins. So what is cut has a whole copy that stays.
//
// Candidates are found as winnowing finds them. In every window the smallest hash of the shorter windows in it is its anchor; equal windows have
// equal anchors. A table of bits says which anchors came twice, and only windows with such an anchor are hashed, sorted and grouped. What comes
// out is compared unit by unit, with the one copy that stays and no other: a passage that stands in ten thousand places costs ten
// thousand comparisons.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/secret.hpp"
#include "passages/window_hash.hpp"

namespace lookalike {

struct Passage {
    std::int64_t document, first, length, source, source_first;  // places in units within their documents; `source` is the document that stays
};

// The stages are mark, find, collect and decide, each over all documents, in parts as the caller likes.
class RepeatFinder {
   public:
    // offsets: where the units of each document begin; one more than documents. `memory`: for what is sorted at a time. Units and offsets
    // must outlive this.
    RepeatFinder(std::span<const std::uint64_t> units, std::span<const std::int64_t> offsets, std::size_t length, bool within, unsigned workers,
                 std::size_t memory, const Secret& secret);

    std::size_t documents() const { return offsets_.size() - 1; }
    // Takes note of the anchors of documents.
    void mark(std::size_t first, std::size_t last);
    // Remembers the windows of documents whose anchor came twice.
    void find(std::size_t first, std::size_t last);
    // In how many slices the windows that were found are sorted.
    std::size_t slices() const;
    // Sorts a slice of the windows and groups those that are equal.
    void collect(std::size_t slice);
    // What is cut out of documents, which are given in the order in which they are kept. Each only once.
    std::vector<Passage> decide(std::span<const std::int64_t> documents);
    std::size_t candidates() const { return candidates_; }

   private:
    struct Entry {
        std::uint64_t hash, place;  // of the hash 61 bits; `place` has 24 bits of another hash above the place
        auto operator<=>(const Entry&) const = default;
    };
    struct Run {
        std::uint64_t first, count;  // windows side by side
    };
    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };
    template <class T>
    using Zeros = std::unique_ptr<T[], Free>;  // pages that nobody writes to take no memory
    template <class T>
    static Zeros<T> zeros(std::size_t count);

    template <class Visit>
    void for_each_anchor(std::size_t document, std::vector<std::uint64_t>& hashes, Visit&& visit) const;
    bool is_cut(std::uint64_t unit) const { return cut_[unit / 64] >> unit % 64 & 1; }
    void cut(std::uint64_t first, std::uint64_t last);
    void decide_document(std::size_t document, std::vector<Passage>& found);
    void group(std::vector<Entry>& entries);
    std::size_t document_of(std::uint64_t unit) const;

    std::span<const std::uint64_t> units_;
    std::span<const std::int64_t> offsets_;
    std::size_t length_, anchor_length_, anchors_per_window_;
    bool within_;
    unsigned workers_;
    std::size_t memory_;
    WindowHash hash_;
    TurnedHash turned_, anchor_hash_;
    unsigned shift_;  // of an anchor's hash, to its place in the table
    std::vector<std::atomic<std::uint64_t>> once_, twice_;
    std::mutex guard_;
    std::vector<Run> runs_;
    std::size_t candidates_ = 0;
    std::atomic<std::uint64_t> groups_{0};
    Zeros<std::uint32_t> group_of_;          // by the first unit of a window; 0: it stands nowhere else
    std::vector<std::uint64_t> first_kept_;  // by group
    Zeros<std::uint64_t> cut_;               // a bit for each unit
    std::vector<std::pair<std::uint32_t, std::uint64_t>> pending_;
};

}  // namespace lookalike
