// Exact search of fingerprints within a Hamming distance: multi-index hashing (Norouzi, Punjani, Fleet 2012) in CSR layout.
//
// A fingerprint is cut into blocks. Two fingerprints within distance k have a block t whose parts differ in at most
// floor((k - t) / blocks) bits: otherwise the differences of all blocks would add up to more than k. So block t is probed
// within that radius (not at all where it is negative), and what its buckets hold is checked in full. A match is reported
// from the first block that finds it, so none is reported twice and no set of seen entries is needed.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "segments/code.hpp"
#include "segments/column.hpp"
#include "segments/hamming_near.hpp"

namespace lookalike {

// Fingerprints and their ids, immutable, in memory or in a mapped file. Equal fingerprints are one entry with several ids.
// Codes of up to 64 bits take 24 to 32 bytes each, and the directories 1 to 32 MB; small segments have no directories.
class HammingSegment {
   public:
    // Fingerprints as words: one each, or for 128 bits two, the low half first.
    static HammingSegment build(std::span<const std::uint64_t> words, std::span<const std::int64_t> ids, unsigned bits);
    // Columns as `columns` hands them out; throws std::invalid_argument unless everything they say is in bounds.
    static HammingSegment open(unsigned bits, std::map<std::string, Column32> narrow, std::map<std::string, Column64> wide);

    template <class Narrow, class Wide>
    void columns(Narrow&& narrow, Wide&& wide) const {
        wide("codes", high_.view());
        if (bits_ == 128) wide("low", low_.view());
        if (small_.size() || !large_.size()) {
            narrow("ids32", small_.view());
        } else {
            wide("ids64", large_.view());
        }
        narrow("repeated", repeated_.view());
        narrow("extra", extra_.view());
        for (std::size_t t = 0; t < tables_.size(); ++t) {
            narrow("directory" + std::to_string(t), tables_[t].directory.view());
            if (t == 0) continue;
            narrow("entries" + std::to_string(t), tables_[t].entries.view());
            narrow("filters" + std::to_string(t), tables_[t].filters.view());
        }
    }

    unsigned bits() const { return bits_; }
    std::size_t size() const { return high_.size(); }  // distinct codes
    std::size_t ids() const { return small_.size() + large_.size(); }
    std::size_t bytes() const;
    Code code(std::size_t entry) const { return {high_[entry], bits_ == 128 ? low_[entry] : 0}; }
    std::int64_t id(std::size_t place) const { return small_.size() ? small_[place] : static_cast<std::int64_t>(large_[place]); }

    // The places of an entry's ids. Most entries have one: only the others are written down.
    Within ids_of(std::size_t entry) const {
        if (repeated_.size() == 0) return {entry, entry + 1, ids()};
        const std::size_t before = repeated_before(entry);
        const std::size_t begin = entry + (before ? extra_[before - 1] : 0);
        const bool repeats = before < repeated_.size() && repeated_[before] == entry;
        return {begin, repeats ? entry + 1 + extra_[before] : begin + 1, ids()};
    }

    // Calls take(number, place, distance) for every id of the hits. All are on their way from memory before the first is taken.
    template <class Take>
    void for_ids(std::span<const NumberedHit> hits, Take&& take) const {
        thread_local std::vector<Within> places;
        places.clear();
        for (const NumberedHit& each : hits) {
            places.push_back(ids_of(each.hit.entry));
            small_.size() ? __builtin_prefetch(small_.data() + places.back().begin) : __builtin_prefetch(large_.data() + places.back().begin);
        }
        for (std::size_t i = 0; i < hits.size(); ++i) {
            for (std::size_t place = places[i].begin; place < places[i].end; ++place) take(hits[i].number, place, hits[i].hit.distance);
        }
    }

    // Appends every entry within k of the query, in no particular order.
    void search(const Code& query, unsigned k, std::vector<Hit>& hits) const;
    // The same for several queries. What one reads was asked for while those before it were answered, so the memory brings many pieces at a time.
    void search_together(std::span<const Code> queries, unsigned k, std::vector<NumberedHit>& hits) const;
    // Whether a search reads no more than some dozen buckets.
    bool reads_few_buckets(unsigned k) const { return size() == 0 || (!scans(k) && probes_near(k)); }
    static constexpr std::size_t kTogether = 64;  // so many are worth it: what is known of them stays in the first-level cache
    // What a search will read comes from memory in two steps: the directories tell where the buckets are.
    void prefetch_directories(const Code& query, unsigned k) const;
    void prefetch_buckets(const Code& query, unsigned k) const;

    // Calls report(entry, entry, distance) for every pair of entries within k, each once, until it returns false.
    template <class Report>
    void pairs(unsigned k, Report&& report) const {
        if (scans(k)) {
            for (std::size_t i = 0; i < size(); ++i) {
                for (std::size_t j = i + 1; j < size(); ++j) {
                    const unsigned found = distance(code(i), code(j));
                    if (found <= k && !report(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j), found)) return;
                }
            }
            return;
        }
        // Mask by mask: then the buckets of both sides follow each other in memory.
        std::vector<Pair> found;
        for (unsigned t = 0; t < tables_.size() && radius_of(t, k) >= 0; ++t) {
            const std::uint32_t buckets = 1u << tables_[t].width;
            for (const std::uint32_t mask : masks_within(tables_[t].width, static_cast<unsigned>(radius_of(t, k)))) {
                for (std::uint32_t bucket = 0; bucket < buckets; bucket += kJoined) {
                    found.clear();
                    join(t, bucket, std::min(bucket + kJoined, buckets), mask, k, found);
                    for (const Pair& pair : found) {
                        if (!report(pair.left, pair.right, pair.distance)) return;
                    }
                }
            }
        }
    }

   private:
    // How many entries with several ids lie before this one: a search without branches, which no processor could foretell.
    std::size_t repeated_before(std::size_t entry) const {
        const std::uint32_t* first = repeated_.data();
        for (std::size_t left = repeated_.size(); left > 1;) {
            const std::size_t half = left / 2;
            first += first[half - 1] < entry ? half : 0;
            left -= half;
        }
        return static_cast<std::size_t>(first - repeated_.data()) + (*first < entry);
    }

    struct Table {
        unsigned start, width;  // the block: `width` bits from bit `start` on, counted from the top
        Column32 directory;     // where each bucket begins; one more than buckets
        // Entries by bucket, and beside each the 32 bits behind the block. Table 0 has neither: its order is that of the codes.
        Column32 entries, filters;
    };

    HammingSegment(unsigned bits) : bits_(bits) {}
    void build_tables();
    void fill_table(Table& table);
    void check() const;

    // Bit patterns to flip within a block, by the number of their bits.
    static std::span<const std::uint32_t> masks_within(unsigned width, unsigned radius);

    int radius_of(unsigned t, unsigned k) const {
        const int rest = static_cast<int>(k) - static_cast<int>(t);
        return rest < 0 ? -1 : rest / static_cast<int>(tables_.size());
    }
    // Whether everything is read: from some distance on.
    bool scans(unsigned k) const { return k >= scans_from_; }
    bool is_cheaper_to_scan(unsigned k) const;
    void find_scans();
    static constexpr unsigned kNear = 1;  // flipped bits; within two there are hundreds of buckets: more than a processor waits for at a time
    bool probes_near(unsigned k) const { return radius_of(0, k) <= static_cast<int>(kNear); }  // all buckets that a search reads are such
    void search_near(std::span<const Code> queries, unsigned k, std::vector<NumberedHit>& hits) const;
    template <class Visit>
    void for_near_buckets(const Code& query, unsigned k, Visit&& visit) const;
    bool found_before(unsigned t, const Code& a, const Code& b, unsigned k) const;

    struct Pair {
        std::uint32_t left, right, distance;
    };
    static constexpr std::uint32_t kJoined = 4096;  // buckets that are joined at a time
    // All pairs within k between the buckets from `first` to `end` and those that differ from them by the mask.
    void join(unsigned t, std::uint32_t first, std::uint32_t end, std::uint32_t mask, unsigned k, std::vector<Pair>& found) const;

    unsigned bits_;
    Column64 high_, low_;        // the codes, ascending; low_ is empty unless they have 128 bits
    Column32 small_;             // ids, where all of them fit
    Column64 large_;             // ids, where not
    Column32 repeated_, extra_;  // entries with more than one id, and how many more all of them up to here have
    std::vector<Table> tables_;
    unsigned scans_from_ = 0;
};

}  // namespace lookalike
