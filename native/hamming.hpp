// Exact search of fingerprints within a Hamming distance: multi-index hashing (Norouzi, Punjani, Fleet 2012) in CSR layout.
//
// A fingerprint is cut into blocks. Two fingerprints within distance k have a block t whose parts differ in at most
// floor((k - t) / blocks) bits: otherwise the differences of all blocks would add up to more than k. So block t is probed
// within that radius (not at all where it is negative), and what its buckets hold is checked in full. A match is reported
// from the first block that finds it, so none is reported twice and no set of seen entries is needed.
#pragma once

#include <algorithm>
#include <compare>
#include <span>
#include <vector>

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

// Distinct codes, immutable. Codes of up to 64 bits take 24 to 32 bytes each, and the directories 1 to 32 MB.
class HammingSegment {
   public:
    // `codes` ascend strictly; `bits` is 32, 64 or 128.
    HammingSegment(std::vector<Code> codes, unsigned bits);

    std::size_t size() const { return size_; }
    Code code(std::size_t entry) const { return {high_[entry], low_.empty() ? 0 : low_[entry]}; }
    std::size_t bytes() const;

    // Appends every entry within k of the query, in no particular order.
    void search(const Code& query, unsigned k, std::vector<Hit>& hits) const;
    void prefetch(const Code& query, unsigned k) const;

    // Calls report(entry, entry, distance) for every pair of entries within k, each once, until it returns false.
    template <class Report>
    void pairs(unsigned k, Report&& report) const {
        if (scans(k)) {
            for (std::size_t i = 0; i < size_; ++i) {
                for (std::size_t j = i + 1; j < size_; ++j) {
                    const unsigned found = distance(code(i), code(j));
                    if (found <= k && !report(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j), found)) return;
                }
            }
            return;
        }
        for (unsigned t = 0; t < tables_.size() && radius_of(t, k) >= 0; ++t) {
            const Table& table = tables_[t];
            const std::size_t masks = masks_for(t, static_cast<unsigned>(radius_of(t, k)));
            for (std::uint32_t bucket = 0; bucket < 1u << table.width; ++bucket) {
                if (table.directory[bucket] == table.directory[bucket + 1]) continue;
                for (std::size_t m = 0; m < masks; ++m) {
                    const std::uint32_t other = bucket ^ table.masks[m];
                    if (other >= bucket && !join(t, bucket, other, k, report)) return;
                }
            }
        }
    }

   private:
    struct Table {
        unsigned start, width;                 // the block: `width` bits from bit `start` on, counted from the top
        std::vector<std::uint32_t> directory;  // where each bucket begins; one more than buckets
        // Entries by bucket, and beside each the 32 bits behind the block. Table 0 has neither: its order is that of the codes.
        std::vector<std::uint32_t> entries, filters;
        std::vector<std::uint32_t> masks;      // bit patterns to flip, by the number of their bits
        std::vector<std::size_t> mask_ends;    // how many patterns have at most r bits
    };

    int radius_of(unsigned t, unsigned k) const {
        const int rest = static_cast<int>(k) - static_cast<int>(t);
        return rest < 0 ? -1 : rest / static_cast<int>(tables_.size());
    }
    std::size_t masks_for(unsigned t, unsigned radius) const { return tables_[t].mask_ends[radius]; }
    bool scans(unsigned k) const;
    bool found_before(unsigned t, const Code& a, const Code& b, unsigned k) const;
    void probe(unsigned t, std::uint32_t bucket, const Code& query, std::uint32_t filter, unsigned k, std::vector<Hit>& hits) const;

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

    std::size_t size_;
    unsigned bits_;
    std::vector<std::uint64_t> high_, low_;  // the codes; low_ is empty unless they have 128 bits
    std::vector<Table> tables_;
};

}  // namespace lookalike
