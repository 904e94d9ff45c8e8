// Immutable segments of TLSH digests that are searched where they lie, in memory or in a mapped file. Exact:
// what a search finds is what comparing the query with every digest would find.
//
// Equal digests are one entry with many documents. Entries are sorted, so the same documents give the same bytes, whether
// they were built at once or merged. A segment's columns come from outside: its constructor checks all of them, and throws
// std::invalid_argument where they are not what build() would have written.
#pragma once

#include <array>
#include <compare>
#include <span>

#include "segments/digest_documents.hpp"
#include "sketch/tlsh.hpp"

namespace lookalike::fuzzy {

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

}  // namespace lookalike::fuzzy
