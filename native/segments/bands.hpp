// The band index of MinHash sketches (locality-sensitive hashing): which documents share a band with a query.
//
// A sketch of `size` values is cut into `bands` bands of `rows` values each; each band is hashed to a 32-bit key. Two
// documents are candidates of each other if at least one key agrees in the same band.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "base/hash.hpp"
#include "segments/column.hpp"

namespace lookalike {

// The keys of the sketches in `values`, `bands` a sketch. They are the same on every platform, since stores keep them:
//
//     a sketch whose values are all 0xFFFFFFFF is that of an empty text: each of its keys is 0
//     any other: key b, from 0, is made of its values v[b * rows] … v[b * rows + rows - 1]
//         state = b
//         for each value v in order:  state = mix((state ^ v) + 0x9E3779B97F4A7C15)       modulo 2^64; mix as in hash.hpp
//         key = state >> 32, but 1 if that is 0
//
// So an empty text is never a candidate of any other. Since b is hashed too, a set of keys without their places is nearly
// as good as the keys in order. Values beyond bands * rows have no part.
void band_keys(std::span<const std::uint32_t> values, std::size_t size, std::size_t bands, std::size_t rows, std::uint32_t* keys);

constexpr std::size_t kMaxBands = 65535;               // how many bands two documents share is a 16-bit number
constexpr std::size_t kMaxBandDocuments = 0xFFFFFFFE;  // of a segment: groups and places of rows are 32-bit numbers

// A segment: documents by their band keys. Documents with the same digest and the same keys are one group, so a million
// copies are one entry with a million rows. Groups are numbered in the order of their smallest row.
//
// Each band has the keys of all groups, ascending, equal ones by group. A directory over the highest bits of the key says
// where its bucket begins; the remaining bits and the group numbers stand in columns. A directory has a bucket for 4 to 8
// groups, none for a few: from 262,144 groups on 16 bits remain, and a band takes 6.5 to 7 bytes a group.
template <template <class> class Array>
struct BandColumns {
    Array<std::uint64_t> shape;        // number of bands, number of groups
    Array<std::uint32_t> directory;    // for each band: the first place of each bucket, and the end
    Array<std::uint16_t> short_rests;  // what remains of the keys, band after band, if it fits into 16 bits
    Array<std::uint32_t> long_rests;   // the same, if not; the other one is empty
    Array<std::uint32_t> groups;       // the group of each key
    Array<std::uint64_t> digests;      // of each group
    Array<std::uint32_t> row_offsets;  // the rows of group g are row_offsets[g] … row_offsets[g + 1]
    Array<std::int64_t> rows;          // of each group, ascending
};

template <class T>
using OwnedColumn = Buffer<T>;
template <class T>
using ColumnView = std::span<const T>;
using BuiltBands = BandColumns<OwnedColumn>;
using BandViews = BandColumns<ColumnView>;

// How many of a key's highest bits choose the bucket.
constexpr unsigned directory_bits(std::size_t groups) {
    const int width = std::bit_width(groups);
    return width > 3 ? static_cast<unsigned>(width - 3) : 0;
}

// Columns that were checked: whatever they hold, no method reads beyond them.
class BandTables {
   public:
    // Throws std::invalid_argument, with what is wrong, unless the columns are a segment.
    explicit BandTables(const BandViews& columns);

    std::size_t bands() const { return bands_; }
    std::size_t groups() const { return groups_; }
    std::size_t documents() const { return columns_.rows.size(); }
    std::span<const std::uint64_t> digests() const { return columns_.digests; }
    std::span<const std::int64_t> rows(std::size_t group) const { return part_of(columns_.rows, columns_.row_offsets[group], columns_.row_offsets[group + 1]); }

    struct Bucket {
        std::size_t begin, end;  // places in the columns of all bands
    };
    void prefetch_directory(std::size_t band, std::uint32_t key) const { __builtin_prefetch(&columns_.directory[slot(band, key)]); }
    Bucket bucket(std::size_t band, std::uint32_t key) const {
        const std::uint32_t* entry = &columns_.directory[slot(band, key)];
        const Within part(entry[0], entry[1], groups_);
        return {band * groups_ + part.begin, band * groups_ + part.end};
    }
    void prefetch_rests(const Bucket& bucket) const;
    // The groups of a bucket that have exactly this key, ascending.
    std::span<const std::uint32_t> having(const Bucket& bucket, std::uint32_t key) const;

    // Calls visit(band, key, group) for every key of every group.
    template <class Visit>
    void for_each_key(Visit&& visit) const {
        for (std::size_t band = 0; band < bands_; ++band) {
            const std::uint32_t* starts = &columns_.directory[band * (buckets_ + 1)];
            for (std::size_t b = 0; b < buckets_; ++b) {
                const Within part(starts[b], starts[b + 1], groups_);
                for (std::size_t i = band * groups_ + part.begin; i < band * groups_ + part.end; ++i) {
                    const std::uint32_t group = columns_.groups[i];
                    if (group < groups_) visit(band, static_cast<std::uint32_t>(b << rest_bits_ | rest(i)), group);
                }
            }
        }
    }

   private:
    bool is_short() const { return rest_bits_ <= 16; }
    std::size_t slot(std::size_t band, std::uint32_t key) const { return band * (buckets_ + 1) + static_cast<std::size_t>(std::uint64_t{key} >> rest_bits_); }
    std::uint64_t rest(std::size_t place) const { return is_short() ? columns_.short_rests[place] : columns_.long_rests[place]; }
    void check_sizes() const;
    void check_bands() const;
    void check_rows() const;

    BandViews columns_;
    std::size_t bands_ = 0, groups_ = 0, buckets_ = 1;
    unsigned rest_bits_ = 32;
};

// Document i has rows[i] and digests[i], and its keys are keys[i * bands] …; rows ascend.
BuiltBands build_bands(std::span<const std::int64_t> rows, std::span<const std::uint64_t> digests, std::span<const std::uint32_t> keys, std::size_t bands);

// What build_bands makes of all documents of the segments, but for the removed rows, which ascend.
// Throws std::invalid_argument if a row is in two segments.
BuiltBands merge_bands(const std::vector<const BandTables*>& segments, std::span<const std::int64_t> removed);

struct Candidate {
    std::uint32_t group;
    std::uint16_t shared;  // bands
    friend bool operator<(const Candidate& a, const Candidate& b) { return a.shared != b.shared ? a.shared > b.shared : a.group < b.group; }
};

// Counts how often each group occurs. A start costs as much as the occurrences that are announced, not as the groups there are.
class Tally {
   public:
    void start(std::size_t occurrences, std::size_t groups);
    void add(std::uint32_t group);
    bool has(std::uint32_t group) const { return slots_[find(group)] != 0; }
    std::vector<Candidate>& counted() { return counted_; }

   private:
    std::size_t find(std::uint32_t group) const;

    std::vector<Candidate> counted_;
    std::vector<std::uint32_t> slots_;  // 1 + place in counted_, or 0
    unsigned shift_ = 0;
    bool direct_ = false;  // a slot for every group
};

// Finds the candidates of one query after the other, re-using its buffers. Not for use by two threads at once.
class BandSearcher {
   public:
    explicit BandSearcher(const BandTables& tables) : tables_(tables), buckets_(tables.bands()) {}

    // The groups that share a key with the query, most shared bands first, then by number, at most `limit` of them.
    std::span<const Candidate> run(const std::uint32_t* keys, std::size_t limit);
    std::size_t total() const { return total_; }  // how many there were

   private:
    void look_up(const std::uint32_t* keys);

    const BandTables& tables_;
    std::vector<BandTables::Bucket> buckets_;
    std::vector<std::span<const std::uint32_t>> runs_;
    Tally tally_;
    std::size_t total_ = 0;
};

// A group that shares bands with a query: how many, its digest, how many rows it has, and the first of them.
struct NearGroup {
    std::uint16_t shared;
    std::uint64_t digest;
    std::size_t size;
    std::vector<std::int64_t> rows;
};

// Rows that tables may hold and that are not there any more: those that were known first, and those since then. Both ascend.
struct GoneRows {
    std::span<const std::int64_t> known, since;

    bool has(std::int64_t row) const { return std::ranges::binary_search(known, row) || std::ranges::binary_search(since, row); }
    // How many of some rows, which ascend; it takes as long as the shorter of the two is.
    std::size_t count(std::span<const std::int64_t> rows) const;
};

// Adds the groups that share a key with the query, best first, at most `limit` of them with at most `most` rows each; rows that are gone are
// left out of both. Returns how many groups there were before the limit.
std::size_t near_groups(const BandTables& tables, const std::uint32_t* keys, std::size_t limit, std::size_t most, const GoneRows& gone,
                        std::vector<NearGroup>& found);

}  // namespace lookalike
