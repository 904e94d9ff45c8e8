// The texts of a collection that are nearest to a given one by Word Mover's Distance, exactly, without solving them all.
//
// Prefetch and prune: the k texts with the nearest centroids are solved; a text whose centroid is farther than the k-th of these, or else
// whose relaxed distance is, cannot be among the k nearest. The others are solved in the order of their bounds, until a bound is too far.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "word_mover/word_mover.hpp"

namespace lookalike {

struct Collection {
    std::span<const float> vectors;  // a row a distinct word
    std::size_t dimensions;
    std::span<const std::uint32_t> words;   // of all texts, one text after the other: rows of the vectors
    std::span<const std::uint32_t> counts;  // the same, how often each occurs
    std::span<const std::int64_t> offsets;  // where texts begin and end there; a text without words is never found
    std::span<const float> centroids;       // a row a text
    double slack;                           // by how much a rounded distance of centroids may be too large

    std::size_t size() const { return offsets.size() - 1; }
    std::span<const std::uint32_t> of(std::size_t text, std::span<const std::uint32_t> column) const {
        return column.subspan(static_cast<std::size_t>(offsets[text]), static_cast<std::size_t>(offsets[text + 1] - offsets[text]));
    }
};

struct NearText {
    double distance;
    std::uint32_t text;
    auto operator<=>(const NearText&) const = default;  // ties: the text that came first
};

struct NearestFound {
    std::vector<NearText> nearest;
    std::size_t texts = 0, by_centroid = 0, by_relaxed = 0, solved = 0;  // texts with words, and what became of them
};

NearestFound nearest_texts(const Collection& collection, std::span<const float> query, Counts query_counts, std::size_t k, unsigned workers);

}  // namespace lookalike
