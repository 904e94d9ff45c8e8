#include "text/simple_tokens.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <tuple>
#include <utility>

#include "base/dispatch.hpp"
#include "text/character_form.hpp"

#if LOOKALIKE_HAS_LEVELS
#include "base/intrinsics.hpp"
#endif

namespace lookalike {
namespace {

std::uint32_t word_of(const std::uint8_t* utf8, unsigned size) {
    std::uint32_t word = 0;
    std::memcpy(&word, utf8, size);
    return word;
}

// The bits of a code point below U+10000 where the three bytes of UTF-8 have them, and nothing else.
constexpr std::uint32_t spread(std::uint32_t code) { return code >> 12 | (code & 0xFC0) << 2 | (code & 0x3F) << 16; }

// What the hash of a token begins with, by its size.
constexpr std::array<std::uint64_t, 9> kSizeStates = [] {
    std::array<std::uint64_t, 9> states{};
    for (std::size_t size = 0; size < states.size(); ++size) states[size] = size * kGolden;
    return states;
}();

// What is to be done with a code point; the lowest two bits are how many bytes it becomes.
constexpr unsigned kSize = 3, kInAuto = 4, kInPieces = 8, kSpaceBit = 16;  // a token in these modes
constexpr unsigned kHardInWords = 32, kHard = 64;                          // not one character of a simple kind, or part of a word

// For each code point below U+10000: what makes the beginning of its hash of its spread bits (XOR), and what is to be done with it. In pages of 64, most of
// which are the same: all ideographs share one.
struct Simple {
    std::array<std::uint16_t, 1024> directory{};  // where a page begins
    std::vector<std::uint64_t> changes;
    std::vector<std::uint8_t> kinds;

    Simple() {
        using Page = std::pair<std::array<std::uint64_t, 64>, std::array<std::uint8_t, 64>>;
        std::map<Page, std::uint16_t> pages;
        for (std::uint32_t first = 0; first < 0x10000; first += 64) {
            Page page;
            for (std::uint32_t i = 0; i < 64; ++i) std::tie(page.first[i], page.second[i]) = entry(first + i);
            const auto [found, is_new] = pages.try_emplace(page, static_cast<std::uint16_t>(changes.size()));
            if (is_new) {
                changes.insert(changes.end(), page.first.begin(), page.first.end());
                kinds.insert(kinds.end(), page.second.begin(), page.second.end());
            }
            directory[first / 64] = found->second;
        }
    }

    using Entry = std::pair<std::uint64_t, std::uint8_t>;

    static Entry entry(std::uint32_t code) {
        const Entry hard{0, kHard | kHardInWords};
        if (code < 0x80) {
            const unsigned kind = CharacterForm::of_ascii(static_cast<std::uint8_t>(code));
            return made(code, kind, code >= 'A' && code <= 'Z' ? code | 0x20U : code, 1);
        }
        if (code >= 0xD800 && code < 0xE000) return hard;
        const CharacterForm form(code);
        const CharacterForm::Item first = form.first();
        if (form.is_nothing() || !form.is_one() || first.size > 3 || form.joins()) return hard;
        return made(code, first.character_class, word_of(first.utf8, first.size), first.size);
    }

    static Entry made(std::uint32_t code, unsigned kind, std::uint32_t word, unsigned size) {
        const bool space = kind == CharacterForm::kSpace;
        if (space) word = ' ', size = 1;
        const unsigned tokens = kind == CharacterForm::kSingle ? kInAuto | kInPieces : kind == CharacterForm::kOther ? kInPieces : 0;
        const unsigned bits = size | tokens | (space ? kSpaceBit : 0) | (kind == CharacterForm::kWord ? kHardInWords : 0);
        return {spread(code) ^ word ^ kSizeStates[size], static_cast<std::uint8_t>(bits)};
    }
};

const Simple& simple() {
    static const Simple table;
    return table;
}

// Where a token begins and ends, in one word.
constexpr std::uint64_t span_at(std::uint32_t begin, std::uint32_t end) { return begin | std::uint64_t{end} << 32; }
constexpr std::uint64_t span_at(std::uint32_t one) { return span_at(one, one + 1); }

constexpr bool is_ideograph(std::uint32_t code) { return code - 0x4E00 <= 0x9FFF - 0x4E00; }

// Of an ideograph: they are all alike.
constexpr std::uint64_t kIdeographChange = 0x8080E0 ^ 3 * kGolden;
constexpr unsigned kMostInBlock = 64;

// The beginning of the hash of each unit, as if all were ideographs, and a bit for each that is none.
template <class Unit>
LOOKALIKE_INLINED std::uint64_t take_for_ideographs_here(const Unit* units, std::size_t count, std::uint64_t* words) {
    alignas(64) std::uint8_t other[kMostInBlock] = {};
    for (std::size_t i = 0; i < count; ++i) words[i] = spread(units[i]) ^ kIdeographChange;
    for (std::size_t i = 0; i < count; ++i) other[i] = !is_ideograph(units[i]);
    std::uint64_t bits = 0;
    // The multiplication gathers the lowest bit of eight bytes in the highest byte.
    for (std::size_t i = 0; i < count; i += 8) bits |= (load64(other + i) * 0x0102040810204080ULL >> 56) << i;
    return bits;
}

constexpr std::uint64_t low_bits(unsigned count) { return count >= 64 ? ~0ULL : (1ULL << count) - 1; }

LOOKALIKE_INLINED void hash_token_words_here(const std::uint64_t* words, std::size_t count, std::uint64_t* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = finish(absorb(0, words[i]));
}

// Code points of UTF-8, up to `most`. From `enough` on it ends in front of an ideograph.
struct Decoded {
    std::size_t count;
    const std::uint8_t* end;
};

// Of three bytes that are valid, the lowest ones of a word.
constexpr std::uint32_t code_of_three(std::uint64_t word) { return static_cast<std::uint32_t>((word & 0xF) << 12 | (word >> 2 & 0xFC0) | (word >> 16 & 0x3F)); }

#if LOOKALIKE_HAS_LEVELS
// Sixteen at a time, as long as they have three bytes; the code points go to codes[count] and on, not beyond `enough`.
LOOKALIKE_AVX512 Decoded decode_threes_avx512(const std::uint8_t* p, const std::uint8_t* end, std::size_t enough, std::size_t count, std::uint32_t* codes) {
    // Four characters are twelve bytes: first each twelve into a lane of their own, then each three into a word.
    const __m512i to_lanes = _mm512_setr_epi32(0, 1, 2, 2, 3, 4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 11);
    const __m512i to_words = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1));
    while (count + 16 <= enough && end - p >= 48) {
        const __m512i bytes = _mm512_maskz_loadu_epi32(0x0FFF, p);
        const __m512i words = _mm512_shuffle_epi8(_mm512_permutexvar_epi32(to_lanes, bytes), to_words);
        __m512i code = _mm512_and_si512(_mm512_slli_epi32(words, 12), _mm512_set1_epi32(0xF000));
        code = _mm512_or_si512(code, _mm512_and_si512(_mm512_srli_epi32(words, 2), _mm512_set1_epi32(0xFC0)));
        code = _mm512_or_si512(code, _mm512_and_si512(_mm512_srli_epi32(words, 16), _mm512_set1_epi32(0x3F)));
        __mmask16 valid = _mm512_cmpeq_epi32_mask(_mm512_and_si512(words, _mm512_set1_epi32(0xC0C0F0)), _mm512_set1_epi32(0x8080E0));
        valid = _mm512_mask_cmpge_epu32_mask(valid, code, _mm512_set1_epi32(0x800));
        valid = _mm512_mask_cmpge_epu32_mask(valid, _mm512_sub_epi32(code, _mm512_set1_epi32(0xD800)), _mm512_set1_epi32(0x800));
        _mm512_storeu_si512(codes + count, code);
        if (valid != 0xFFFF) {
            const auto taken = static_cast<std::size_t>(std::countr_one(static_cast<unsigned>(valid)));
            return {count + taken, p + 3 * taken};
        }
        count += 16;  // numbers that wait for nothing: the next sixteen are read before these are checked
        p += 48;
    }
    return {count, p};
}
#endif

#if LOOKALIKE_HAS_LEVELS
// The same, eight at a time.
LOOKALIKE_AVX2 Decoded decode_threes_avx2(const std::uint8_t* p, const std::uint8_t* end, std::size_t enough, std::size_t count, std::uint32_t* codes) {
    const __m256i to_lanes = _mm256_setr_epi32(0, 1, 2, 2, 3, 4, 5, 5);
    const __m256i to_words = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1));
    while (count + 8 <= enough && end - p >= 32) {
        const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
        const __m256i words = _mm256_shuffle_epi8(_mm256_permutevar8x32_epi32(bytes, to_lanes), to_words);
        __m256i code = _mm256_and_si256(_mm256_slli_epi32(words, 12), _mm256_set1_epi32(0xF000));
        code = _mm256_or_si256(code, _mm256_and_si256(_mm256_srli_epi32(words, 2), _mm256_set1_epi32(0xFC0)));
        code = _mm256_or_si256(code, _mm256_and_si256(_mm256_srli_epi32(words, 16), _mm256_set1_epi32(0x3F)));
        __m256i valid = _mm256_cmpeq_epi32(_mm256_and_si256(words, _mm256_set1_epi32(0xC0C0F0)), _mm256_set1_epi32(0x8080E0));
        valid = _mm256_and_si256(valid, _mm256_cmpgt_epi32(code, _mm256_set1_epi32(0x7FF)));
        valid = _mm256_andnot_si256(_mm256_cmpeq_epi32(_mm256_and_si256(code, _mm256_set1_epi32(0xF800)), _mm256_set1_epi32(0xD800)), valid);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(codes + count), code);
        if (const auto mask = static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(valid))); mask != 0xFF) {
            const auto taken = static_cast<std::size_t>(std::countr_one(mask));
            return {count + taken, p + 3 * taken};
        }
        count += 8;
        p += 24;
    }
    return {count, p};
}
#endif

Decoded decode_some(const std::uint8_t* p, const std::uint8_t* end, std::size_t enough, std::size_t most, std::uint32_t* codes) {
    std::size_t count = 0;
    while (p < end && count < most) {
#if LOOKALIKE_HAS_LEVELS
        if (*p >= 0xE0 && kLevel != Level::plain) {
            const Decoded threes =
                kLevel == Level::avx512 ? decode_threes_avx512(p, end, enough, count, codes) : decode_threes_avx2(p, end, enough, count, codes);
            count = threes.count, p = threes.end;
            if (p == end) break;
        }
#endif
        while (count + 4 <= enough && end - p >= 14) {  // four at a time, as long as all of them have three bytes
            const std::uint64_t two = load64(p), more = load64(p + 6);
            if ((two & 0xC0C0F0C0C0F0) != 0x8080E08080E0 || (more & 0xC0C0F0C0C0F0) != 0x8080E08080E0) break;
            codes[count] = code_of_three(two), codes[count + 1] = code_of_three(two >> 24);
            codes[count + 2] = code_of_three(more), codes[count + 3] = code_of_three(more >> 24);
            bool valid = true;
            for (std::size_t i = 0; i < 4; ++i) valid &= (codes[count + i] >= 0x800) & (codes[count + i] - 0xD800 >= 0x800);
            if (!valid) break;
            count += 4;
            p += 12;
        }
        std::uint32_t code = *p;
        unsigned taken = 1;
        if (end - p >= 4 && (word_of(p, 4) & 0xC0C0F0) == 0x8080E0) [[likely]] {
            code = code_of_three(word_of(p, 4));
            taken = 3;
            if (code < 0x800 || (code >= 0xD800 && code < 0xE000)) taken = decode_one(p, static_cast<std::size_t>(end - p), code);
        } else if (code >= 0x80) {
            taken = decode_one(p, static_cast<std::size_t>(end - p), code);
        }
        if (count >= enough && is_ideograph(code)) break;
        codes[count++] = code;
        p += taken;
    }
    return {count, p};
}

}  // namespace

void SimpleTokens::hash(std::uint64_t* out) const {
    widest<hash_token_words_here>(words_, count_, out);
    for (const Long& token : longs_) out[token.token] = token_hash_padded(bytes(token), sizes_[token.token]);
}

namespace {

bool reads(Mode mode, bool fold) { return fold && (mode == Mode::automatic || mode == Mode::chars || mode == Mode::pieces); }

template <class Unit>
bool mostly_beyond_ascii(const Unit* units, std::size_t seen) {
    std::size_t beyond_ascii = 0;
    for (std::size_t i = 0; i < seen; ++i) beyond_ascii += units[i] >= 0x80;
    return seen > 0 && 2 * beyond_ascii >= seen;
}

}  // namespace

bool SimpleTokens::suits(std::span<const std::uint8_t> utf8, Mode mode, bool fold) {
    return reads(mode, fold) && mostly_beyond_ascii(utf8.data(), std::min<std::size_t>(utf8.size(), 64));
}

template <class Unit>
bool SimpleTokens::suits(std::span<const Unit> units, Mode mode, bool fold) {
    return reads(mode, fold) && mostly_beyond_ascii(units.data(), std::min<std::size_t>(units.size(), 32));
}

std::size_t SimpleTokens::take(std::span<const std::uint8_t> rest, Mode mode) {
    const std::uint8_t *const begin = rest.data(), *const end = begin + rest.size();
    const Decoded some = decode_some(begin, end, kEnough, kUnits, decoded_);
    const std::size_t taken = take_units(decoded_, some.count, some.end == end, mode);
    if (taken == some.count) return static_cast<std::size_t>(some.end - begin);
    return static_cast<std::size_t>(decode_some(begin, end, taken, taken, decoded_).end - begin);
}

template <class Unit>
std::size_t SimpleTokens::take(std::span<const Unit> rest, Mode mode) {
    std::size_t count = std::min(rest.size(), kEnough);
    while (count < rest.size() && count < kUnits && !is_ideograph(rest[count])) ++count;
    return take_units(rest.data(), count, count == rest.size(), mode);
}

// `whole`: they are all that is left of the text; otherwise an ideograph comes next, if there was one in reach. Returns how many were taken.
template <class Unit>
std::size_t SimpleTokens::take_units(const Unit* units, std::size_t count, bool whole, Mode mode) {
    const std::uint32_t before = position_;
    const auto read_until = [&](std::size_t last) {
        position_ = before;
        count_ = 0;
        after_space_ = true;
        word_until_ = kNowhere;
        bytes_.clear();
        longs_.clear();
        return mode == Mode::chars ? read<true>(units, last, mode) : read<false>(units, last, mode);
    };
    std::size_t stopped = read_until(count);
    if (whole && stopped == count) {
        if (mode == Mode::chars && after_space_ && count_ > 0) --count_;
        if (count_ == 0) return position_ = before, 0;  // a text without words is read by its characters
    } else if (stopped < count || count == kUnits) {    // what comes next is no ideograph, or nobody has looked
        if (stopped == count || !is_ideograph(units[stopped])) {
            while (stopped > 0 && !is_ideograph(units[--stopped])) {}
            read_until(stopped);
        }
        if (stopped == 0) return position_ = before, 0;
    }
    bytes_.resize(bytes_.size() + 8);
    return stopped;
}

namespace {

// Those of up to 64 values that have a bit, side by side; `to` may be `from`, or in front of it, with room for eight more. Four more can be read. Returns how many.
template <class From, class To>
std::size_t pick_one_by_one(const From* from, std::uint64_t bits, unsigned count, To* to) {
    std::size_t many = 0;
    for (unsigned i = 0; i < count; ++i) {
        to[many] = from[i];
        many += bits >> i & 1;
    }
    return many;
}

#if LOOKALIKE_HAS_LEVELS
// Which of four values stand side by side, for each set of them; the rest does not matter.
constexpr auto kPicked = [] {
    std::array<std::array<std::int32_t, 4>, 16> picked{};
    for (unsigned bits = 0; bits < 16; ++bits) {
        for (unsigned i = 0, many = 0; i < 4; ++i) {
            if (bits >> i & 1) picked[bits][many++] = static_cast<std::int32_t>(i);
        }
    }
    return picked;
}();
// The same for words, as two halves each.
constexpr auto kPickedHalves = [] {
    std::array<std::array<std::int32_t, 8>, 16> picked{};
    for (unsigned bits = 0; bits < 16; ++bits) {
        for (unsigned i = 0; i < 8; ++i) picked[bits][i] = 2 * kPicked[bits][i / 2] + static_cast<std::int32_t>(i % 2);
    }
    return picked;
}();

LOOKALIKE_AVX2 std::size_t pick_avx2(const std::uint64_t* from, std::uint64_t bits, unsigned count, std::uint64_t* to) {
    std::size_t many = 0;
    for (unsigned i = 0; i < count; i += 4, bits >>= 4) {
        const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kPickedHalves[bits & 15].data()));
        const __m256i words = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + many), _mm256_permutevar8x32_epi32(words, halves));
        many += static_cast<std::size_t>(std::popcount(bits & 15));
    }
    return many;
}

LOOKALIKE_AVX2 std::size_t pick_avx2(const std::uint8_t* from, std::uint64_t bits, unsigned count, std::uint32_t* to) {
    std::size_t many = 0;
    for (unsigned i = 0; i < count; i += 4, bits >>= 4) {
        const __m128i places = _mm_loadu_si128(reinterpret_cast<const __m128i*>(kPicked[bits & 15].data()));
        const __m128i sizes = _mm_cvtepu8_epi32(_mm_cvtsi32_si128(static_cast<int>(word_of(from + i, 4))));
        const __m128 picked = _mm_permutevar_ps(_mm_castsi128_ps(sizes), places);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to + many), _mm_castps_si128(picked));
        many += static_cast<std::size_t>(std::popcount(bits & 15));
    }
    return many;
}

LOOKALIKE_AVX512 std::size_t pick_avx512(const std::uint64_t* from, std::uint64_t bits, unsigned count, std::uint64_t* to) {
    std::size_t many = 0;
    for (unsigned i = 0; i < count; i += 8) {
        const __mmask8 there = static_cast<__mmask8>(low_bits(count - i)), wanted = static_cast<__mmask8>(bits >> i);
        _mm512_storeu_si512(to + many, _mm512_maskz_compress_epi64(wanted, _mm512_maskz_loadu_epi64(there, from + i)));
        many += static_cast<std::size_t>(std::popcount(static_cast<unsigned>(wanted)));
    }
    return many;
}
#endif

template <class From, class To>
std::size_t pick(const From* from, std::uint64_t bits, unsigned count, To* to) {
#if LOOKALIKE_HAS_LEVELS
    if constexpr (sizeof(From) == 8) {
        if (kLevel == Level::avx512) return pick_avx512(from, bits, count, to);
    }
    if (kLevel != Level::plain) return pick_avx2(from, bits, count, to);
#endif
    return pick_one_by_one(from, bits, count, to);
}

}  // namespace

// Units side by side, and which of them are white space, or no tokens.
struct SimpleTokens::Block {
    std::uint64_t* words = nullptr;  // where they will stay, if every unit becomes a token
    std::uint64_t spaces = 0, silent = 0;
    std::uint32_t position = 0;            // of the first
    std::uint8_t sizes[kMostInBlock + 4];  // not initialised: that would take as long as reading them
};

// Makes tokens of some units of a block.
template <bool chars>
void SimpleTokens::keep(Block& block, unsigned first, unsigned last) {
    if (first == last) return;
    std::uint64_t out = block.silent;
    if constexpr (chars) {  // of a run of white space the first
        const std::uint64_t spaces = block.spaces & ~low_bits(first);
        out = spaces & (spaces << 1 | std::uint64_t{after_space_} << first);
        after_space_ = block.spaces >> (last - 1) & 1;
    }
    std::uint64_t* const words = words_ + count_;
    std::uint64_t* const spans = spans_ + count_;
    std::uint32_t* const sizes = sizes_ + count_;
    const std::uint32_t position = block.position;
    if ((out & low_bits(last) & ~low_bits(first)) == 0) {
        const std::size_t many = last - first;
        if (words != block.words + first) std::memmove(words, block.words + first, many * sizeof *words);
        if (notes_ & kSizes) std::copy_n(block.sizes + first, many, sizes);
        if (notes_ & kSpans) {
            for (std::size_t i = 0; i < many; ++i) spans[i] = span_at(position + static_cast<std::uint32_t>(first + i));
        }
        count_ += many;
        return;
    }
    const std::uint64_t in = ~out >> first & low_bits(last - first);
    if (notes_ & kSpans) {
        std::size_t many = 0;
        for (unsigned i = first; i < last; ++i) {
            spans[many] = span_at(position + i);
            many += in >> (i - first) & 1;
        }
    }
    if (notes_ & kSizes) pick(block.sizes + first, in, last - first, sizes);
    count_ += pick(block.words + first, in, last - first, words);
}

// Returns how many it read: all, or those in front of one that it cannot read, or as many as there is room for. Most are ideographs: the others are looked up one by
// one.
template <bool chars, class Unit>
std::size_t SimpleTokens::read(const Unit* units, std::size_t many, Mode mode) {
    using Form = CharacterForm;
    const std::uint16_t* const directory = simple().directory.data();
    const std::uint64_t* const changes = simple().changes.data();
    const std::uint8_t* const kinds = simple().kinds.data();
    constexpr unsigned hard = chars ? kHard : kHardInWords;
    [[maybe_unused]] const unsigned token_bit = mode == Mode::pieces ? 3 : 2;
    const std::uint32_t position = position_;
    for (std::size_t first = 0; first < many; first += kMostInBlock) {
        const unsigned here = static_cast<unsigned>(std::min<std::size_t>(kMostInBlock, many - first));
        Block block;
        block.words = words_ + count_;
        block.position = position + static_cast<std::uint32_t>(first);
        std::uint64_t moved[kMostInBlock + 4];
        std::uint64_t others = widest<take_for_ideographs_here<Unit>>(units + first, here, block.words);
        if (notes_ & kSizes) std::fill_n(block.sizes, here, std::uint8_t{3});
        unsigned kept = 0;
        for (; others; others &= others - 1) {
            const unsigned i = static_cast<unsigned>(std::countr_zero(others));
            const std::uint32_t code = units[first + i];
            const bool in_table = sizeof(Unit) == 2 || code < 0x10000;
            const std::size_t at = in_table ? directory[code >> 6] + (code & 0x3F) : 0;
            const unsigned kind = in_table ? kinds[at] : hard;
            block.words[i] ^= kIdeographChange ^ changes[at];
            if ((kind & hard) == 0) [[likely]] {
                block.sizes[i] = kind & kSize;
                if constexpr (chars) {
                    block.spaces |= std::uint64_t{kind / kSpaceBit & 1} << i;
                } else {
                    block.silent |= std::uint64_t{~kind >> token_bit & 1} << i;
                }
                continue;
            }
            if (block.words != moved) std::copy_n(block.words + i, here - i, moved + i);  // this one may become more than one token
            keep<chars>(block, kept, i);
            block.words = moved;
            position_ = block.position + i;
            if (count_ >= kRoom - 32 - (many - first - i)) return first + i;  // each of the rest may be one more
            if (code < 0x80) {
                put<chars>(Form::kWord, static_cast<std::uint32_t>(block.words[i] ^ kSizeStates[1]), 1, mode);
            } else {
                const Form form(code >= 0xD800 && code < 0xE000 ? 0xFFFD : code);
                if (form.joins()) return first + i;
                if (form.is_nothing() && word_until_ == position_) ++word_until_;
                form.for_each([&](const Form::Item& item) { put<chars>(item.character_class, word_of(item.utf8, item.size), item.size, mode); });
            }
            kept = i + 1;
        }
        keep<chars>(block, kept, here);
    }
    position_ = position + static_cast<std::uint32_t>(many);
    return many;
}

// One character of any simple class, or one of several that a code point becomes.
template <bool chars>
void SimpleTokens::put(unsigned character_class, std::uint32_t word, unsigned size, Mode mode) {
    using Form = CharacterForm;
    const bool space = character_class == Form::kSpace, of_word = !chars && character_class == Form::kWord;
    const bool in_word = word_until_ == position_ || word_until_ == std::uint64_t{position_} + 1;
    word_until_ = of_word ? std::uint64_t{position_} + 1 : kNowhere;
    if (of_word) {
        if (!in_word) word_ = bytes_.size();
        for (unsigned i = 0; i < size; ++i) bytes_.push_back(static_cast<std::uint8_t>(word >> 8 * i));
    }
    if (of_word && in_word) {
        std::uint32_t& before = sizes_[count_ - 1];
        if (before + size <= 8) words_[count_ - 1] ^= std::uint64_t{word} << 8 * before ^ kSizeStates[before] ^ kSizeStates[before + size];
        if (before <= 8 && before + size > 8) longs_.push_back({count_ - 1, word_});
        before += size;
        spans_[count_ - 1] = span_at(static_cast<std::uint32_t>(spans_[count_ - 1]), position_ + 1);
        return;
    }
    const bool token =
        chars ? !(space && after_space_) : of_word || character_class == Form::kSingle || (mode == Mode::pieces && character_class == Form::kOther);
    if (token) {
        words_[count_] = (space ? ' ' : word) ^ kSizeStates[space ? 1 : size];
        sizes_[count_] = space ? 1 : size;
        spans_[count_++] = span_at(position_);
    }
    after_space_ = space;
}

template bool SimpleTokens::suits(std::span<const std::uint16_t>, Mode, bool);
template bool SimpleTokens::suits(std::span<const std::uint32_t>, Mode, bool);
template std::size_t SimpleTokens::take(std::span<const std::uint16_t>, Mode);
template std::size_t SimpleTokens::take(std::span<const std::uint32_t>, Mode);

}  // namespace lookalike
