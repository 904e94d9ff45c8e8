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

// Where the kept hashes of a text go: their values, where the first of their tokens begins and where the last one ends.
struct KeptSpans {
    static constexpr std::size_t kAhead = 16;  // so many are written beyond the last one
    std::uint64_t* values;
    std::uint32_t *starts, *ends;
};

// Winnowing with spans: `starts` and `ends` are those of the first and the last token of each shingle. `kept` has room for as many as there are shingles, and
// kAhead more. Returns how many were kept.
class SpanWinnower {
   public:
    explicit SpanWinnower(std::size_t window) : window_(window) {}
    std::size_t run(std::span<const std::uint64_t> shingles, const std::uint32_t* starts, const std::uint32_t* ends, const KeptSpans& kept);

   private:
    std::size_t window_;
    std::vector<std::uint32_t> positions_;
};

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
