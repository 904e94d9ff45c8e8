#include "text/utf8.hpp"

#include "base/dispatch.hpp"

#if LOOKALIKE_HAS_LEVELS
#include "base/intrinsics.hpp"
#endif

namespace lookalike {
#if LOOKALIKE_HAS_LEVELS
namespace {

// Whether all of it is well-formed UTF-8 (Keiser and Lemire, "Validating UTF-8 in less than one instruction per byte", 2021): three look-ups by halves of
// two neighbouring bytes name what can be wrong with them, and what all three name is.
LOOKALIKE_AVX2 bool is_utf8_avx2(const std::uint8_t* p, std::size_t size) {
    constexpr char kTooShort = 1, kTooLong = 2, kOverlong3 = 4, kTooLarge = 8, kSurrogate = 16, kOverlong2 = 32, kOverlong4 = 64;
    constexpr char kTooLarge1000 = 64, kTwoTails = -128, kAnyLow = kTooShort | kTooLong | kTwoTails;
    constexpr char kLargeLow = kAnyLow | kTooLarge | kTooLarge1000, kTail = kTooLong | kOverlong2 | kTwoTails;
    const __m256i by_first_high = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(kTooLong, kTooLong, kTooLong, kTooLong, kTooLong, kTooLong, kTooLong, kTooLong, kTwoTails, kTwoTails, kTwoTails, kTwoTails,
                      kTooShort | kOverlong2, kTooShort, kTooShort | kOverlong3 | kSurrogate, kTooShort | kTooLarge | kTooLarge1000 | kOverlong4));
    const __m256i by_first_low = _mm256_broadcastsi128_si256(_mm_setr_epi8(kAnyLow | kOverlong3 | kOverlong2 | kOverlong4, kAnyLow | kOverlong2, kAnyLow,
                                                                           kAnyLow, kAnyLow | kTooLarge, kLargeLow, kLargeLow, kLargeLow, kLargeLow, kLargeLow,
                                                                           kLargeLow, kLargeLow, kLargeLow, kLargeLow | kSurrogate, kLargeLow, kLargeLow));
    const __m256i by_second_high = _mm256_broadcastsi128_si256(_mm_setr_epi8(
        kTooShort, kTooShort, kTooShort, kTooShort, kTooShort, kTooShort, kTooShort, kTooShort, kTail | kOverlong3 | kTooLarge1000 | kOverlong4,
        kTail | kOverlong3 | kTooLarge, kTail | kSurrogate | kTooLarge, kTail | kSurrogate | kTooLarge, kTooShort, kTooShort, kTooShort, kTooShort));
    const __m256i half = _mm256_set1_epi8(0x0F);
    __m256i before = _mm256_setzero_si256(), wrong = _mm256_setzero_si256();
    const auto look = [&](__m256i bytes) LOOKALIKE_AVX2 {
        if (_mm256_movemask_epi8(_mm256_or_si256(before, bytes)) != 0) {
            const __m256i across = _mm256_permute2x128_si256(before, bytes, 0x21);
            const __m256i first = _mm256_alignr_epi8(bytes, across, 15);
            const __m256i named = _mm256_and_si256(_mm256_and_si256(_mm256_shuffle_epi8(by_first_high, _mm256_and_si256(_mm256_srli_epi16(first, 4), half)),
                                                                    _mm256_shuffle_epi8(by_first_low, _mm256_and_si256(first, half))),
                                                   _mm256_shuffle_epi8(by_second_high, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half)));
            // A third byte, or a fourth, is where two tails in a row are right, and nothing else is.
            const __m256i third = _mm256_subs_epu8(_mm256_alignr_epi8(bytes, across, 14), _mm256_set1_epi8(0x60));
            const __m256i fourth = _mm256_subs_epu8(_mm256_alignr_epi8(bytes, across, 13), _mm256_set1_epi8(0x70));
            const __m256i wanted = _mm256_and_si256(_mm256_or_si256(third, fourth), _mm256_set1_epi8(-128));
            wrong = _mm256_or_si256(wrong, _mm256_xor_si256(wanted, named));
        }
        before = bytes;
    };
    std::size_t done = 0;
    for (; done + 32 <= size; done += 32) look(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + done)));
    alignas(32) std::uint8_t rest[32] = {};  // zeros behind the end: what is cut off there is too short
    if (done < size) std::memcpy(rest, p + done, size - done);
    look(_mm256_load_si256(reinterpret_cast<const __m256i*>(rest)));
    return _mm256_testz_si256(wrong, wrong) != 0;
}

}  // namespace
#endif

bool is_surely_utf8([[maybe_unused]] const std::uint8_t* p, [[maybe_unused]] std::size_t size) {
#if LOOKALIKE_HAS_LEVELS
    if (kLevel != Level::plain) return is_utf8_avx2(p, size);
#endif
    return false;
}

unsigned sequence_length(const std::uint8_t* p, const std::uint8_t* end) {
    const auto tail = [&](std::ptrdiff_t i) { return (p[i] & 0xC0) == 0x80; };
    const std::ptrdiff_t room = end - p;
    if (p[0] >= 0xC2 && p[0] <= 0xDF) return room >= 2 && tail(1) ? 2 : 0;
    if (p[0] >= 0xE0 && p[0] <= 0xEF) {
        if (room < 3 || !tail(1) || !tail(2) || (p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F)) return 0;
        return 3;
    }
    if (p[0] >= 0xF0 && p[0] <= 0xF4) {
        if (room < 4 || !tail(1) || !tail(2) || !tail(3) || (p[0] == 0xF0 && p[1] < 0x90) || (p[0] == 0xF4 && p[1] > 0x8F)) return 0;
        return 4;
    }
    return 0;
}

bool is_utf8(const std::uint8_t* p, std::size_t size) {
    if (is_surely_utf8(p, size)) return true;
    for (const std::uint8_t* const end = p + size; p < end;) {
        const unsigned length = *p < 0x80 ? 1 : sequence_length(p, end);
        if (length == 0) return false;
        p += length;
    }
    return true;
}

}  // namespace lookalike
