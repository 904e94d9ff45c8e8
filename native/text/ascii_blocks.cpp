#include "text/ascii_blocks.hpp"

#include "base/dispatch.hpp"

#if LOOKALIKE_HAS_LEVELS
#include "base/intrinsics.hpp"
#endif

namespace lookalike {
namespace {

std::uint64_t pack_bits(const std::uint8_t* flags) {
    std::uint64_t bits = 0;
    // The multiplication gathers the lowest bit of eight bytes in the highest byte.
    for (unsigned i = 0; i < 8; ++i) bits |= (load64(flags + 8 * i) * 0x0102040810204080ULL >> 56) << (8 * i);
    return bits;
}

std::size_t fold_plainly(const std::uint8_t* source, std::size_t blocks, bool fold, std::uint8_t* target, std::uint64_t* words, std::uint64_t* spaces) {
    alignas(64) std::uint8_t word[kAsciiBytes], space[kAsciiBytes];
    const std::uint8_t bit = fold ? 0x20 : 0;
    for (std::size_t block = 0; block < blocks; ++block, source += kAsciiBytes, target += kAsciiBytes) {
        std::uint64_t any = 0;
        for (unsigned i = 0; i < kAsciiBytes; i += 8) any |= load64(source + i);
        for (unsigned i = 0; i < kAsciiBytes; ++i) {
            const std::uint8_t c = source[i];
            const bool upper = static_cast<std::uint8_t>(c - 'A') < 26;
            const bool alphabetic = static_cast<std::uint8_t>((c | 0x20) - 'a') < 26;
            const bool digit = static_cast<std::uint8_t>(c - '0') < 10;
            target[i] = static_cast<std::uint8_t>(c | (upper ? bit : 0));
            word[i] = alphabetic | digit;
            space[i] = (c <= 0x20) | (c == 0x7F);
        }
        words[block] = pack_bits(word);
        spaces[block] = pack_bits(space);
        if (any & 0x8080808080808080ULL) return block;
    }
    return blocks;
}

#if LOOKALIKE_HAS_LEVELS

// By hand: compilers gather the bits of a block by steps.
LOOKALIKE_AVX512 std::size_t fold_avx512(const std::uint8_t* source, std::size_t blocks, bool fold, std::uint8_t* target, std::uint64_t* words,
                                         std::uint64_t* spaces) {
    const __m512i case_bit = _mm512_set1_epi8(0x20), before_letters = _mm512_set1_epi8('a'), before_digits = _mm512_set1_epi8('0');
    const __m512i letters = _mm512_set1_epi8(26), digits = _mm512_set1_epi8(10), control = _mm512_set1_epi8(0x20), last = _mm512_set1_epi8(0x7F);
    for (std::size_t block = 0; block < blocks; ++block, source += kAsciiBytes, target += kAsciiBytes) {
        const __m512i bytes = _mm512_loadu_si512(source);
        const __m512i lower = _mm512_or_si512(bytes, case_bit);
        const __mmask64 letter = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(lower, before_letters), letters);
        _mm512_storeu_si512(target, fold ? _mm512_mask_mov_epi8(bytes, letter, lower) : bytes);
        words[block] = letter | _mm512_cmplt_epu8_mask(_mm512_sub_epi8(bytes, before_digits), digits);
        spaces[block] = _mm512_cmple_epu8_mask(bytes, control) | _mm512_cmpeq_epi8_mask(bytes, last);
        if (_mm512_movepi8_mask(bytes)) return block;
    }
    return blocks;
}

// Those of the bytes that are below `end`, by what `_mm256_movemask_epi8` takes.
LOOKALIKE_AVX2 inline __m256i below(__m256i bytes, char end) {
    return _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, _mm256_set1_epi8(static_cast<char>(end - 1))), bytes);
}

LOOKALIKE_AVX2 std::size_t fold_avx2(const std::uint8_t* source, std::size_t blocks, bool fold, std::uint8_t* target, std::uint64_t* words,
                                     std::uint64_t* spaces) {
    const __m256i case_bit = _mm256_set1_epi8(0x20), folded = _mm256_set1_epi8(fold ? -1 : 0);
    for (std::size_t block = 0; block < blocks; ++block) {
        std::uint64_t word = 0, space = 0;
        unsigned other = 0;
        for (unsigned half = 0; half < 2; ++half, source += 32, target += 32) {
            const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(source));
            const __m256i lower = _mm256_or_si256(bytes, case_bit);
            const __m256i letter = below(_mm256_sub_epi8(lower, _mm256_set1_epi8('a')), 26);
            const __m256i digit = below(_mm256_sub_epi8(bytes, _mm256_set1_epi8('0')), 10);
            const __m256i white = _mm256_or_si256(below(bytes, 0x21), _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(0x7F)));
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(target), _mm256_blendv_epi8(bytes, lower, _mm256_and_si256(letter, folded)));
            word |= std::uint64_t{static_cast<unsigned>(_mm256_movemask_epi8(_mm256_or_si256(letter, digit)))} << (32 * half);
            space |= std::uint64_t{static_cast<unsigned>(_mm256_movemask_epi8(white))} << (32 * half);
            other |= static_cast<unsigned>(_mm256_movemask_epi8(bytes));
        }
        words[block] = word;
        spaces[block] = space;
        if (other) return block;
    }
    return blocks;
}

#endif

}  // namespace

std::size_t fold_ascii_blocks(const std::uint8_t* source, std::size_t blocks, bool fold, std::uint8_t* target, std::uint64_t* words, std::uint64_t* spaces) {
#if LOOKALIKE_HAS_LEVELS
    if (kLevel == Level::avx512) return fold_avx512(source, blocks, fold, target, words, spaces);
    if (kLevel == Level::avx2) return fold_avx2(source, blocks, fold, target, words, spaces);
#endif
    return fold_plainly(source, blocks, fold, target, words, spaces);
}

}  // namespace lookalike
