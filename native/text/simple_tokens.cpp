#include "text/simple_tokens.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "base/dispatch.hpp"
#include "text/character_form.hpp"

namespace lookalike {
namespace {

constexpr unsigned kHard = 7;  // as a class: not one character of a simple kind

constexpr unsigned kShownSize = 24, kShownClass = 26;

std::uint32_t word_of(const std::uint8_t* utf8, unsigned size) {
    std::uint32_t word = 0;
    std::memcpy(&word, utf8, size);
    return word;
}

// For each code point of one byte or three: what has to be done to its bytes (XOR), how many it then has, and its class. In pages of 64, most of which are
// the same: all ideographs share one.
struct Simple {
    std::array<std::uint16_t, 1024> directory{};
    std::vector<std::uint32_t> entries;  // first those of ASCII, two pages

    Simple() {
        for (std::uint8_t c = 0; c < 0x80; ++c) entries.push_back(of_ascii(c));
        std::map<std::array<std::uint32_t, 64>, std::uint16_t> pages;
        for (std::uint32_t first = 0; first < 0x10000; first += 64) {
            std::array<std::uint32_t, 64> page;
            for (std::uint32_t i = 0; i < 64; ++i) page[i] = entry(first + i);
            const auto [found, is_new] = pages.try_emplace(page, static_cast<std::uint16_t>(pages.size() + 2));
            if (is_new) entries.insert(entries.end(), page.begin(), page.end());
            directory[first / 64] = found->second;
        }
    }

    static std::uint32_t of_ascii(std::uint8_t c) {
        const unsigned kind = CharacterForm::of_ascii(c);
        const unsigned becomes = kind == CharacterForm::kSpace ? ' ' : c >= 'A' && c <= 'Z' ? c | 0x20U : c;
        return (c ^ becomes) | 1U << kShownSize | kind << kShownClass;
    }

    static std::uint32_t entry(std::uint32_t code) {
        const std::uint32_t hard = kHard << kShownClass;
        if (code < 0x800 || (code >= 0xD800 && code < 0xE000)) return hard;
        const CharacterForm form(code);
        const CharacterForm::Item first = form.first();
        if (form.is_nothing() || !form.is_one() || first.size > 3 || form.joins()) return hard;
        const std::uint8_t utf8[] = {static_cast<std::uint8_t>(0xE0 | code >> 12), static_cast<std::uint8_t>(0x80 | (code >> 6 & 0x3F)),
                                     static_cast<std::uint8_t>(0x80 | (code & 0x3F))};
        const bool space = first.character_class == CharacterForm::kSpace;
        const std::uint32_t word = space ? ' ' : word_of(first.utf8, first.size);
        return (word_of(utf8, 3) ^ word) | (space ? 1 : first.size) << kShownSize | first.character_class << kShownClass;
    }
};

const Simple& simple() {
    static const Simple table;
    return table;
}

bool begins_with_ideograph(const std::uint8_t* p, const std::uint8_t* end) {
    const unsigned two = end - p < 3 ? 0 : p[0] << 8U | p[1];
    return two >= 0xE4B8 && two <= 0xE9BF && (p[1] & 0xC0) == 0x80 && (p[2] & 0xC0) == 0x80;
}

LOOKALIKE_INLINED void hash_token_words_here(const std::uint64_t* words, const std::uint32_t* sizes, std::size_t count, std::uint64_t* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = finish(absorb(sizes[i] * kGolden, words[i]));
}

}  // namespace

void hash_token_words(const std::uint64_t* words, const std::uint32_t* sizes, std::size_t count, std::uint64_t* out) {
    widest<hash_token_words_here>(words, sizes, count, out);
}

bool SimpleTokens::suits(std::span<const std::uint8_t> utf8, Mode mode, bool fold) {
    if (!fold || (mode != Mode::automatic && mode != Mode::chars && mode != Mode::pieces)) return false;
    const std::size_t seen = std::min<std::size_t>(utf8.size(), 64);
    std::size_t beyond_ascii = 0;
    for (std::size_t i = 0; i < seen; ++i) beyond_ascii += utf8[i] >> 7;
    return seen > 0 && 2 * beyond_ascii >= seen;
}

std::size_t SimpleTokens::take(std::span<const std::uint8_t> rest, Mode mode) {
    const std::uint8_t *const begin = rest.data(), *const end = begin + rest.size();
    const std::uint32_t before = position_;
    const auto read_until = [&](const std::uint8_t* last) {
        position_ = before;
        count_ = 0;
        after_space_ = true;
        in_word_ = false;
        bytes_.clear();
        longs_.clear();
        return mode == Mode::chars ? read<true>(begin, last, mode) : read<false>(begin, last, mode);
    };
    const std::uint8_t* stopped = read_until(end);
    if (stopped == end) {
        if (mode == Mode::chars && after_space_ && count_ > 0) --count_;
        if (count_ == 0) return position_ = before, 0;  // a text without words is read by its characters
    } else if (!begins_with_ideograph(stopped, end)) {
        do --stopped;
        while (stopped > begin && !begins_with_ideograph(stopped, end));
        if (stopped <= begin) return position_ = before, 0;
        read_until(stopped);
    }
    bytes_.resize(bytes_.size() + 8);
    return static_cast<std::size_t>(stopped - begin);
}

// Returns where it stopped: at the end, in front of an ideograph when there are enough tokens, or in front of what it cannot read.
template <bool chars>
const std::uint8_t* SimpleTokens::read(const std::uint8_t* p, const std::uint8_t* end, Mode mode) {
    using Form = CharacterForm;
    const std::uint16_t* const directory = simple().directory.data();
    const std::uint32_t* const entries = simple().entries.data();
    const unsigned hard = 1U << kHard | (chars ? 0 : 1U << Form::kWord);
    [[maybe_unused]] const unsigned tokens = 1U << Form::kSingle | (mode == Mode::pieces ? 1U << Form::kOther : 0);
    // Copies that stay in registers; the members are right wherever `put` is called, and at the end.
    std::size_t count = count_;
    std::uint32_t position = position_;
    unsigned after_space = after_space_;
    while (p < end) {
        const std::uint32_t four = end - p >= 4 ? word_of(p, 4) : word_of(p, static_cast<unsigned>(end - p));
        // A branch, though it is mispredicted now and then: without one, each character would wait for the one before it.
        const bool three = (four & 0xC0C0F0) == 0x8080E0;
        if (three || (four & 0x80) == 0) {
            const std::uint32_t entry = three ? entries[directory[(four & 0xF) << 6 | (four >> 8 & 0x3F)] * 64U + (four >> 16 & 0x3F)] : entries[four & 0x7F];
            const unsigned kind = entry >> kShownClass;
            if ((hard >> kind & 1) == 0) {
                if (count >= kEnough && (begins_with_ideograph(p, end) || count >= kRoom - 32)) break;
                words_[count] = (four ^ entry) & (three ? 0xFFFFFF : 0xFF);
                sizes_[count] = entry >> kShownSize & 3;
                starts_[count] = position;
                ends_[count] = ++position;
                if constexpr (chars) {
                    const unsigned space = kind == Form::kSpace;
                    count += 1 - (space & after_space);
                    after_space = space;
                } else {
                    count += tokens >> kind & 1;
                    in_word_ = false;
                }
                if (three) [[likely]] {
                    p += 3;
                } else {
                    ++p;
                }
                continue;
            }
        }
        if (count >= kRoom - 32) break;
        count_ = count;
        position_ = position;
        after_space_ = after_space != 0;
        if (*p < 0x80) {
            put<chars>(entries[*p] >> kShownClass, *p ^ (entries[*p] & 0xFF), 1, mode);
            ++p;
        } else {
            std::uint32_t code;
            const unsigned taken = decode_one(p, static_cast<std::size_t>(end - p), code);
            const Form form(code);
            if (form.joins()) break;
            form.for_each([&](const Form::Item& item) { put<chars>(item.character_class, word_of(item.utf8, item.size), item.size, mode); });
            p += taken;
        }
        count = count_;
        position = ++position_;
        after_space = after_space_;
    }
    count_ = count;
    position_ = position;
    after_space_ = after_space != 0;
    return p;
}

// One character of any simple class.
template <bool chars>
void SimpleTokens::put(unsigned character_class, std::uint32_t word, unsigned size, Mode mode) {
    using Form = CharacterForm;
    const bool space = character_class == Form::kSpace, of_word = !chars && character_class == Form::kWord;
    if (of_word) {
        if (!in_word_) word_ = bytes_.size();
        for (unsigned i = 0; i < size; ++i) bytes_.push_back(static_cast<std::uint8_t>(word >> 8 * i));
    }
    if (of_word && in_word_) {
        std::uint32_t& before = sizes_[count_ - 1];
        if (before < 8) words_[count_ - 1] |= std::uint64_t{word} << 8 * before;
        if (before <= 8 && before + size > 8) longs_.push_back({count_ - 1, word_});
        before += size;
        ends_[count_ - 1] = position_ + 1;
        return;
    }
    const bool token =
        chars ? !(space && after_space_) : of_word || character_class == Form::kSingle || (mode == Mode::pieces && character_class == Form::kOther);
    if (token) {
        words_[count_] = space ? ' ' : word;
        sizes_[count_] = space ? 1 : size;
        starts_[count_] = position_;
        ends_[count_++] = position_ + 1;
    }
    after_space_ = space;
    in_word_ = of_word;
}

}  // namespace lookalike
