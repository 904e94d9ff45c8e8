// Where tokens begin and end, from bits to places.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lookalike {

// In order. The last token that has begun may not have ended yet.
struct TokenEdges {
    static constexpr std::size_t kEnough = 512, kRoom = kEnough + 64 + 8;  // a word more, and what is written ahead

    std::size_t begins[kRoom], ends[kRoom];
    std::size_t begun = 0, ended = 0;
    bool full() const { return begun >= kEnough; }
};

// How many bytes each token of a full word of the bitmaps has, if all have the same: 1, 3, or 0.
inline unsigned run_width(std::uint64_t member, std::uint64_t start) {
    constexpr std::uint64_t kEveryThird = 0x9249249249249249ULL;
    if (start == ~0ULL) return 1;
    if (member != ~0ULL || start == 0) return 0;
    return start == kEveryThird || start == kEveryThird << 1 || start == kEveryThird << 2 ? 3 : 0;
}

// Appends the edges in the words of the bitmaps from `w` on, until there are enough or a word is a run of tokens of one size. Returns
// the first word that was not taken. `before`: whether the byte before is part of a token.
std::size_t find_edges(const std::uint64_t* member, const std::uint64_t* start, std::size_t w, std::size_t words, std::uint64_t& before, TokenEdges& edges);

}  // namespace lookalike
