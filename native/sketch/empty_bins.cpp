#include "sketch/empty_bins.hpp"

#include <algorithm>
#include <bit>

#include "base/hash.hpp"
#include "sketch/minhash.hpp"

#if LOOKALIKE_HAS_LEVELS
#include <immintrin.h>
#endif

namespace lookalike {
namespace {

constexpr std::size_t kMostBins = 128;  // two words of a bitmap
constexpr std::size_t kStep = kThrowsBeyond;

LOOKALIKE_INLINED std::size_t count_empty_here(const std::uint32_t* bins, std::size_t size) {
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < size; ++i) count += bins[i] == kEmptyBin;
    return count;
}

#if LOOKALIKE_HAS_LEVELS

// Four products modulo 2^64. `swapped` is the factor with its halves exchanged.
[[gnu::always_inline]] LOOKALIKE_AVX2 inline __m256i product(__m256i x, __m256i factor, __m256i swapped) {
    const __m256i crossed = _mm256_mullo_epi32(x, swapped);
    const __m256i upper = _mm256_add_epi32(crossed, _mm256_slli_epi64(crossed, 32));
    return _mm256_add_epi64(_mm256_mul_epu32(x, factor), _mm256_blend_epi32(_mm256_setzero_si256(), upper, 0xAA));
}

[[gnu::always_inline]] LOOKALIKE_AVX2 inline __m256i in_all_lanes(std::uint64_t word) { return _mm256_set1_epi64x(static_cast<long long>(word)); }

struct Bitmap {
    std::uint64_t words[2] = {};
};

LOOKALIKE_AVX2 Bitmap empty_bins(const std::uint32_t* bins, std::size_t size) {
    Bitmap empty;
    if (size < 8) {
        for (std::size_t i = 0; i < size; ++i) empty.words[0] |= std::uint64_t{bins[i] == kEmptyBin} << i;
        return empty;
    }
    for (std::size_t i = 0; i < size; i += 8) {
        const __m256i equal = _mm256_cmpeq_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(bins + i)), _mm256_set1_epi32(-1));
        empty.words[i >> 6] |= std::uint64_t{static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(equal)))} << (i & 63);
    }
    return empty;
}

// Sixteen throws: what mix makes of them before its last step, and which of them hit an empty bin.
[[gnu::always_inline]] LOOKALIKE_AVX2 inline unsigned hits_among(const std::uint64_t* features, __m256i offset, __m256i low, __m256i high, __m128i to_place,
                                                                 std::uint64_t* mixed) {
    constexpr std::uint64_t kFirst = 0xBF58476D1CE4E5B9ULL, kSecond = 0x94D049BB133111EBULL;  // of mix
    const __m256i first = in_all_lanes(kFirst), first_swapped = in_all_lanes(std::rotl(kFirst, 32));
    const __m256i second = in_all_lanes(kSecond), second_swapped = in_all_lanes(std::rotl(kSecond, 32));
    unsigned hits = 0;
    for (unsigned i = 0; i < kStep; i += 4) {
        __m256i x = _mm256_add_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(features + i)), offset);
        x = product(_mm256_xor_si256(x, _mm256_srli_epi64(x, 30)), first, first_swapped);
        x = product(_mm256_xor_si256(x, _mm256_srli_epi64(x, 27)), second, second_swapped);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(mixed + i), x);
        // The last step of mix leaves the uppermost bits as they are: the place is known.
        const __m256i place = _mm256_srl_epi64(x, to_place);
        const __m256i word =
            _mm256_castpd_si256(_mm256_blendv_pd(_mm256_castsi256_pd(low), _mm256_castsi256_pd(high), _mm256_castsi256_pd(_mm256_slli_epi64(place, 57))));
        const __m256i bit = _mm256_sllv_epi64(word, _mm256_andnot_si256(place, in_all_lanes(63)));
        hits |= static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(bit))) << i;
    }
    return hits;
}

LOOKALIKE_AVX2 void throw_at_empty_avx2(Throws throws, std::size_t round, std::size_t rounds, std::uint32_t* bins, std::size_t size) {
    Bitmap empty = empty_bins(bins, size);
    const __m128i to_place = _mm_cvtsi32_si128(64 - static_cast<int>(std::bit_width(size) - 1));  // a size is a power of two
    const unsigned value_bits = 32 - throws.shift;
    const std::size_t in_round = throws.count / rounds;
    for (; round < size && (empty.words[0] | empty.words[1]); round += rounds) {
        const std::size_t count = std::min(rounds, size - round) * in_round;
        const __m256i low = in_all_lanes(empty.words[0]), high = in_all_lanes(empty.words[1]), offset = in_all_lanes(throws.offset);
        for (std::size_t at = 0; at < count; at += kStep) {
            std::uint64_t mixed[kStep];
            const std::size_t left = count - at;
            unsigned hits = hits_among(throws.features + at, offset, low, high, to_place, mixed);
            if (left < kStep) hits &= (1U << left) - 1;
            for (; hits; hits &= hits - 1) {
                const auto i = static_cast<std::size_t>(std::countr_zero(hits));
                const std::uint64_t hash = mixed[i] ^ mixed[i] >> 31;
                const std::size_t place = (hash >> 32) * size >> 32;
                bins[place] = std::min(bins[place], (throws.prefix + throws.prefixes[at + i]) | static_cast<std::uint32_t>(hash) >> throws.shift);
                empty.words[place >> 6] &= ~(std::uint64_t{1} << (place & 63));  // from the next rounds on
            }
        }
        throws.offset += rounds * kGolden;
        throws.prefix += static_cast<std::uint32_t>(rounds) << value_bits;
    }
}

#endif

}  // namespace

bool knows_empty_bins(std::size_t size) { return kLevel != Level::plain && size > 1 && size <= kMostBins && std::has_single_bit(size); }

std::size_t count_empty(const std::uint32_t* bins, std::size_t size) { return widest<count_empty_here>(bins, size); }

void throw_at_empty(Throws throws, std::size_t round, std::size_t rounds, std::uint32_t* bins, std::size_t size) {
#if LOOKALIKE_HAS_LEVELS
    throw_at_empty_avx2(throws, round, rounds, bins, size);
#else
    (void)throws, (void)round, (void)rounds, (void)bins, (void)size;
#endif
}

}  // namespace lookalike
