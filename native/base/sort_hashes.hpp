// Sorting hashes, whose bits are spread evenly: by counting their upper bits, which is several times as fast as comparing.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace lookalike {

inline void sort_hashes(std::vector<std::uint64_t>& hashes) {
    constexpr std::size_t kFew = 4096;  // that are sorted as fast by comparing
    constexpr unsigned kBits = 11, kRounds = 3;
    if (hashes.size() < kFew) return std::sort(hashes.begin(), hashes.end());
    std::vector<std::uint64_t> other(hashes.size());
    for (unsigned round = 0; round < kRounds; ++round) {
        const unsigned shift = 64 - kBits * (kRounds - round);
        std::array<std::size_t, std::size_t{1} << kBits> places{};
        const auto digit = [shift](std::uint64_t hash) { return hash >> shift & ((std::uint64_t{1} << kBits) - 1); };
        for (const std::uint64_t hash : hashes) ++places[digit(hash)];
        std::size_t before = 0;
        for (std::size_t& place : places) before += std::exchange(place, before);
        for (const std::uint64_t hash : hashes) other[places[digit(hash)]++] = hash;
        hashes.swap(other);
    }
    // Where the upper bits are equal, the order is still open. Of hashes these are few; whatever else comes is sorted too.
    constexpr unsigned kSorted = kBits * kRounds;
    for (std::size_t first = 0, last; first < hashes.size(); first = last) {
        last = first + 1;
        while (last < hashes.size() && hashes[last] >> (64 - kSorted) == hashes[first] >> (64 - kSorted)) ++last;
        if (last - first > 1) std::sort(hashes.begin() + static_cast<std::ptrdiff_t>(first), hashes.begin() + static_cast<std::ptrdiff_t>(last));
    }
}

}  // namespace lookalike
