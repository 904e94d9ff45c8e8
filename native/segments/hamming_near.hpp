// The search of a Hamming segment where no block is probed within more than one flipped bit: what most searches are.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "segments/buckets.hpp"
#include "segments/code.hpp"

namespace lookalike {

struct NumberedHit {
    std::uint32_t number;  // of the query
    Hit hit;
};

// The columns of a segment as such a search reads them.
struct NearTables {
    struct Table {
        unsigned start, width;                   // the block: `width` bits from bit `start` on, counted from the top
        const std::uint32_t* directory;          // where each bucket begins; one more than buckets
        const std::uint32_t *entries, *filters;  // by bucket; the first table has neither: its order is that of the codes
        std::span<const std::uint32_t> masks;    // what is flipped in the block: nothing, and perhaps each single bit

        int radius() const { return masks.size() > 1; }
    };

    static constexpr std::size_t kMost = 8;
    std::array<Table, kMost> all;
    std::size_t count;                // tables that are probed
    const std::uint64_t *high, *low;  // the codes; `low` is null unless they have 128 bits
    const std::uint32_t* ids;         // of each code, where it has one of 32 bits; otherwise null
    std::uint32_t size;               // how many codes
    unsigned bits, k;

    std::span<const Table> probed() const { return {all.data(), count}; }
    std::size_t buckets() const {
        std::size_t all_of_them = 0;
        for (const Table& table : probed()) all_of_them += table.masks.size();
        return all_of_them;
    }
};

// Appends every entry within k of each query, in no particular order.
void search_near(const NearTables& tables, std::span<const Code> queries, std::vector<NumberedHit>& hits);

}  // namespace lookalike
