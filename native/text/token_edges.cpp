#include "text/token_edges.hpp"

#include <bit>

#include "base/dispatch.hpp"

#if LOOKALIKE_HAS_LEVELS
#include "base/intrinsics.hpp"
#endif

namespace lookalike {
namespace {

// The places of the set bits, from `base` on, eight at a time whether there are so many or not: how many there are is hard to foretell.
struct OneByOne {
    static std::size_t places(std::uint64_t bits, std::size_t base, std::size_t* out) {
        const auto count = static_cast<std::size_t>(std::popcount(bits));
        for (std::size_t done = 0; done < count; done += 8) {
            for (unsigned i = 0; i < 8; ++i) {
                out[done + i] = base + static_cast<std::size_t>(std::countr_zero(bits));
                bits &= bits - 1;
            }
        }
        return count;
    }
};

template <class Picker>
LOOKALIKE_INLINED std::size_t find_edges_here(const std::uint64_t* member, const std::uint64_t* start, std::size_t w, std::size_t words, std::uint64_t& before,
                                              TokenEdges& edges) {
    for (; w < words && !edges.full(); ++w) {
        if (run_width(member[w], start[w])) break;
        // A token ends behind its last byte: where the next one begins, or where there is none.
        const std::uint64_t end = (member[w] << 1 | before) & (~member[w] | start[w]);
        before = member[w] >> 63;
        edges.begun += Picker::places(start[w], w * 64, edges.begins + edges.begun);
        edges.ended += Picker::places(end, w * 64, edges.ends + edges.ended);
    }
    return w;
}

#if LOOKALIKE_HAS_LEVELS

// The same by one operation, which not every processor with AVX-512 has.
struct Picked {
    LOOKALIKE_PICKS static inline std::size_t places(std::uint64_t bits, std::size_t base, std::size_t* out) {
        const __m512i numbers =
            _mm512_set_epi8(63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31,
                            30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
        const auto count = static_cast<std::size_t>(std::popcount(bits));
        const __m512i first = _mm512_set1_epi64(static_cast<long long>(base));
        __m512i picked = _mm512_maskz_compress_epi8(bits, numbers);
        for (std::size_t done = 0; done < count; done += 16) {  // most words have no more than sixteen tokens
            const __m128i some = _mm512_castsi512_si128(picked);
            _mm512_storeu_si512(out + done, _mm512_add_epi64(_mm512_cvtepu8_epi64(some), first));
            _mm512_storeu_si512(out + done + 8, _mm512_add_epi64(_mm512_cvtepu8_epi64(_mm_srli_si128(some, 8)), first));
            picked = _mm512_alignr_epi64(picked, picked, 2);
        }
        return count;
    }
};

LOOKALIKE_PICKS std::size_t find_edges_picked(const std::uint64_t* member, const std::uint64_t* start, std::size_t w, std::size_t words, std::uint64_t& before,
                                              TokenEdges& edges) {
    return find_edges_here<Picked>(member, start, w, words, before, edges);
}

#endif

}  // namespace

std::size_t find_edges(const std::uint64_t* member, const std::uint64_t* start, std::size_t w, std::size_t words, std::uint64_t& before, TokenEdges& edges) {
#if LOOKALIKE_HAS_LEVELS
    if (has_picks()) return find_edges_picked(member, start, w, words, before, edges);
#endif
    return widest<find_edges_here<OneByOne>>(member, start, w, words, before, edges);
}

}  // namespace lookalike
