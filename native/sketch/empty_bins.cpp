#include "sketch/empty_bins.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "base/hash.hpp"
#include "sketch/minhash.hpp"

#if LOOKALIKE_HAS_LEVELS
#include "base/intrinsics.hpp"
#endif

namespace lookalike {
namespace {

constexpr std::size_t kMostBins = 128;  // two words of a bitmap
constexpr std::size_t kStep = 16;

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

// 32 bins from there on: a bit for each, set where it is empty.
[[gnu::always_inline]] LOOKALIKE_AVX2 inline int empty_among(const std::uint32_t* bins) {
    __m256i equal[4];
    for (std::size_t i = 0; i < 4; ++i) {
        equal[i] = _mm256_cmpeq_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(bins + 8 * i)), _mm256_set1_epi32(-1));
    }
    const __m256i packed = _mm256_packs_epi16(_mm256_packs_epi32(equal[0], equal[1]), _mm256_packs_epi32(equal[2], equal[3]));
    // Packing works in halves of a vector: four bins at a time have to be put in order again.
    return _mm256_movemask_epi8(_mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)));
}

// All of them: bin i is bit i & 7 of byte i >> 3.
[[gnu::always_inline]] LOOKALIKE_AVX2 inline __m128i empty_bins(const std::uint32_t* bins, std::size_t size) {
    static_assert(kMostBins == 128);
    if (size == 128) return _mm_setr_epi32(empty_among(bins), empty_among(bins + 32), empty_among(bins + 64), empty_among(bins + 96));
    if (size == 64) return _mm_setr_epi32(empty_among(bins), empty_among(bins + 32), 0, 0);
    if (size == 32) return _mm_setr_epi32(empty_among(bins), 0, 0, 0);
    int empty = 0;
    for (std::size_t i = 0; i < size; ++i) empty |= static_cast<int>(bins[i] == kEmptyBin) << i;
    return _mm_setr_epi32(empty, 0, 0, 0);
}

// Sixteen throws are looked at in this order, eight and eight: so they come out of the vectors they are computed in.
constexpr std::array<std::uint8_t, 8> kFirstEight = {0, 1, 4, 5, 8, 9, 12, 13};
constexpr unsigned kSecondEight = 2;  // the others are so much later

// The throws of a pattern of lanes, one byte each.
constexpr std::array<std::uint64_t, 256> kThrowsOf = [] {
    std::array<std::uint64_t, 256> throws{};
    for (unsigned pattern = 0; pattern < 256; ++pattern) {
        unsigned found = 0;
        for (unsigned lane = 0; lane < 8; ++lane) {
            if (pattern >> lane & 1) throws[pattern] |= std::uint64_t{kFirstEight[lane]} << (8 * found++);
        }
    }
    return throws;
}();

// The lanes of the first `left` throws.
constexpr unsigned lanes_of_first(std::size_t left, unsigned later) {
    unsigned lanes = 0;
    for (unsigned lane = 0; lane < 8; ++lane) lanes |= static_cast<unsigned>(kFirstEight[lane] + later < left) << lane;
    return lanes;
}

constexpr auto kLanesOfFirst = [] {
    std::array<std::array<std::uint8_t, 2>, kStep + 1> lanes{};
    for (std::size_t left = 0; left <= kStep; ++left) {
        lanes[left] = {static_cast<std::uint8_t>(lanes_of_first(left, 0)), static_cast<std::uint8_t>(lanes_of_first(left, kSecondEight))};
    }
    return lanes;
}();

// Throws of one look at the empty bins, and which of them hit one, without a branch: how many do is hard to foretell.
struct Look {
    static constexpr std::size_t kMost = 128;
    std::uint64_t mixed[kMost];    // what mix makes of each throw before its last step
    std::uint8_t hits[kMost + 8];  // the numbers of those that hit

    // Returns how many there are now.
    std::size_t add(unsigned lanes, std::size_t first, std::size_t count) {
        const std::uint64_t numbers = kThrowsOf[lanes] + first * 0x0101010101010101ULL;
        std::memcpy(hits + count, &numbers, sizeof numbers);
        return count + static_cast<std::size_t>(std::popcount(lanes));
    }
};

// Sixteen throws, or the `left` first of them. Returns how many hits there are now.
[[gnu::always_inline]] LOOKALIKE_AVX2 inline std::size_t look_at(const std::uint64_t* features, std::size_t first, std::size_t left, __m256i offset,
                                                                 __m256i empty, __m128i to_place, Look& look, std::size_t hits) {
    constexpr std::uint64_t kFirst = 0xBF58476D1CE4E5B9ULL, kSecond = 0x94D049BB133111EBULL;  // of mix
    const __m256i factor = in_all_lanes(kFirst), swapped = in_all_lanes(std::rotl(kFirst, 32));
    const __m256i factor2 = in_all_lanes(kSecond), swapped2 = in_all_lanes(std::rotl(kSecond, 32));
    __m256 mixed[kStep / 4];
    for (std::size_t i = 0; i < kStep / 4; ++i) {
        __m256i x = _mm256_add_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(features + first + 4 * i)), offset);
        x = product(_mm256_xor_si256(x, _mm256_srli_epi64(x, 30)), factor, swapped);
        x = product(_mm256_xor_si256(x, _mm256_srli_epi64(x, 27)), factor2, swapped2);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(look.mixed + first + 4 * i), x);
        mixed[i] = _mm256_castsi256_ps(x);
    }
    // The last step of mix leaves the uppermost bits as they are: the place is known from the upper halves.
    const __m256i early = _mm256_srl_epi32(_mm256_castps_si256(_mm256_shuffle_ps(mixed[0], mixed[1], 0xDD)), to_place);
    const __m256i late = _mm256_srl_epi32(_mm256_castps_si256(_mm256_shuffle_ps(mixed[2], mixed[3], 0xDD)), to_place);
    const __m256i places = _mm256_packus_epi32(early, late);
    const __m256i bytes = _mm256_shuffle_epi8(empty, _mm256_or_si256(_mm256_srli_epi16(places, 3), _mm256_set1_epi16(-0x8000)));
    const __m256i powers = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201ULL));
    const __m256i bits = _mm256_shuffle_epi8(powers, _mm256_and_si256(places, _mm256_set1_epi16(7)));  // in the lower byte; the upper one of `bytes` is zero
    const __m256i full = _mm256_cmpeq_epi16(_mm256_and_si256(bytes, bits), _mm256_setzero_si256());
    const unsigned hit = ~static_cast<unsigned>(_mm256_movemask_epi8(_mm256_packs_epi16(full, full)));
    const std::array<std::uint8_t, 2>& there = kLanesOfFirst[std::min(left, kStep)];
    hits = look.add(hit & there[0], first, hits);
    return look.add(hit >> 16 & there[1], first + kSecondEight, hits);
}

LOOKALIKE_AVX2 void throw_at_empty_avx2(Throws throws, std::size_t round, std::size_t rounds, std::uint32_t* bins, std::size_t size) {
    const int place_bits = static_cast<int>(std::bit_width(size) - 1);  // a size is a power of two
    const __m128i to_place = _mm_cvtsi32_si128(32 - place_bits);
    const unsigned value_bits = 32 - throws.shift;
    const std::size_t in_round = throws.count / rounds;
    for (; round < size; round += rounds) {
        // For all throws of a round the same bins are empty: of those that hit one, the smallest stays.
        const __m128i empty = empty_bins(bins, size);
        if (_mm_testz_si128(empty, empty)) return;
        const std::size_t count = std::min(rounds, size - round) * in_round;
        const __m256i offset = in_all_lanes(throws.offset), in_both_halves = _mm256_broadcastsi128_si256(empty);
        for (std::size_t at = 0; at < count; at += Look::kMost) {
            Look look;
            const std::size_t here = std::min(Look::kMost, count - at);
            std::size_t hits = 0;
            for (std::size_t i = 0; i < here; i += kStep) hits = look_at(throws.features + at, i, here - i, offset, in_both_halves, to_place, look, hits);
            for (std::size_t k = 0; k < hits; ++k) {
                const std::size_t i = look.hits[k];
                const std::uint64_t hash = look.mixed[i] ^ look.mixed[i] >> 31;
                const std::uint32_t value =
                    static_cast<std::uint32_t>(throws.prefix + throws.prefixes[at + i]) | static_cast<std::uint32_t>(hash) >> throws.shift;
                keep_smaller(bins[hash >> (64 - place_bits)], value);
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
