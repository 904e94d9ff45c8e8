// A Hamming index that grows: immutable segments, a small tail that is read in full, and removed entries that are skipped.
#pragma once

#include <memory>
#include <unordered_set>

#include "segments/hamming.hpp"

namespace lookalike {

struct Match {
    std::int64_t id;
    std::uint32_t distance;
};

// Nearest first, then by id, from place `first` on.
void sort_matches(std::vector<Match>& matches, std::size_t first);

class HammingIndex {
   public:
    explicit HammingIndex(unsigned bits) : bits_(bits) {}

    unsigned bits() const { return bits_; }
    std::size_t size() const { return live_; }
    std::size_t bytes() const;

    void add(std::span<const std::uint64_t> words, std::span<const std::int64_t> ids);
    std::size_t remove(const std::unordered_set<std::int64_t>& ids);  // how many entries were removed

    // All entries within k, nearest first, then by id.
    void search(const Code& query, unsigned k, std::vector<Hit>& scratch, std::vector<Match>& matches) const;
    // The same for several queries, which may be HammingSegment::kTogether: `matches` has a list for each.
    void search_together(std::span<const Code> queries, unsigned k, std::vector<NumberedHit>& scratch, std::span<std::vector<Match>> matches) const;
    // Whether a search takes some microseconds at most, unless a great many entries are alike.
    bool is_short_search(unsigned k) const;
    void prefetch_directories(const Code& query, unsigned k) const;
    void prefetch_buckets(const Code& query, unsigned k) const;

    struct Pair {
        std::int64_t left, right;
        std::uint32_t distance;
    };
    // All pairs of entries within k, each once with the smaller id on the left; stops beyond `limit` pairs.
    std::vector<Pair> pairs(unsigned k, std::size_t limit) const;

    struct Groups {
        std::vector<std::int64_t> offsets{0}, ids;  // those of group i, ascending, are ids[offsets[i]] … ids[offsets[i + 1] - 1]
        std::vector<Pair> pairs;                    // of groups, by their numbers
    };
    // Entries of equal fingerprints as groups, by their smallest ids, and the pairs of groups within k; stops beyond `limit` pairs.
    Groups groups(unsigned k, std::size_t limit) const;

   private:
    struct Entry {
        Code code;
        std::int64_t id;
    };
    struct Part {
        HammingSegment segment;
        std::vector<bool> removed{};  // by place of the id; empty while there are none

        bool live(std::size_t place) const { return removed.empty() || !removed[place]; }
    };

    void search_tail(const Code& query, unsigned k, std::vector<Match>& matches) const;

    static constexpr std::size_t kMaxTail = 1 << 16;        // read in full in some 30 microseconds
    static constexpr std::size_t kMergeRatio = 4;           // neighbouring segments within this ratio are merged …
    static constexpr std::size_t kMostMerged = 50'000'000;  // … if they have no more entries together: merging takes some 90 bytes for each

    std::unique_ptr<Part> build(const std::vector<Entry>& entries) const;
    std::unique_ptr<Part> merged() const;  // all live entries in one part; null if the only part is just that
    void append(const Part& part, std::vector<Entry>& out) const;
    static void sort_pairs(std::vector<Pair>& pairs);
    void seal_tail();
    void merge_parts();

    unsigned bits_;
    std::size_t live_ = 0;
    std::vector<std::unique_ptr<Part>> parts_;
    std::vector<Entry> tail_;
};

}  // namespace lookalike
