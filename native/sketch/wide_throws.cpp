#include "sketch/wide_throws.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "base/dispatch.hpp"
#include "base/hash.hpp"
#include "sketch/empty_bins.hpp"
#include "sketch/minhash.hpp"

#if LOOKALIKE_HAS_LEVELS
#include "base/intrinsics.hpp"
#endif

namespace lookalike {

#if LOOKALIKE_HAS_LEVELS

namespace {

// Eight words. What compilers have operators for is written with them.
using Words = std::uint64_t __attribute__((vector_size(64)));

constexpr std::size_t kLeastBins = 64, kMostBins = 512;  // a bitmap of eight words, those of a vector
constexpr std::size_t kMostVectors = 32;                 // made at a time
constexpr std::size_t kThrows = 192;                     // of one look at the empty bins, or some more
// Of sets up to this size eight rounds of a feature make a vector, and no lane is idle; of larger ones, eight features of a round.
constexpr std::size_t kSmall = kMostVectors;
// While most bins are empty it costs more to look whether a throw hits one than to try it.
constexpr std::size_t kMostlyEmpty = 64;

[[gnu::always_inline]] LOOKALIKE_AVX512 inline Words in_all(std::uint64_t word) { return Words{} + word; }

// mix without its last step, which leaves the uppermost bits as they are: those that say the place.
[[gnu::always_inline]] LOOKALIKE_AVX512 inline Words nearly_mixed(Words x) {
    x ^= x >> 30;
    x *= 0xBF58476D1CE4E5B9ULL;
    x ^= x >> 27;
    return x * 0x94D049BB133111EBULL;
}

// The throws of a set, vector by vector.
struct Throws {
    const std::uint64_t* features;
    std::size_t vectors;  // of a step
    std::size_t step;     // rounds
    std::size_t steps;    // of a look
    std::size_t size;
    std::uint64_t round_bits;  // the round of a throw takes the place of bits that no value is made of
    Words lanes;               // the rounds of a vector's lanes, from that of the first on

    // A vector, moved on by its rounds.
    [[gnu::always_inline]] LOOKALIKE_AVX512 inline Words at(std::size_t vector, Words moved) const {
        if (step > 1) return in_all(features[vector]) + moved;
        Words loaded;
        std::memcpy(&loaded, features + kFeaturesAtATime * vector, sizeof loaded);
        return loaded + moved;
    }

    // Rounds of a look that begins here. The last step of small sets may have a round too many: it has a look of its own.
    std::size_t rounds(std::size_t round) const {
        const std::size_t whole = (size - round) / step;
        return whole == 0 ? step : std::min(steps, whole) * step;
    }
};

LOOKALIKE_AVX512 Throws throws_of(const std::uint64_t* features, std::size_t count, std::size_t size, unsigned value_bits) {
    const bool small = count <= kSmall;
    const std::size_t vectors = small ? count : (count + kFeaturesAtATime - 1) / kFeaturesAtATime;
    const std::size_t steps = std::max<std::size_t>(1, kThrows / kFeaturesAtATime / vectors);
    const std::uint64_t round_bits = ~0U >> value_bits;
    return {features, vectors, small ? std::size_t{8} : std::size_t{1}, steps, size, round_bits, small ? Words{0, 1, 2, 3, 4, 5, 6, 7} : in_all(0)};
}

// The first look: every throw is tried. Returns the round that comes next.
LOOKALIKE_AVX512 std::size_t throw_at_all(const Throws& throws, std::uint32_t* bins, unsigned value_bits) {
    const auto place_bits = static_cast<unsigned>(std::bit_width(throws.size) - 1);
    const Words shifts = in_all(std::uint64_t{32 - place_bits} << 32 | (32 - value_bits));  // of the upper and the lower half
    struct Try {
        std::uint32_t value, place;
    } tries[8 * kMostVectors];
    const std::size_t end = 1 + std::min(throws.steps, (throws.size - 1) / throws.step) * throws.step;
    std::size_t made = 0;
    for (std::size_t round = 1; round < end; round += throws.step) {
        const Words rounds = throws.lanes + round, moved = rounds * kGolden, prefix = (rounds << value_bits) | 0x80000000U;
        for (std::size_t i = 0; i < throws.vectors; ++i, made += 8) {
            Words x = nearly_mixed(throws.at(i, moved));
            x ^= x >> 31;
            _mm512_storeu_si512(tries + made, _mm512_or_si512(_mm512_maskz_srlv_epi32(0xFFFF, __m512i(x), __m512i(shifts)), __m512i(prefix)));
        }
    }
    for (std::size_t i = 0; i < made; ++i) keep_smaller(bins[tries[i].place], tries[i].value);
    return end;
}

// A bit for each bin, set where it is empty.
[[gnu::always_inline]] LOOKALIKE_AVX512 inline std::uint64_t empty_among_64(const std::uint32_t* bins) {
    std::uint64_t empty = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        empty |= std::uint64_t{_mm512_cmpeq_epi32_mask(_mm512_loadu_si512(bins + 16 * i), _mm512_set1_epi32(-1))} << 16 * i;
    }
    return empty;
}

// Returns whether there are any.
[[gnu::always_inline]] LOOKALIKE_AVX512 inline bool find_empty(const std::uint32_t* bins, std::size_t size, Words& found) {
    std::uint64_t empty[8] = {}, any = 0;
    for (std::size_t first = 0; first < size; first += 64) any |= empty[first / 64] = empty_among_64(bins + first);
    found = Words{empty[0], empty[1]};  // from registers: what was just written in pieces would be waited for
    if (size > 128) std::memcpy(&found, empty, sizeof empty);
    return any != 0;
}

// Throws that were made and not yet looked at: what mix makes of each before its last step, with its round.
struct Made {
    Words words[kMostVectors + 1];
    std::size_t vectors = 0;            // 0: there are no rounds left
    std::size_t round = 1, vector = 0;  // what comes next
    bool begin_look = true;             // for all throws of a round the same bins are empty: of those that hit one, the smallest stays
    bool round_too_many = false;        // in the last lanes
};

// Makes those that come next: all of a look, if they are not too many.
[[gnu::always_inline]] LOOKALIKE_AVX512 inline void make(const Throws& throws, const Made& before, Made& made) {
    std::size_t round = before.round, vector = before.vector, count = 0;
    made.begin_look = vector == 0;
    if (round < throws.size) {
        const std::size_t end = round + throws.rounds(round);
        made.round_too_many = end > throws.size;
        while (round < end && count < kMostVectors) {
            const Words rounds = throws.lanes + round, moved = rounds * kGolden;
            const std::size_t last = std::min(throws.vectors, vector + kMostVectors - count);
            for (; vector < last; ++vector, ++count) {
                const Words x = nearly_mixed(throws.at(vector, moved));
                made.words[count] = (x & ~throws.round_bits) | rounds;
            }
            if (vector == throws.vectors) round += throws.step, vector = 0;
        }
        made.words[count] = made.words[0];  // vectors are looked at in pairs; a throw that is tried twice changes nothing
    }
    made.vectors = count, made.round = round, made.vector = vector;
}

// Sixteen throws are looked at in this order: so their upper halves come out of two vectors.
constexpr auto kNumbers = [] {
    std::array<std::uint32_t, 8 * kMostVectors> numbers{};
    for (std::uint32_t i = 0; i < numbers.size(); ++i) numbers[i] = i / 16 * 16 + i % 16 / 4 * 2 + i % 4 / 2 * 8 + i % 2;
    return numbers;
}();
constexpr __mmask16 kAllLanes = 0xFFFF, kAllButLast = 0x5FFF;  // without the last of either vector

// The numbers of the throws that hit an empty bin. Returns how many there are.
[[gnu::always_inline]] LOOKALIKE_AVX512 inline std::size_t look_at(const Made& made, Words empty, unsigned to_place, std::uint32_t* hits) {
    const __mmask16 there = made.round_too_many ? kAllButLast : kAllLanes;
    std::size_t found = 0;
    for (std::size_t i = 0; i < made.vectors; i += 2) {
        const __m512 first = _mm512_castsi512_ps(__m512i(made.words[i])), second = _mm512_castsi512_ps(__m512i(made.words[i + 1]));
        const __m512i place = _mm512_maskz_srli_epi32(kAllLanes, _mm512_castps_si512(_mm512_maskz_shuffle_ps(kAllLanes, first, second, 0xDD)), to_place);
        const __m512i words = _mm512_maskz_permutexvar_epi32(kAllLanes, _mm512_maskz_srli_epi32(kAllLanes, place, 5), __m512i(empty));
        const __mmask16 hit = _mm512_mask_test_epi32_mask(there, _mm512_maskz_rorv_epi32(kAllLanes, words, place), _mm512_set1_epi32(1));
        _mm512_storeu_si512(hits + found, _mm512_maskz_compress_epi32(hit, _mm512_loadu_si512(kNumbers.data() + 8 * i)));
        found += static_cast<std::size_t>(std::popcount(static_cast<unsigned>(hit)));
    }
    return found;
}

LOOKALIKE_AVX512 bool throw_wide_here(const std::uint64_t* features, std::size_t count, std::uint32_t* bins, std::size_t size, unsigned value_bits) {
    const Throws throws = throws_of(features, count, size, value_bits);
    const auto place_bits = static_cast<unsigned>(std::bit_width(size) - 1);
    Made made[2];
    Made *here = &made[0], *next = &made[1];
    std::uint32_t hits[8 * kMostVectors + 16];
    if (count <= kMostlyEmpty) next->round = throw_at_all(throws, bins, value_bits);
    make(throws, *next, *here);
    Words empty{};
    while (true) {
        if (here->begin_look && !find_empty(bins, size, empty)) return true;
        if (here->vectors == 0) return false;
        const std::size_t found = look_at(*here, empty, 32 - place_bits, hits);
        // Before anything is done with the hits: how many there are is hard to foretell, and meanwhile the processor has these to do.
        make(throws, *here, *next);
        const auto* const words = reinterpret_cast<const std::uint64_t*>(here->words);
        for (std::size_t i = 0; i < found; ++i) {
            const std::uint64_t x = words[hits[i]];
            const std::uint32_t prefix = 0x80000000U | static_cast<std::uint32_t>(x & throws.round_bits) << value_bits;
            keep_smaller(bins[x >> (64 - place_bits)], prefix | static_cast<std::uint32_t>(x ^ x >> 31) >> (32 - value_bits));
        }
        std::swap(here, next);
    }
}

}  // namespace

bool knows_wide_throws(std::size_t size) { return kLevel == Level::avx512 && size >= kLeastBins && size <= kMostBins && std::has_single_bit(size); }

bool throw_wide(const std::uint64_t* features, std::size_t count, std::uint32_t* bins, std::size_t size, unsigned value_bits) {
    return throw_wide_here(features, count, bins, size, value_bits);
}

#else

bool knows_wide_throws(std::size_t) { return false; }

bool throw_wide(const std::uint64_t*, std::size_t, std::uint32_t*, std::size_t, unsigned) { return false; }

#endif

}  // namespace lookalike
