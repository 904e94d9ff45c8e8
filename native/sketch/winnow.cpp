#include "sketch/winnow.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "base/dispatch.hpp"

#if LOOKALIKE_HAS_LEVELS
#include "base/intrinsics.hpp"
#endif

namespace lookalike {
namespace {

constexpr std::size_t kMaxPlaces = 32;   // bounds the work on repetitive texts …
constexpr std::size_t kMaxOverlap = 64;  // … and so does this: tokens that a run may share with the one before it

// Places of each kept value, ascending, as an index sorted by value.
std::vector<std::uint32_t> by_value(const Anchors& side) {
    std::vector<std::uint32_t> order(side.values.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return side.values[a] < side.values[b]; });
    return order;
}

// Covers `from` with runs that also stand in `to`.
void cover(const Anchors& from, const Anchors& to, unsigned n, std::vector<bool>& covered_to, std::vector<SharedRun>& runs) {
    const std::vector<std::uint32_t> order = by_value(to);
    std::size_t covered = 0;  // tokens of `from` before this one are done
    for (std::size_t i = 0; i < from.values.size(); ++i) {
        const std::size_t at = from.positions[i];
        if (at + n <= covered) continue;
        const std::size_t floor = std::min(at, covered - std::min(covered, kMaxOverlap));  // how far back a run may reach
        const std::uint64_t value = from.values[i];
        auto place = std::lower_bound(order.begin(), order.end(), value, [&](std::uint32_t k, std::uint64_t v) { return to.values[k] < v; });
        SharedRun best{0, 0, 0};
        for (std::size_t tried = 0; tried < kMaxPlaces && place != order.end() && to.values[*place] == value; ++tried, ++place) {
            const std::size_t there = to.positions[*place];
            std::size_t back = 0, forth = 0;
            while (at - back > floor && there > back && from.tokens[at - back - 1] == to.tokens[there - back - 1]) ++back;
            while (at + forth < from.tokens.size() && there + forth < to.tokens.size() && from.tokens[at + forth] == to.tokens[there + forth]) {
                ++forth;
            }
            if (back + forth > best.length) {
                best = {static_cast<std::uint32_t>(at - back), static_cast<std::uint32_t>(there - back), static_cast<std::uint32_t>(back + forth)};
            }
        }
        if (best.length < n) continue;  // equal hashes of unequal tokens, or no place at all
        covered = std::max<std::size_t>(covered, best.left + best.length);
        std::fill_n(covered_to.begin() + best.right, best.length, true);
        runs.push_back(best);
    }
}

}  // namespace

namespace {

constexpr std::size_t kSmallWindow = 16;
constexpr std::size_t kBlock = 256;

// Whether a hash is kept: whether a whole window fits into the neighbours that it beats, before it those that are not smaller, behind it those that are
// larger. That is a local rule, so it needs no branches, while following the smallest of a sliding window mispredicts one at every other step.
// `hashes` has `window` - 1 readable neighbours on both sides of the block. They are signed: that order the lanes know.
LOOKALIKE_INLINED void choose_here(const std::int64_t* hashes, std::size_t size, std::size_t window, std::uint64_t* chosen) {
    std::uint64_t going[kBlock], beaten[kBlock];
    for (std::size_t i = 0; i < size; ++i) beaten[i] = 0;
    for (int side = 0; side < 2; ++side) {
        for (std::size_t i = 0; i < size; ++i) going[i] = 1;
        for (std::size_t step = 1; step < window; ++step) {
            const std::int64_t* other = side == 0 ? hashes - step : hashes + step;
            for (std::size_t i = 0; i < size; ++i) {
                going[i] &= side == 0 ? other[i] >= hashes[i] : other[i] > hashes[i];
                beaten[i] += going[i];
            }
        }
    }
    for (std::size_t i = 0; i < size; ++i) chosen[i] = beaten[i] >= window - 1;
}

// The same for windows of four, which is what nearly everybody asks for, in one pass.
LOOKALIKE_INLINED void choose_of_four_here(const std::int64_t* hashes, std::size_t size, std::uint64_t* chosen) {
    for (std::size_t i = 0; i < size; ++i) {
        const std::int64_t* const h = hashes + i;
        const std::uint64_t left1 = h[-1] >= h[0], left2 = left1 & (h[-2] >= h[0]), left3 = left2 & (h[-3] >= h[0]);
        const std::uint64_t right1 = h[1] > h[0], right2 = right1 & (h[2] > h[0]), right3 = right2 & (h[3] > h[0]);
        chosen[i] = left3 | (left2 & right1) | (left1 & right2) | right3;
    }
}

void choose(const std::int64_t* hashes, std::size_t size, std::size_t window, std::uint64_t* chosen) {
    if (window == 4) return widest<choose_of_four_here>(hashes, size, chosen);
    widest<choose_here>(hashes, size, window, chosen);
}

// Unsigned numbers in the order of signed ones.
constexpr std::int64_t as_signed(std::uint64_t hash) { return static_cast<std::int64_t>(hash ^ 1ULL << 63); }

// A hash of zero at the start would beat what stands in front of the text: it counts what is really there.
bool zero_is_kept(std::span<const std::uint64_t> shingles, std::size_t at, std::size_t window) {
    std::size_t behind = 0;
    while (behind < window - 1 && at + behind + 1 < shingles.size() && shingles[at + behind + 1] > 0) ++behind;
    return std::min(at, window - 1) + behind >= window - 1;
}

std::size_t winnow_small(std::span<const std::uint64_t> shingles, std::size_t window, std::uint32_t* kept) {
    const std::size_t count = shingles.size(), edge = window - 1;
    std::int64_t padded[kBlock + 2 * kSmallWindow];
    std::uint64_t chosen[kBlock];
    std::size_t found = 0;
    for (std::size_t first = 0; first < count; first += kBlock) {
        const std::size_t size = std::min(kBlock, count - first);
        // Beyond the ends there is nothing to beat: a hash that always wins stands there.
        for (std::size_t i = 0; i < edge; ++i) {
            padded[i] = as_signed(first + i < edge ? 0 : shingles[first + i - edge]);
            padded[edge + size + i] = as_signed(first + size + i < count ? shingles[first + size + i] : 0);
        }
        for (std::size_t i = 0; i < size; ++i) padded[edge + i] = as_signed(shingles[first + i]);
        choose(padded + edge, size, window, chosen);
        for (std::size_t i = 0; first + i < edge && i < size; ++i) {
            if (shingles[first + i] == 0) chosen[i] = zero_is_kept(shingles, first + i, window);
        }
        for (std::size_t i = 0; i < size; ++i) {
            kept[found] = static_cast<std::uint32_t>(first + i);
            found += chosen[i];
        }
    }
    return found;
}

std::size_t winnow_large(std::span<const std::uint64_t> shingles, std::size_t window, std::uint32_t* kept) {
    std::size_t smallest = 0, found = 0;
    for (std::size_t i = 1; i < window; ++i) {
        if (shingles[i] <= shingles[smallest]) smallest = i;
    }
    kept[found++] = static_cast<std::uint32_t>(smallest);
    for (std::size_t last = window; last < shingles.size(); ++last) {
        const std::size_t first = last - window + 1;
        if (shingles[last] <= shingles[smallest]) {
            smallest = last;
        } else if (smallest < first) {
            smallest = first;
            for (std::size_t i = first + 1; i <= last; ++i) {
                if (shingles[i] <= shingles[smallest]) smallest = i;
            }
        } else {
            continue;
        }
        kept[found++] = static_cast<std::uint32_t>(smallest);
    }
    return found;
}

#if LOOKALIKE_HAS_LEVELS

// Windows of four, 64 hashes at a time: which hashes are beaten is known by bits, and what is kept is pressed together in the registers.

// Bit i: the hash so many places before the i-th of a block is not smaller. That the one behind it is larger is the same question, asked there.
struct NotSmaller {
    std::uint64_t one = 0, two = 0, three = 0;
};

constexpr std::uint64_t first_bits(std::size_t count) { return count >= 64 ? ~0ULL : (1ULL << count) - 1; }

// Which of a block are kept: `left` of it and of what follows are there.
inline std::uint64_t kept_of_four(const NotSmaller& here, const NotSmaller& next, std::size_t left) {
    const auto larger_behind = [&](std::uint64_t own, std::uint64_t others, unsigned places) {
        return ~(own >> places | others << (64 - places)) & first_bits(left - std::min<std::size_t>(left, places));
    };
    const std::uint64_t left1 = here.one, left2 = left1 & here.two, left3 = left2 & here.three;
    const std::uint64_t right1 = larger_behind(here.one, next.one, 1), right2 = right1 & larger_behind(here.two, next.two, 2);
    const std::uint64_t right3 = right2 & larger_behind(here.three, next.three, 3);
    return (left3 | (left2 & right1) | (left1 & right2) | right3) & first_bits(left);
}

// Comparisons of 32 hashes, four in a vector, as bits in their order. They are packed as they come: all of them would not fit into the registers.
struct Compared {
    __m256i sixteen[2];

    [[gnu::always_inline]] LOOKALIKE_AVX2 void pack(std::size_t half, __m256i a, __m256i b, __m256i c, __m256i d) {
        sixteen[half] = _mm256_packs_epi32(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
    }
    [[gnu::always_inline]] LOOKALIKE_AVX2 std::uint64_t bits() const {
        // Packing works in halves of a vector: now the first two of every four are in one half, the last two in the other.
        const __m256i quarters = _mm256_permute4x64_epi64(_mm256_packs_epi16(sixteen[0], sixteen[1]), 0xD8);
        const __m256i pairs = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15));
        return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_shuffle_epi8(quarters, pairs)));
    }
};

// The next 64. `before` are the last four in front of them, as signed numbers: that order the lanes know.
[[gnu::always_inline]] LOOKALIKE_AVX2 inline NotSmaller compared_with_earlier(const std::uint64_t* block, __m256i& before) {
    const __m256i sign = _mm256_set1_epi64x(static_cast<long long>(1ULL << 63));
    NotSmaller smaller;
    for (unsigned first = 0; first < 64; first += 32) {
        Compared one, two, three;
        for (std::size_t half = 0; half < 2; ++half) {
            __m256i back1[4], back2[4], back3[4];
            for (std::size_t i = 0; i < 4; ++i) {
                const __m256i own = _mm256_xor_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(block + first + 16 * half + 4 * i)), sign);
                const __m256i two_before = _mm256_permute2x128_si256(before, own, 0x21);
                back1[i] = _mm256_cmpgt_epi64(own, _mm256_alignr_epi8(own, two_before, 8));
                back2[i] = _mm256_cmpgt_epi64(own, two_before);
                back3[i] = _mm256_cmpgt_epi64(own, _mm256_alignr_epi8(two_before, before, 8));
                before = own;
            }
            one.pack(half, back1[0], back1[1], back1[2], back1[3]);
            two.pack(half, back2[0], back2[1], back2[2], back2[3]);
            three.pack(half, back3[0], back3[1], back3[2], back3[3]);
        }
        smaller.one |= one.bits() << first;
        smaller.two |= two.bits() << first;
        smaller.three |= three.bits() << first;
    }
    return {~smaller.one, ~smaller.two, ~smaller.three};
}

// The lanes of a pattern of bits, one behind the other: of eight lanes of 32 bits, and of four of 64 bits as pairs of those.
constexpr auto kLanesOf = [] {
    std::array<std::array<std::uint32_t, 8>, 256> lanes{};
    for (unsigned pattern = 0; pattern < 256; ++pattern) {
        for (unsigned lane = 0, found = 0; lane < 8; ++lane) {
            if (pattern >> lane & 1) lanes[pattern][found++] = lane;
        }
    }
    return lanes;
}();
constexpr auto kPairsOf = [] {
    std::array<std::array<std::uint32_t, 8>, 16> lanes{};
    for (unsigned pattern = 0; pattern < 16; ++pattern) {
        for (unsigned lane = 0, found = 0; lane < 4; ++lane) {
            if (pattern >> lane & 1) lanes[pattern][found++] = 2 * lane, lanes[pattern][found++] = 2 * lane + 1;
        }
    }
    return lanes;
}();

[[gnu::always_inline]] LOOKALIKE_AVX2 inline void press(const void* from, const std::uint32_t* lanes, void* to) {
    const __m256i all = _mm256_loadu_si256(static_cast<const __m256i*>(from));
    _mm256_storeu_si256(static_cast<__m256i*>(to), _mm256_permutevar8x32_epi32(all, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(lanes))));
}

LOOKALIKE_AVX2 std::size_t winnow_of_four_avx2(std::span<const std::uint64_t> shingles, const std::uint32_t* starts, const std::uint32_t* ends,
                                               const KeptSpans& kept) {
    const std::size_t count = shingles.size();
    __m256i before = _mm256_setzero_si256();
    const auto compared = [&](std::size_t first) LOOKALIKE_AVX2 {
        if (first + 64 <= count) return compared_with_earlier(shingles.data() + first, before);
        std::uint64_t last[64] = {};
        std::copy_n(shingles.data() + first, count - first, last);
        return compared_with_earlier(last, before);
    };
    NotSmaller here = compared(0);
    here.one &= ~1ULL, here.two &= ~3ULL, here.three &= ~7ULL;  // nothing stands before the first
    std::size_t found = 0;
    for (std::size_t first = 0; first < count; first += 64) {
        const NotSmaller next = first + 64 < count ? compared(first + 64) : NotSmaller{};
        std::uint64_t chosen = kept_of_four(here, next, count - first);
        here = next;
        if (first + 64 > count) {
            for (; chosen; chosen &= chosen - 1, ++found) {
                const std::size_t at = first + static_cast<std::size_t>(std::countr_zero(chosen));
                kept.values[found] = shingles[at], kept.starts[found] = starts[at], kept.ends[found] = ends[at];
            }
            break;
        }
        for (std::size_t at = first; at < first + 64; at += 8, chosen >>= 8) {
            const std::size_t pattern = chosen & 255, lower = pattern & 15, upper = pattern >> 4;
            press(shingles.data() + at, kPairsOf[lower].data(), kept.values + found);
            press(shingles.data() + at + 4, kPairsOf[upper].data(), kept.values + found + std::popcount(lower));
            press(starts + at, kLanesOf[pattern].data(), kept.starts + found);
            press(ends + at, kLanesOf[pattern].data(), kept.ends + found);
            found += static_cast<std::size_t>(std::popcount(pattern));
        }
    }
    return found;
}

// `whole`: all 64 are there, and three before them.
template <bool whole>
[[gnu::always_inline]] LOOKALIKE_AVX512 inline NotSmaller compared_with_earlier(const std::uint64_t* block, std::uint64_t there, std::size_t before) {
    NotSmaller found;
    const auto compare = [&](__m512i own, std::size_t lane, std::size_t back, std::uint64_t& bits) LOOKALIKE_AVX512 {
        const std::uint64_t known = back > before ? there & ~first_bits(back - before) : there;
        const auto lanes = static_cast<__mmask8>(known >> lane);
        const __m512i other = whole ? _mm512_loadu_si512(block + lane - back) : _mm512_maskz_loadu_epi64(lanes, block + lane - back);
        const __mmask8 not_smaller = _mm512_cmpge_epu64_mask(other, own);
        bits |= static_cast<std::uint64_t>(whole ? not_smaller : not_smaller & lanes) << lane;
    };
    for (std::size_t lane = 0; lane < 64; lane += 8) {
        const __m512i own = whole ? _mm512_loadu_si512(block + lane) : _mm512_maskz_loadu_epi64(static_cast<__mmask8>(there >> lane), block + lane);
        compare(own, lane, 1, found.one);
        compare(own, lane, 2, found.two);
        compare(own, lane, 3, found.three);
    }
    return found;
}

LOOKALIKE_AVX512 std::size_t winnow_of_four_avx512(std::span<const std::uint64_t> shingles, const std::uint32_t* starts, const std::uint32_t* ends,
                                                   const KeptSpans& given) {
    const KeptSpans kept = given;  // a copy that nothing else writes to
    const std::size_t count = shingles.size();
    const auto compared = [&](std::size_t first) LOOKALIKE_AVX512 {
        if (first > 0 && first + 64 <= count) return compared_with_earlier<true>(shingles.data() + first, ~0ULL, first);
        return compared_with_earlier<false>(shingles.data() + first, first < count ? first_bits(count - first) : 0, first);
    };
    std::size_t found = 0, found_spans = 0;
    NotSmaller here = compared(0);
    for (std::size_t first = 0; first < count; first += 64) {
        const NotSmaller next = first + 64 < count ? compared(first + 64) : NotSmaller{};
        const std::uint64_t chosen = kept_of_four(here, next, count - first);
        here = next;
        for (std::size_t lane = 0; lane < 64; lane += 8) {
            const auto lanes = static_cast<__mmask8>(chosen >> lane);
            const __m512i values = _mm512_maskz_loadu_epi64(lanes, shingles.data() + first + lane);
            _mm512_storeu_si512(kept.values + found, _mm512_maskz_compress_epi64(lanes, values));
            found += static_cast<std::size_t>(std::popcount(static_cast<unsigned>(lanes)));
        }
        for (std::size_t lane = 0; lane < 64; lane += 16) {
            const auto lanes = static_cast<__mmask16>(chosen >> lane);
            const auto press = [&](const std::uint32_t* from, std::uint32_t* to)
                                   LOOKALIKE_AVX512 { _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(lanes, _mm512_maskz_loadu_epi32(lanes, from))); };
            press(starts + first + lane, kept.starts + found_spans);
            press(ends + first + lane, kept.ends + found_spans);
            found_spans += static_cast<std::size_t>(std::popcount(static_cast<unsigned>(lanes)));
        }
    }
    return found;
}

#endif

}  // namespace

std::size_t SpanWinnower::run(std::span<const std::uint64_t> shingles, const std::uint32_t* starts, const std::uint32_t* ends, const KeptSpans& kept) {
#if LOOKALIKE_HAS_LEVELS
    if (kLevel != Level::plain && window_ == 4 && shingles.size() >= window_) {
        return kLevel == Level::avx512 ? winnow_of_four_avx512(shingles, starts, ends, kept) : winnow_of_four_avx2(shingles, starts, ends, kept);
    }
#endif
    if (positions_.size() < shingles.size()) positions_.resize(shingles.size());
    const std::size_t found = winnow(shingles, window_, positions_.data());
    for (std::size_t k = 0; k < found; ++k) kept.values[k] = shingles[positions_[k]];
    for (std::size_t k = 0; k < found; ++k) kept.starts[k] = starts[positions_[k]];
    for (std::size_t k = 0; k < found; ++k) kept.ends[k] = ends[positions_[k]];
    return found;
}

std::size_t winnow(std::span<const std::uint64_t> shingles, std::size_t window, std::uint32_t* kept) {
    if (shingles.empty()) return 0;
    window = std::min(window, shingles.size());
    return window <= kSmallWindow ? winnow_small(shingles, window, kept) : winnow_large(shingles, window, kept);
}

std::vector<SharedRun> shared_runs(const Anchors& left, const Anchors& right, unsigned n) {
    std::vector<SharedRun> runs;
    std::vector<bool> covered_right(right.tokens.size(), false);
    cover(left, right, n, covered_right, runs);
    // What is left of the right side: further copies of places that the left side has once.
    std::vector<std::uint64_t> values;
    std::vector<std::uint32_t> positions;
    for (std::size_t i = 0; i < right.values.size(); ++i) {
        if (covered_right[right.positions[i]]) continue;
        values.push_back(right.values[i]);
        positions.push_back(right.positions[i]);
    }
    std::vector<SharedRun> copies;
    std::vector<bool> covered_left(left.tokens.size(), false);
    cover({right.tokens, values, positions}, left, n, covered_left, copies);
    for (const SharedRun& run : copies) runs.push_back({run.right, run.left, run.length});
    std::sort(runs.begin(), runs.end(), [](const SharedRun& a, const SharedRun& b) {
        return a.left != b.left ? a.left < b.left : a.right != b.right ? a.right < b.right : a.length < b.length;
    });
    return runs;
}

}  // namespace lookalike
