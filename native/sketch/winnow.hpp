// Winnowing (Schleimer, Wilkerson, Aiken, SIGMOD 2003) and the passages that two token sequences share.
#pragma once

#include <span>
#include <vector>

#include "text/shingle.hpp"

namespace lookalike {

// The positions of the shingles that winnowing keeps: of every `window` neighbours the smallest, the rightmost on a tie.
// Fewer shingles than `window` are one window. `kept` has room for as many as there are shingles; returns how many were kept.
std::size_t winnow(std::span<const std::uint64_t> shingles, std::size_t window, std::uint32_t* kept);

inline void winnow(std::span<const std::uint64_t> shingles, std::size_t window, std::vector<std::uint32_t>& kept) {
    kept.resize(shingles.size());
    kept.resize(winnow(shingles, window, kept.data()));
}

struct SharedRun {
    std::uint32_t left, right, length;  // first token on both sides, number of tokens
};

struct Anchors {
    std::span<const std::uint64_t> tokens;     // hashes of all tokens
    std::span<const std::uint64_t> values;     // kept shingle hashes …
    std::span<const std::uint32_t> positions;  // … and their first tokens, ascending
};

// Runs of equal tokens around equal kept shingles, as long as they go, in order of their place on the left. A place on the
// right that is a further copy of a left place gets its run too. Linear time: a shingle that stands in many places is tried
// at the first kMaxPlaces of them, and neighbouring runs overlap by at most kMaxOverlap tokens.
std::vector<SharedRun> shared_runs(const Anchors& left, const Anchors& right, unsigned n);

}  // namespace lookalike
