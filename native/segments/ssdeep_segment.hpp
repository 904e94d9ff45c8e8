// Immutable segments of ssdeep digests, as those of TLSH digests are: see tlsh_segment.hpp.
#pragma once

#include <span>
#include <vector>

#include "segments/digest_documents.hpp"
#include "sketch/ssdeep.hpp"

namespace lookalike::fuzzy {

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
