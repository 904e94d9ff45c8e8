#include "text/encoded_blocks.hpp"

#include <bit>

#include "base/dispatch.hpp"

#if LOOKALIKE_HAS_LEVELS
#include "base/intrinsics.hpp"
#endif

namespace lookalike {
#if LOOKALIKE_HAS_LEVELS
namespace {

constexpr std::size_t kUnits = 32;
// What is written behind the end of a half belongs to units that follow, each of which has a byte at least.
constexpr std::size_t kWritten = 64;

// Sixteen units: each in four bytes, of which those that it has are kept.
LOOKALIKE_PICKS inline std::size_t encode_half(__m256i units, std::uint8_t* out) {
    const __m512i code = _mm512_cvtepu16_epi32(units), tail = _mm512_set1_epi32(0x3F);
    const __mmask16 two = _mm512_cmpge_epu32_mask(code, _mm512_set1_epi32(0x80)), three = _mm512_cmpge_epu32_mask(code, _mm512_set1_epi32(0x800));
    const __m512i last = _mm512_and_si512(code, tail), middle = _mm512_and_si512(_mm512_srli_epi32(code, 6), tail);
    const __m512i of_two = _mm512_or_si512(_mm512_or_si512(_mm512_set1_epi32(0x80C0), _mm512_srli_epi32(code, 6)), _mm512_slli_epi32(last, 8));
    const __m512i of_three = _mm512_or_si512(_mm512_or_si512(_mm512_set1_epi32(0x8080E0), _mm512_srli_epi32(code, 12)),
                                             _mm512_or_si512(_mm512_slli_epi32(middle, 8), _mm512_slli_epi32(last, 16)));
    const __m512i bytes = _mm512_mask_mov_epi32(_mm512_mask_mov_epi32(code, two, of_two), three, of_three);
    const __m512i there =
        _mm512_mask_mov_epi32(_mm512_mask_mov_epi32(_mm512_set1_epi32(0x80), two, _mm512_set1_epi32(0x8080)), three, _mm512_set1_epi32(0x808080));
    const __mmask64 kept = _mm512_movepi8_mask(there);
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi8(kept, bytes));
    return static_cast<std::size_t>(std::popcount(kept));
}

LOOKALIKE_PICKS EncodedBlocks encode_picked(std::span<const std::uint16_t> units, std::uint8_t* out) {
    std::uint8_t* to = out;
    std::size_t done = 0;
    for (; units.size() - done >= kUnits + kWritten; done += kUnits) {
        const __m512i block = _mm512_loadu_si512(units.data() + done);
        if (_mm512_test_epi16_mask(block, _mm512_set1_epi16(static_cast<short>(0xFF80))) == 0) {
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi16_epi8(block));
            to += kUnits;
        } else {
            to += encode_half(_mm512_castsi512_si256(block), to);
            to += encode_half(_mm512_extracti64x4_epi64(block, 1), to);
        }
    }
    return {done, static_cast<std::size_t>(to - out)};
}

}  // namespace
#endif

EncodedBlocks encode_blocks([[maybe_unused]] std::span<const std::uint16_t> units, [[maybe_unused]] std::uint8_t* out) {
#if LOOKALIKE_HAS_LEVELS
    if (has_picks()) return encode_picked(units, out);
#endif
    return {0, 0};
}

}  // namespace lookalike
