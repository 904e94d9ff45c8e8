// What the harnesses of SimHash segments share: segments as their columns, damage, and a search that checks all it finds.
#pragma once

#include <algorithm>
#include <array>
#include <map>

#include "fuzz.hpp"
#include "segments/hamming_index.hpp"

namespace fuzz {

using namespace lookalike;

struct Sections {
    std::vector<std::pair<std::string, std::vector<std::uint32_t>>> narrow;
    std::vector<std::pair<std::string, std::vector<std::uint64_t>>> wide;
};

inline Sections sections_of(const HammingSegment& segment) {
    Sections out;
    segment.columns([&](const std::string& name, auto column) { out.narrow.emplace_back(name, std::vector(column.begin(), column.end())); },
                    [&](const std::string& name, auto column) { out.wide.emplace_back(name, std::vector(column.begin(), column.end())); });
    return out;
}

inline HammingSegment open(unsigned bits, const Sections& sections) {
    std::map<std::string, Column32> narrow;
    std::map<std::string, Column64> wide;
    for (const auto& [name, column] : sections.narrow) narrow.emplace(name, Column32(std::span<const std::uint32_t>(column)));
    for (const auto& [name, column] : sections.wide) wide.emplace(name, Column64(std::span<const std::uint64_t>(column)));
    return HammingSegment::open(bits, std::move(narrow), std::move(wide));
}

inline void search_safely(const HammingSegment& segment, const Code& query, unsigned k) {
    std::vector<Hit> hits;
    segment.prefetch_directories(query, k);
    segment.prefetch_buckets(query, k);
    segment.search(query, k, hits);
    // Queries that are answered together have the answers that each has alone.
    const std::array<Code, 3> queries{query, {~query.high, query.low}, query};
    std::vector<NumberedHit> together;
    segment.search_together(queries, k, together);
    std::array<std::size_t, 3> counts{};
    for (const auto& [number, hit] : together) {
        REQUIRE(number < queries.size() && hit.entry < segment.size());
        REQUIRE(hit.distance == distance(segment.code(hit.entry), queries[number]) && hit.distance <= k);
        ++counts[number];
    }
    REQUIRE(counts[0] == hits.size() && counts[2] == hits.size());
    std::int64_t sum = 0;
    for (const Hit& hit : hits) {
        REQUIRE(hit.entry < segment.size());
        REQUIRE(hit.distance == distance(segment.code(hit.entry), query) && hit.distance <= k);
        const Within places = segment.ids_of(hit.entry);
        REQUIRE(places.begin <= places.end && places.end <= segment.ids());
        for (std::size_t place = places.begin; place < places.end; ++place) sum ^= segment.id(place);
    }
    std::size_t reported = 0;
    segment.pairs(std::min(k, 3U), [&](std::uint32_t left, std::uint32_t right, unsigned found) {
        REQUIRE(left < segment.size() && right < segment.size() && found <= k);
        return ++reported < 64;
    });
    volatile std::int64_t keep = sum;
    (void)keep;
}

inline Code query_of(Feed& feed, unsigned bits) {
    const std::array<std::uint64_t, 2> words{bits == 32 ? value<std::uint32_t>(feed) : value<std::uint64_t>(feed), value<std::uint64_t>(feed)};
    return code_at(words, 0, bits);
}

inline void mask(std::vector<std::uint64_t>& words, unsigned bits) {
    if (bits == 32) std::ranges::for_each(words, [](std::uint64_t& word) { word &= 0xFFFFFFFFULL; });
}

// Damages some of the columns; what opens in spite of it is searched.
inline void search_damaged(Feed& feed, unsigned bits, Sections sections) {
    for (std::size_t left = number(feed, 1, 4); left > 0; --left) {
        const std::size_t chosen = number(feed, 0, sections.narrow.size() + sections.wide.size() - 1);
        if (chosen < sections.narrow.size()) {
            damage(feed, sections.narrow[chosen].second);
        } else {
            damage(feed, sections.wide[chosen - sections.narrow.size()].second);
        }
    }
    try {
        search_safely(open(bits, sections), query_of(feed, bits), static_cast<unsigned>(number(feed, 0, 16)));
    } catch (const std::invalid_argument&) {}
}

}  // namespace fuzz
