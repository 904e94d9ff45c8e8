#include "text/short_tokens.hpp"

#include <bit>

#include "base/dispatch.hpp"
#include "base/hash.hpp"

#if LOOKALIKE_HAS_LEVELS
#include "base/intrinsics.hpp"
#endif

namespace lookalike {
namespace {

// One at a time: AVX2 has no product of words, and takes ten operations for what a processor does in one. Long ones are listed without a branch for each
// token: which ones these are, no processor can guess.
LOOKALIKE_INLINED void hash_one_by_one(const std::uint8_t* bytes, const std::size_t* begins, const std::size_t* ends, std::size_t count, std::uint64_t* out,
                                       LongTokens& longs) {
    std::size_t listed = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t size = ends[i] - begins[i];
        const std::uint64_t word = load64(bytes + begins[i]) & (~0ULL >> ((64 - 8 * size) & 63));
        out[i] = finish(absorb(size * kGolden, word));
        longs.numbers[listed] = static_cast<std::uint32_t>(i);
        listed += size > 8;
    }
    longs.count = listed;
}

#if LOOKALIKE_HAS_LEVELS

// Eight words. What compilers have operators for is written with them.
using Words = std::uint64_t __attribute__((vector_size(64)));

// What depends on the size of a token alone, for sizes 1 to 8.
constexpr Words kStarts = {1 * kGolden, 2 * kGolden, 3 * kGolden, 4 * kGolden, 5 * kGolden, 6 * kGolden, 7 * kGolden, 8 * kGolden};
constexpr Words kMasks = {~0ULL >> 56, ~0ULL >> 48, ~0ULL >> 40, ~0ULL >> 32, ~0ULL >> 24, ~0ULL >> 16, ~0ULL >> 8, ~0ULL};

// Eight tokens, or those of `there`; the others are read as well. They are loaded one by one: to gather them takes longer on many processors.
[[gnu::always_inline]] LOOKALIKE_AVX512 inline void hash_eight(const std::uint8_t* bytes, const std::size_t* begins, const std::size_t* ends, __mmask8 there,
                                                               std::size_t first, std::uint64_t* out, LongTokens& longs) {
    Words from, size;
    std::memcpy(&from, begins, sizeof from);
    std::memcpy(&size, ends, sizeof size);
    size -= from;
    Words x = {load64(bytes + begins[0]), load64(bytes + begins[1]), load64(bytes + begins[2]), load64(bytes + begins[3]),
               load64(bytes + begins[4]), load64(bytes + begins[5]), load64(bytes + begins[6]), load64(bytes + begins[7])};
    const __m512i which = __m512i(size - 1);  // the lowest three bits count
    x = (x & Words(_mm512_maskz_permutexvar_epi64(0xFF, which, __m512i(kMasks)))) ^ Words(_mm512_maskz_permutexvar_epi64(0xFF, which, __m512i(kStarts)));
    x *= kBlockMultiplier;
    x ^= x >> 32;
    x *= kTokenMultiplier;
    x ^= x >> 29;
    _mm512_mask_storeu_epi64(out + first, there, __m512i(x));
    const __mmask8 is_long = _mm512_mask_cmpgt_epu64_mask(there, __m512i(size), _mm512_set1_epi64(8));
    const __m256i numbers = _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(static_cast<int>(first)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(longs.numbers + longs.count), _mm256_maskz_compress_epi32(is_long, numbers));
    longs.count += static_cast<std::size_t>(std::popcount(static_cast<unsigned>(is_long)));
}

LOOKALIKE_AVX512 void hash_by_eight(const std::uint8_t* bytes, const std::size_t* begins, const std::size_t* ends, std::size_t count, std::uint64_t* out,
                                    LongTokens& longs) {
    longs.count = 0;
    std::size_t i = 0;
    for (; i + 8 <= count; i += 8) hash_eight(bytes, begins + i, ends + i, 0xFF, i, out, longs);
    if (i == count) return;
    const auto there = static_cast<__mmask8>((1U << (count - i)) - 1);
    std::size_t last_begins[8], last_ends[8];
    _mm512_storeu_si512(last_begins, _mm512_maskz_loadu_epi64(there, begins + i));
    _mm512_storeu_si512(last_ends, _mm512_maskz_loadu_epi64(there, ends + i));
    hash_eight(bytes, last_begins, last_ends, there, i, out, longs);
}

#endif

}  // namespace

void hash_short_tokens(const std::uint8_t* bytes, const std::size_t* begins, const std::size_t* ends, std::size_t count, std::uint64_t* out,
                       LongTokens& longs) {
#if LOOKALIKE_HAS_LEVELS
    if (kLevel == Level::avx512) return hash_by_eight(bytes, begins, ends, count, out, longs);
#endif
    widest<hash_one_by_one>(bytes, begins, ends, count, out, longs);
}

}  // namespace lookalike
