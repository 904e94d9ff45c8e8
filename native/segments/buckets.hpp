// How the entries of a bucket of a Hamming segment are compared with a query.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/dispatch.hpp"
#include "segments/code.hpp"

namespace lookalike {

struct Hit {
    std::uint32_t entry;  // of the segment's distinct codes
    std::uint32_t distance;
};

struct Bucket {
    std::uint32_t begin, end;
};

// The first table's entries are the codes themselves.
LOOKALIKE_INLINED void read_codes(Bucket bucket, const std::uint64_t* high, const std::uint64_t* low, const Code& query, unsigned k, std::vector<Hit>& hits) {
    for (std::uint32_t i = bucket.begin; i < bucket.end; ++i) {
        const int found = std::popcount(high[i] ^ query.high) + (low ? std::popcount(low[i] ^ query.low) : 0);
        if (found <= static_cast<int>(k)) hits.push_back({i, static_cast<std::uint32_t>(found)});
    }
}

// Places whose filter is within k of the query's.
LOOKALIKE_INLINED void read_filters(Bucket bucket, const std::uint32_t* filters, std::uint32_t filter, unsigned k, std::vector<std::uint32_t>& places) {
    constexpr std::uint32_t kSmall = 16;
    if (bucket.begin >= bucket.end) return;
    if (bucket.end - bucket.begin <= kSmall) {
        for (std::uint32_t i = bucket.begin; i < bucket.end; ++i) {
            if (static_cast<unsigned>(std::popcount(filters[i] ^ filter)) <= k) places.push_back(i);
        }
        return;
    }
    // A hot bucket is read in blocks, without a branch: few entries pass, and none is worth a misprediction.
    constexpr std::uint32_t kBlock = 512;
    std::uint32_t passed[kBlock];
    for (std::uint32_t first = bucket.begin; first < bucket.end; first += kBlock) {
        const std::uint32_t block = std::min(kBlock, bucket.end - first);
        std::size_t count = 0;
        for (std::uint32_t i = 0; i < block; ++i) {
            passed[count] = first + i;
            count += static_cast<unsigned>(std::popcount(filters[first + i] ^ filter)) <= k;
        }
        places.insert(places.end(), passed, passed + count);
    }
}

}  // namespace lookalike
