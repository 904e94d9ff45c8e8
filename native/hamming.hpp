// Exact search of fingerprints within a Hamming distance: multi-index hashing (Norouzi, Punjani, Fleet 2012) in CSR layout.
//
// A fingerprint is cut into blocks. Two fingerprints within distance k have a block t whose parts differ in at most
// floor((k - t) / blocks) bits: otherwise the differences of all blocks would add up to more than k. So block t is probed
// within that radius (not at all where it is negative), and what its buckets hold is checked in full. A match is reported
// from the first block that finds it, so none is reported twice and no set of seen entries is needed.
#pragma once

#include <algorithm>
#include <compare>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "column.hpp"
#include "platform.hpp"

namespace lookalike {

// A fingerprint of up to 128 bits, left-aligned: bit 0 of a block counts from the top.
struct Code {
    std::uint64_t high, low;
    bool operator==(const Code&) const = default;
    auto operator<=>(const Code&) const = default;
};

inline unsigned distance(const Code& a, const Code& b) {
    return static_cast<unsigned>(std::popcount(a.high ^ b.high) + std::popcount(a.low ^ b.low));
}

struct Hit {
    std::uint32_t entry;  // of the segment's distinct codes
    std::uint32_t distance;
};

// Fingerprints and their ids, immutable, in memory or in a mapped file. Equal fingerprints are one entry with several ids.
// Codes of up to 64 bits take 24 to 32 bytes each, and the directories 1 to 32 MB; small segments have no directories.
class HammingSegment {
   public:
    static HammingSegment build(std::span<const Code> codes, std::span<const std::int64_t> ids, unsigned bits);
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

    // Where the ids of an entry begin. Most entries have one: only the others are written down.
    std::size_t begin(std::size_t entry) const {
        if (repeated_.size() == 0) return entry;
        const auto view = repeated_.view();
        const auto before = std::lower_bound(view.begin(), view.end(), entry) - view.begin();
        return entry + (before ? extra_[static_cast<std::size_t>(before) - 1] : 0);
    }

    // Appends every entry within k of the query, in no particular order.
    void search(const Code& query, unsigned k, std::vector<Hit>& hits) const;
    void prefetch(const Code& query, unsigned k) const;

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
        for (unsigned t = 0; t < tables_.size() && radius_of(t, k) >= 0; ++t) {
            const Table& table = tables_[t];
            const std::span<const std::uint32_t> masks = masks_within(table.width, static_cast<unsigned>(radius_of(t, k)));
            for (std::uint32_t bucket = 0; bucket < 1u << table.width; ++bucket) {
                if (table.directory[bucket] == table.directory[bucket + 1]) continue;
                for (const std::uint32_t mask : masks) {
                    const std::uint32_t other = bucket ^ mask;
                    if (other >= bucket && !join(t, bucket, other, k, report)) return;
                }
            }
        }
    }

   private:
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
    bool scans(unsigned k) const;
    bool found_before(unsigned t, const Code& a, const Code& b, unsigned k) const;

    template <class Report>
    bool join(unsigned t, std::uint32_t bucket, std::uint32_t other, unsigned k, Report&& report) const {
        const Table& table = tables_[t];
        const std::uint32_t end = table.directory[bucket + 1], other_end = table.directory[other + 1];
        for (std::uint32_t i = table.directory[bucket]; i < end; ++i) {
            for (std::uint32_t j = bucket == other ? i + 1 : table.directory[other]; j < other_end; ++j) {
                if (t && static_cast<unsigned>(std::popcount(table.filters[i] ^ table.filters[j])) > k) continue;
                const std::uint32_t a = t ? table.entries[i] : i, b = t ? table.entries[j] : j;
                const unsigned found = distance(code(a), code(b));
                if (found > k || found_before(t, code(a), code(b), k)) continue;
                if (!report(std::min(a, b), std::max(a, b), found)) return false;
            }
        }
        return true;
    }

    unsigned bits_;
    Column64 high_, low_;         // the codes, ascending; low_ is empty unless they have 128 bits
    Column32 small_;              // ids, where all of them fit
    Column64 large_;              // ids, where not
    Column32 repeated_, extra_;   // entries with more than one id, and how many more all of them up to here have
    std::vector<Table> tables_;
};

}  // namespace lookalike
