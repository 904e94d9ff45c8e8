#include "text/ascii_characters.hpp"

#include <algorithm>

#include "base/dispatch.hpp"

#if LOOKALIKE_HAS_LEVELS
#include "base/intrinsics.hpp"
#endif

namespace lookalike {
namespace {

// How many of eight bytes are ASCII before the first that is not.
std::size_t ascii_in_front(std::uint64_t eight) {
    const std::uint64_t others = eight & 0x8080808080808080ULL;
    return others ? static_cast<std::size_t>(std::countr_zero(others)) / 8 : 8;
}

}  // namespace

const AsciiCharacters::Table& AsciiCharacters::table() {
    static const Table made = [] {
        Table table{};
        for (std::uint8_t c = 0; c < 128; ++c) {
            table.spaces[c] = CharacterForm::of_ascii(c) == CharacterForm::kSpace;
            const std::uint8_t folded = table.spaces[c] ? std::uint8_t{' '} : c >= 'A' && c <= 'Z' ? static_cast<std::uint8_t>(c | 0x20) : c;
            table.hashes[c] = token_hash(&folded, 1);
            if (table.spaces[c]) table.space_rows[c & 15] |= static_cast<std::uint8_t>(1U << (c >> 4));
        }
        return table;
    }();
    return made;
}

const std::uint8_t* AsciiCharacters::end_of_ascii(const std::uint8_t* p, const std::uint8_t* end) {
    while (end - p >= 64) {
        std::uint64_t all = 0;
        for (std::size_t i = 0; i < 64; i += 8) all |= load64(p + i);
        if (ascii_in_front(all) < 8) break;
        p += 64;
    }
    while (end - p >= 8) {
        const std::size_t here = ascii_in_front(load64(p));
        p += here;
        if (here < 8) return p;
    }
    while (p < end && *p < 0x80) ++p;
    return p;
}

const std::uint8_t* AsciiCharacters::two_in_ascii(const std::uint8_t* p, const std::uint8_t* end) {
    bool before = false;
    for (; p < end; ++p) {
        const bool here = *p < 0x80 && !is_space(*p);
        if (here && before) return p;
        before = here;
    }
    return end;
}

namespace {

#if LOOKALIKE_HAS_LEVELS

// A bit for each of 32 characters, set where it is white space.
LOOKALIKE_AVX2 std::uint32_t spaces_among_32(const std::uint8_t* p, const std::uint8_t* space_rows) {
    const __m256i raw = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    const __m256i rows = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(space_rows)));
    const __m256i bits = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201ULL));
    const __m256i upper = _mm256_and_si256(_mm256_srli_epi16(raw, 4), _mm256_set1_epi8(15));
    const __m256i both = _mm256_and_si256(_mm256_shuffle_epi8(rows, raw), _mm256_shuffle_epi8(bits, upper));
    return ~static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(both, _mm256_setzero_si256())));
}

// What was read so far: characters, and tokens made of them.
struct Reading {
    std::size_t read = 0, tokens = 0;
    bool after_space = false;
};

// As many whole blocks of 64 characters as there are. One-byte hashes are computed: to look up eight of them takes longer.
LOOKALIKE_AVX512 void read_blocks_avx512(const std::uint8_t* p, std::size_t size, std::uint32_t position, const std::uint8_t* space_rows, Reading& state,
                                         std::uint64_t* hashes, std::uint32_t* starts, std::uint32_t* ends) {
    const __m512i rows = _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(space_rows)));
    const __m512i bits = _mm512_set1_epi64(static_cast<long long>(0x8040201008040201ULL));
    const __m512i low_half = _mm512_set1_epi8(15);
    const __m512i start = _mm512_set1_epi64(static_cast<long long>(kGolden));
    const __m512i first_factor = _mm512_set1_epi64(static_cast<long long>(kBlockMultiplier)),
                  second_factor = _mm512_set1_epi64(static_cast<long long>(kTokenMultiplier));
    const __m512i count_up = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    std::size_t tokens = state.tokens;
    std::uint64_t after = state.after_space;
    for (; state.read + 64 <= size; state.read += 64) {
        const __m512i raw = _mm512_loadu_si512(p + state.read);
        const __m512i upper = _mm512_and_si512(_mm512_srli_epi16(raw, 4), low_half);
        const std::uint64_t space = _mm512_test_epi8_mask(_mm512_shuffle_epi8(rows, raw), _mm512_shuffle_epi8(bits, upper));
        const std::uint64_t kept = ~(space & (space << 1 | after));
        after = space >> 63;
        const __mmask64 capital = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(raw, _mm512_set1_epi8('A')), _mm512_set1_epi8(26));
        __m512i folded = _mm512_or_si512(raw, _mm512_maskz_mov_epi8(capital, _mm512_set1_epi8(0x20)));
        folded = _mm512_mask_mov_epi8(folded, space, _mm512_set1_epi8(' '));
        alignas(64) std::uint8_t characters[64];
        _mm512_store_si512(characters, folded);
        std::size_t to = tokens;
        for (std::size_t lane = 0; lane < 64; lane += 8) {
            __m512i x = _mm512_cvtepu8_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(characters + lane)));
            x = _mm512_mullo_epi64(_mm512_xor_si512(x, start), first_factor);
            x = _mm512_mullo_epi64(_mm512_xor_si512(x, _mm512_srli_epi64(x, 32)), second_factor);
            x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 29));
            const auto lanes = static_cast<__mmask8>(kept >> lane);
            _mm512_storeu_si512(hashes + to, _mm512_maskz_compress_epi64(lanes, x));
            to += static_cast<std::size_t>(std::popcount(static_cast<unsigned>(lanes)));
        }
        if (starts) {
            std::size_t at = tokens;
            for (std::size_t lane = 0; lane < 64; lane += 16) {
                const auto lanes = static_cast<__mmask16>(kept >> lane);
                const __m512i places = _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(position + state.read + lane)), count_up);
                const __m512i pressed = _mm512_maskz_compress_epi32(lanes, places);
                _mm512_storeu_si512(starts + at, pressed);
                _mm512_storeu_si512(ends + at, _mm512_add_epi32(pressed, _mm512_set1_epi32(1)));
                at += static_cast<std::size_t>(std::popcount(static_cast<unsigned>(lanes)));
            }
        }
        tokens = to;
    }
    state.tokens = tokens;
    state.after_space = after != 0;
}

#endif

}  // namespace

// All of it is ASCII.
std::size_t AsciiCharacters::read(const std::uint8_t*& p, const std::uint8_t* end, std::size_t most, std::uint32_t position, bool& after_space,
                                  std::uint64_t* hashes, std::uint32_t* starts, std::uint32_t* ends) {
    const Table& known = table();
    const std::size_t size = std::min<std::size_t>(most, static_cast<std::size_t>(end - p));
    std::size_t count = 0, first = 0;
#if LOOKALIKE_HAS_LEVELS
    if (kLevel == Level::avx512) {
        Reading state{0, 0, after_space};
        read_blocks_avx512(p, size, position, known.space_rows.data(), state, hashes, starts, ends);
        first = state.read, count = state.tokens, after_space = state.after_space;
    }
#endif
    unsigned after = after_space;
    const auto read_until = [&](std::size_t stop) {
        for (; first < stop; ++first) {  // without a branch: a space that does not count is written over
            const std::uint8_t c = p[first];
            const unsigned space = known.spaces[c];
            hashes[count] = known.hashes[c];
            if (starts) {
                starts[count] = position + static_cast<std::uint32_t>(first);
                ends[count] = starts[count] + 1;
            }
            count += 1 - (space & after);
            after = space;
        }
    };
#if LOOKALIKE_HAS_LEVELS
    // Hardly ever do spaces stand side by side: then every character is a token.
    while (kLevel == Level::avx2 && first + 32 <= size) {
        const std::uint32_t space = spaces_among_32(p + first, known.space_rows.data());
        if (space & (space << 1 | after)) {
            read_until(first + 32);
            continue;
        }
        for (std::size_t i = 0; i < 32; ++i) hashes[count + i] = known.hashes[p[first + i]];
        if (starts) {
            const std::uint32_t here = position + static_cast<std::uint32_t>(first);
            for (std::uint32_t i = 0; i < 32; ++i) starts[count + i] = here + i;
            for (std::uint32_t i = 0; i < 32; ++i) ends[count + i] = here + i + 1;
        }
        after = space >> 31;
        first += 32;
        count += 32;
    }
#endif
    read_until(size);
    after_space = after != 0;
    p += size;
    return count;
}

}  // namespace lookalike
