// Exact search of fingerprints within a Hamming distance: multi-index hashing (Norouzi, Punjani, Fleet 2012) in CSR layout.
//
// A fingerprint is cut into blocks. Two fingerprints within distance k have a block t whose parts differ in at most
// floor((k - t) / blocks) bits: otherwise the differences of all blocks would add up to more than k. So block t is probed
// within that radius (not at all where it is negative), and what its buckets hold is checked in full. A match is reported
// from the first block that finds it, so none is reported twice and no set of seen entries is needed.
#pragma once

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

// Distinct codes, immutable. Codes of up to 64 bits take 24 to 32 bytes each.
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

    // Calls report(entry, entry, distance) for every pair of distinct entries within k, each once.
    template <class Report>
    void pairs(unsigned k, Report&& report) const {
        if (scans(k)) {
            for (std::size_t i = 0; i < size_; ++i) {
                for (std::size_t j = i + 1; j < size_; ++j) {
                    const unsigned found = distance(code(i), code(j));
                    if (found <= k) report(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j), found);
                }
            }
            return;
        }
        for (unsigned t = 0; t < tables_.size(); ++t) {
            const int radius = radius_of(t, k);
            if (radius < 0) break;
            const Table& table = tables_[t];
            const std::uint32_t buckets = 1u << table.width;
            for (std::uint32_t bucket = 0; bucket < buckets; ++bucket) {
                if (table.directory[bucket] == table.directory[bucket + 1]) continue;
                join(t, bucket, bucket, k, report);
                for (std::size_t m = 1; m < masks_for(t, static_cast<unsigned>(radius)); ++m) {
                    const std::uint32_t other = bucket ^ table.masks[m];
                    if (other > bucket) join(t, bucket, other, k, report);
                }
            }
        }
    }

   private:
    struct Table {
        unsigned start, width;                 // the block: `width` bits from bit `start` on, counted from the top
        std::vector<std::uint32_t> directory;  // where each bucket begins; one more than buckets
        std::vector<std::uint32_t> entries;    // entries by bucket; empty for table 0, whose order is that of the codes
        std::vector<std::uint32_t> filters;    // the 32 bits behind the block, beside the entries
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
    void join(unsigned t, std::uint32_t bucket, std::uint32_t other, unsigned k, Report&& report) const {
        const Table& table = tables_[t];
        const std::uint32_t end = table.directory[bucket + 1], other_end = table.directory[other + 1];
        for (std::uint32_t i = table.directory[bucket]; i < end; ++i) {
            for (std::uint32_t j = bucket == other ? i + 1 : table.directory[other]; j < other_end; ++j) {
                if (static_cast<unsigned>(std::popcount(table.filters[i] ^ table.filters[j])) > k) continue;
                const std::uint32_t a = table.entries.empty() ? i : table.entries[i], b = table.entries.empty() ? j : table.entries[j];
                const unsigned found = distance(code(a), code(b));
                if (found <= k && !found_before(t, code(a), code(b), k)) report(std::min(a, b), std::max(a, b), found);
            }
        }
    }

    std::size_t size_;
    unsigned bits_;
    std::vector<std::uint64_t> high_, low_;  // the codes; low_ is empty unless they have 128 bits
    std::vector<Table> tables_;
};

}  // namespace lookalike
