// Immutable segments of TLSH and ssdeep digests that are searched where they lie, in memory or in a mapped file. Exact:
// what a search finds is what comparing the query with every digest would find.
//
// Equal digests are one entry with many documents. Entries are sorted, so the same documents give the same bytes, whether
// they were built at once or merged. A segment's columns come from outside: its constructor checks all of them, and throws
// std::invalid_argument where they are not what build() would have written.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/platform.hpp"
#include "segments/column.hpp"
#include "sketch/ssdeep.hpp"
#include "sketch/tlsh.hpp"

namespace lookalike::fuzzy {

template <class T>
using View = std::span<const T>;
template <class T>
using Owned = std::vector<T>;

struct Hit {
    std::uint32_t entry;
    std::uint32_t rank;  // less is better
};

struct Found {
    std::vector<std::int64_t> rows;
    std::vector<std::uint32_t> ranks;
    std::size_t total = 0;  // before the limit
};

// The documents of each entry.
template <template <class> class Column>
struct Documents {
    Column<std::int64_t> rows;     // by entry, and ascending within an entry
    Column<std::uint32_t> starts;  // where those of each entry begin; one more than entries
};

inline View<std::int64_t> documents_of(const Documents<View>& documents, std::size_t entry) {
    return part_of(documents.rows, documents.starts[entry], documents.starts[entry + 1]);
}

// The best `limit` documents of the hits, best first, then by row.
Found best(const Documents<View>& documents, std::span<const Hit> hits, std::size_t limit);

// TLSH.

// The quarters of the buckets in Gray code: one bit apart where they are one apart, two where two. Only the extremes,
// which TLSH holds 6 apart, are one bit apart too: they are where the upper bits differ and no lower bit is set.
using TlshCode = std::array<std::uint64_t, 4>;

struct TlshEntry {
    std::uint16_t group;  // the bytes of the length and of the ratios
    TlshCode code;
    std::uint8_t checksum;
    auto operator<=>(const TlshEntry&) const = default;
};

TlshEntry to_entry(const tlsh::Record& record);
tlsh::Record to_record(const TlshEntry& entry);

template <template <class> class Column>
struct TlshColumns {
    Documents<Column> documents;
    // Entries with the same length and ratios are a group: what these add to a distance is known before an entry is read.
    Column<std::uint16_t> groups;
    Column<std::uint32_t> group_starts;  // where the entries of each group begin; one more than groups
    Column<std::uint64_t> codes;         // the first words of all entries, then the second ones …
    Column<std::uint8_t> checksums;
};

class TlshSegment {
   public:
    using Entry = TlshEntry;

    explicit TlshSegment(const TlshColumns<View>& columns);

    std::size_t size() const { return columns_.checksums.size(); }
    const Documents<View>& documents() const { return columns_.documents; }
    TlshEntry entry(std::size_t at) const;

    // The documents within the distance.
    Found search(const tlsh::Record& query, unsigned max_distance, std::size_t limit, unsigned workers) const;

   private:
    TlshColumns<View> columns_;
};

TlshColumns<Owned> build(std::span<const tlsh::Record> records, View<std::int64_t> rows);
TlshColumns<Owned> merge(std::span<const TlshSegment* const> segments, View<std::int64_t> removed);

// ssdeep.

template <template <class> class Column>
struct SsdeepColumns {
    Documents<Column> documents;
    Column<std::uint8_t> levels;
    Column<std::uint8_t> first_sizes;
    Column<std::uint64_t> letter_starts;  // where the letters of each entry begin, of the first part and then of the second
    Column<std::uint8_t> letters;
    // The entries by hashes of what they contain: by the upper bits in buckets, within a bucket by the lowest 16.
    Column<std::uint32_t> bucket_starts;  // one more than buckets
    Column<std::uint16_t> tags;
    Column<std::uint32_t> postings;
};

class SsdeepSegment {
   public:
    using Entry = ssdeep::Parts;

    explicit SsdeepSegment(const SsdeepColumns<View>& columns);

    std::size_t size() const { return columns_.levels.size(); }
    const Documents<View>& documents() const { return columns_.documents; }
    ssdeep::Parts entry(std::size_t at) const;

    // The documents with at least the score, which is 1 or more; ranks are 100 less the score.
    Found search(const ssdeep::Parts& query, int min_score, std::size_t limit, unsigned workers) const;

   private:
    void check_entries() const;
    void check_postings() const;
    std::vector<std::uint32_t> candidates(const ssdeep::Parts& query) const;

    SsdeepColumns<View> columns_;
};

SsdeepColumns<Owned> build(std::span<const ssdeep::Digest> digests, View<std::int64_t> rows);
SsdeepColumns<Owned> merge(std::span<const SsdeepSegment* const> segments, View<std::int64_t> removed);

}  // namespace lookalike::fuzzy
