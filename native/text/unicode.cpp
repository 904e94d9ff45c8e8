#include "text/unicode.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include "text/ascii_blocks.hpp"
#include "text/character_form.hpp"
#include "text/text_view.hpp"

namespace lookalike {
namespace {

#include "text/unicode_tables.inc"

using enum CharacterForm::Class;
constexpr unsigned kDrop = 8, kFirstSequence = 16;
constexpr std::uint32_t kReplacement = 0xFFFD;
constexpr std::uint8_t kReplacementBytes[] = {0xEF, 0xBF, 0xBD};

unsigned table_entry(std::uint32_t code) { return kEntries[kDirectory[code >> 7] * 128u + (code & 127)]; }

unsigned combining_class(std::uint32_t code) {
    const auto* found = std::lower_bound(std::begin(kCombiningCodes), std::end(kCombiningCodes), code);
    return found != std::end(kCombiningCodes) && *found == code ? kCombiningClasses[found - kCombiningCodes] : 0;
}

std::uint32_t decode_valid(const std::uint8_t* p, unsigned size) {
    switch (size) {
        case 1: return p[0];
        case 2: return (p[0] & 0x1Fu) << 6 | (p[1] & 0x3Fu);
        case 3: return (p[0] & 0x0Fu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
        default: return (p[0] & 0x07u) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 | (p[3] & 0x3Fu);
    }
}

unsigned utf8_size(std::uint8_t lead) { return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4; }

struct Decoded {
    std::uint32_t code;
    unsigned size;  // bytes taken
    bool valid;
};

// One code point from a byte >= 0x80. An ill-formed part is as long as Python's errors="replace" makes it, but a
// surrogate in three bytes (Python's "surrogatepass") is one code point.
Decoded decode(const std::uint8_t* p, std::size_t left) {
    const std::uint8_t lead = p[0];
    const auto continues = [&](std::size_t i) { return i < left && (p[i] & 0xC0) == 0x80; };
    if (lead < 0xC2 || lead > 0xF4) return {kReplacement, 1, false};
    if (!continues(1)) return {kReplacement, 1, false};
    if (lead < 0xE0) return {decode_valid(p, 2), 2, true};
    if (lead < 0xF0) {
        if (lead == 0xE0 && p[1] < 0xA0) return {kReplacement, 1, false};
        if (lead == 0xED && p[1] >= 0xA0) return {kReplacement, continues(2) ? 3u : 1u, false};
        if (!continues(2)) return {kReplacement, 2, false};
        return {decode_valid(p, 3), 3, true};
    }
    if ((lead == 0xF0 && p[1] < 0x90) || (lead == 0xF4 && p[1] >= 0x90)) return {kReplacement, 1, false};
    if (!continues(2)) return {kReplacement, 2, false};
    if (!continues(3)) return {kReplacement, 3, false};
    return {decode_valid(p, 4), 4, true};
}

std::size_t ascii_prefix(const std::uint8_t* p, std::size_t size) {
    std::size_t i = 0;
    while (i + 8 <= size) {
        const std::uint64_t high = load64(p + i) & 0x8080808080808080ULL;
        if (high) return i + static_cast<std::size_t>(std::countr_zero(high)) / 8;
        i += 8;
    }
    while (i < size && p[i] < 0x80) ++i;
    return i;
}

std::uint64_t low_bits(unsigned count) { return count >= 64 ? ~0ULL : (1ULL << count) - 1; }

}  // namespace

CharacterForm::CharacterForm(std::uint32_t code) {
    const unsigned entry = table_entry(code);
    if (entry == kDrop) return;
    if (entry < kDrop) {
        const unsigned size = encode_one(code, own_ + 1);
        own_[0] = static_cast<std::uint8_t>(size << 4 | entry);
        items_ = own_;
    } else {
        items_ = kSequencePool + kSequenceStarts[entry - kFirstSequence];
    }
    for_each([&](const Item& item) { joins_ |= item.character_class == kMark || decode_valid(item.utf8, item.size) - 0x1100 < 0x100; });
}

unsigned CharacterForm::of_ascii(std::uint8_t c) {
    const unsigned entry = table_entry(c);
    return entry >= kFirstSequence ? unsigned{kWord} : entry;
}

unsigned decode_one(const std::uint8_t* p, std::size_t left, std::uint32_t& code) {
    const Decoded found = decode(p, left);
    code = found.code;
    return found.size;
}

inline void Folder::put(const std::uint8_t* utf8, unsigned size, bool starts) {
    std::memcpy(bytes_.data() + size_, utf8, size);
    if (mode_ != Mode::text) {
        set_bits(member_, size_, low_bits(size), size);
        if (starts) set_bits(start_, size_, 1, 1);
    }
    if (spans_) {
        for (unsigned i = 0; i < size; ++i) {
            begin_[size_ + i] = position_;
            end_[size_ + i] = position_ + 1;
        }
    }
    size_ += size;
}

inline void Folder::set_bits(Scratch<std::uint64_t>& bitmap, std::size_t position, std::uint64_t bits, unsigned count) {
    const std::size_t w = position >> 6;
    const unsigned shift = position & 63;
    bitmap[w] |= bits << shift;
    if (shift + count > 64) bitmap[w + 1] |= bits >> (64 - shift);
}

void Folder::run(std::span<const std::uint8_t> utf8, Mode mode, bool fold, bool spans) {
    fold_ = fold;
    spans_ = spans;
    start_text(utf8.size());
    pass(utf8, mode);
    if (mode != Mode::automatic && mode != Mode::words) return;
    bool any = false;
    for (std::size_t w = 0; w < (size_ + 63) / 64 && !any; ++w) any = start_[w] != 0;
    if (any) return;
    // A text without a single word is taken by its characters: "!!!" and "???" are not the same text.
    start_text(utf8.size());
    pass(utf8, Mode::chars);
}

void Folder::start_text(std::size_t bytes) {
    size_ = 0;
    cleared_ = 0;
    position_ = 0;
    after_space_ = true;
    before_ = Before::nothing;
    last_code_ = 0;
    last_combining_ = 0;
    marks_out_of_order_ = false;
    reserve(bytes);
}

void Folder::reserve(std::size_t more) {
    // 64 bytes for a whole block, 8 for token_hash_padded, and room for the longest single mapping.
    const std::size_t wanted = size_ + more + 160;
    if (wanted > bytes_.capacity()) bytes_.grow(wanted, size_);
    if (spans_ && wanted > begin_.capacity()) {
        begin_.grow(wanted, size_);
        end_.grow(wanted, size_);
    }
    const std::size_t words = wanted / 64 + 2;
    if (words > member_.capacity()) {
        member_.grow(words, cleared_);
        start_.grow(words, cleared_);
    }
    if (words > cleared_) {
        std::memset(member_.data() + cleared_, 0, (words - cleared_) * sizeof(std::uint64_t));
        std::memset(start_.data() + cleared_, 0, (words - cleared_) * sizeof(std::uint64_t));
        cleared_ = words;
    }
}

void Folder::pass(std::span<const std::uint8_t> utf8, Mode mode) {
    mode_ = mode;
    const std::uint8_t* p = utf8.data();
    std::size_t left = utf8.size();
    while (left) {
        if (*p < 0x80) {
            const std::size_t taken = ascii_run(p, left);
            p += taken;
            left -= taken;
            continue;
        }
        if (const std::size_t taken = ideograph_run(p, left)) {
            p += taken;
            left -= taken;
            continue;
        }
        const Decoded next = decode(p, left);
        code_point(next.code, next.valid ? p : kReplacementBytes, next.valid ? next.size : 3);
        ++position_;
        p += next.size;
        left -= next.size;
    }
    end_mark_run();
    if (mode == Mode::chars && fold_ && after_space_ && size_ > 0) drop_last_space();
    std::memset(bytes_.data() + size_, 0, 8);
}

void Folder::drop_last_space() {
    --size_;
    member_[size_ >> 6] &= ~(1ULL << (size_ & 63));
    start_[size_ >> 6] &= ~(1ULL << (size_ & 63));
}

// Takes the common ideographs in front: U+4E00 to U+9FFF are all of one class and stay as they are.
std::size_t Folder::ideograph_run(const std::uint8_t* source, std::size_t size) {
    constexpr std::size_t kMost = 21;  // three bytes each: their bits fit in a word
    constexpr std::uint64_t kEveryThird = 0x1249249249249249ULL;
    const std::size_t most = std::min(size / 3, kMost);
    const auto common = [](std::uint64_t two_bytes) { return two_bytes - 0xE4B8 <= 0xE9BF - 0xE4B8; };  // the first two of U+4E00 to U+9FFF
    std::size_t count = 0;
    for (; count + 2 <= most && 3 * count + 8 <= size; count += 2) {  // two at a time, from one word
        const std::uint64_t word = load64(source + 3 * count);
        const std::uint64_t turned = __builtin_bswap64(word);
        if ((word & 0xC0C0F0C0C0F0ULL) != 0x8080E08080E0ULL || !common(turned >> 48) || !common(turned >> 24 & 0xFFFF)) break;
    }
    for (const std::uint8_t* p = source + 3 * count; count < most; ++count, p += 3) {
        if (!common(std::uint64_t{p[0]} << 8 | p[1]) || (p[1] & 0xC0) != 0x80 || (p[2] & 0xC0) != 0x80) break;
    }
    if (count == 0) return 0;
    end_mark_run();
    reserve(64);
    const unsigned bytes = static_cast<unsigned>(3 * count);
    std::memcpy(bytes_.data() + size_, source, bytes);
    if (mode_ == Mode::words) {
        set_bits(start_, size_, before_ == Before::word ? 0 : 1, 1);
        before_ = Before::word;
    } else if (mode_ != Mode::text) {
        set_bits(start_, size_, kEveryThird & low_bits(bytes), bytes);
        before_ = Before::single;
    }
    if (mode_ != Mode::text) set_bits(member_, size_, low_bits(bytes), bytes);
    if (spans_) {
        for (unsigned i = 0; i < bytes; ++i) {
            begin_[size_ + i] = position_ + i / 3;
            end_[size_ + i] = position_ + i / 3 + 1;
        }
    }
    size_ += bytes;
    position_ += static_cast<std::uint32_t>(count);
    last_code_ = 0;
    after_space_ = false;
    return bytes;
}

// Takes the ASCII characters in front, at least one.
std::size_t Folder::ascii_run(const std::uint8_t* source, std::size_t size) {
    constexpr std::size_t kWorthABlock = 16;
    std::size_t taken = 0;
    while (taken < size) {
        const std::uint8_t* p = source + taken;
        const std::size_t left = size - taken;
        std::uint8_t padded[kAsciiBytes];
        if (left < kAsciiBytes) {
            std::memset(padded, ' ', sizeof padded);
            std::memcpy(padded, p, left);
        }
        reserve(kAsciiBytes);
        std::uint64_t word, space;
        const bool ascii = fold_ascii_blocks(left < kAsciiBytes ? padded : p, 1, fold_, bytes_.data() + size_, &word, &space) == 1;
        const std::size_t run = ascii ? std::min(left, kAsciiBytes) : ascii_prefix(p, std::min(left, kAsciiBytes));
        if (run == 0) break;
        if (run < kWorthABlock) {  // what the block left behind the end is written over
            ascii_characters(p, run);
            taken += run;
            continue;
        }
        const unsigned count = static_cast<unsigned>(run);
        end_mark_run();
        last_code_ = 0;
        if (mode_ == Mode::chars) {
            ascii_block_of_characters(count, space & low_bits(count));
        } else {
            place_block(0, count);
            if (mode_ != Mode::text) ascii_tokens(word & low_bits(count), space | ~low_bits(count), count);
            size_ += count;
        }
        position_ += count;
        taken += run;
        if (run == kAsciiBytes && mode_ != Mode::chars) taken += ascii_blocks(source + taken, (size - taken) / kAsciiBytes);
    }
    return taken;
}

// Takes whole blocks in front, as long as they are ASCII: many at a time, where each byte becomes one byte.
std::size_t Folder::ascii_blocks(const std::uint8_t* source, std::size_t blocks) {
    constexpr std::size_t kMost = 32;
    std::uint64_t words[kMost], spaces[kMost];
    std::size_t done = 0, found = kMost;
    while (done < blocks && found == kMost) {
        const std::size_t here = std::min(kMost, blocks - done);
        reserve(here * kAsciiBytes);
        found = fold_ascii_blocks(source + done * kAsciiBytes, here, fold_, bytes_.data() + size_, words, spaces);
        if (found == 0) break;
        end_mark_run();
        last_code_ = 0;
        place_block(0, static_cast<unsigned>(found * kAsciiBytes));
        for (std::size_t i = 0; i < found; ++i) {
            if (mode_ != Mode::text) ascii_tokens(words[i], spaces[i], kAsciiBytes);
            size_ += kAsciiBytes;
        }
        position_ += static_cast<std::uint32_t>(found * kAsciiBytes);
        done += found;
    }
    return done * kAsciiBytes;
}

// The next `count` bytes become tokens by their bits: words, and of the mode `pieces` what is neither word nor white space.
inline void Folder::ascii_tokens(std::uint64_t word, std::uint64_t space, unsigned count) {
    const std::uint64_t single = mode_ == Mode::pieces ? ~word & ~space : 0;
    set_bits(member_, size_, word | single, count);
    set_bits(start_, size_, (word & ~(word << 1 | (before_ == Before::word ? 1 : 0))) | single, count);
    const std::uint64_t last = 1ULL << (count - 1);
    before_ = word & last ? Before::word : single & last ? Before::single : Before::nothing;
}

// The 64 bytes that lie behind the end, folded, become tokens of one character each; of a run of spaces the first.
void Folder::ascii_block_of_characters(unsigned count, std::uint64_t space) {
    std::uint64_t keep = low_bits(count);
    if (fold_) {
        keep &= ~(space & (space << 1 | (after_space_ ? 1 : 0)));
        for (std::uint64_t rest = space; rest; rest &= rest - 1) bytes_[size_ + static_cast<std::size_t>(std::countr_zero(rest))] = ' ';
        after_space_ = space >> (count - 1) & 1;
    }
    before_ = after_space_ && fold_ ? Before::nothing : Before::single;
    const std::size_t block = size_;
    for (unsigned first = 0; keep;) {
        first += static_cast<unsigned>(std::countr_zero(keep));
        keep >>= std::countr_zero(keep);
        const unsigned length = static_cast<unsigned>(std::countr_one(keep));
        std::memmove(bytes_.data() + size_, bytes_.data() + block + first, length);
        place_block(first, length);
        set_bits(member_, size_, low_bits(length), length);
        set_bits(start_, size_, low_bits(length), length);
        size_ += length;
        first += length;
        keep = length < 64 ? keep >> length : 0;
    }
}

// Notes where the next `count` bytes come from: code points from position_ + first on.
void Folder::place_block(unsigned first, unsigned count) {
    if (!spans_) return;
    const std::uint32_t from = position_ + first;
    std::uint32_t* const begin = begin_.data() + size_;
    std::uint32_t* const end = end_.data() + size_;
    for (unsigned i = 0; i < count; ++i) begin[i] = from + i;
    for (unsigned i = 0; i < count; ++i) end[i] = from + i + 1;
}

void Folder::ascii_characters(const std::uint8_t* source, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
        const std::uint8_t c = source[i];
        const unsigned entry = table_entry(c);
        const bool upper = static_cast<std::uint8_t>(c - 'A') < 26;
        const std::uint8_t folded = fold_ && upper ? c | 0x20 : c;
        emit(folded, entry >= kFirstSequence ? unsigned{kWord} : entry, &folded, 1);
        ++position_;
    }
}

void Folder::code_point(std::uint32_t code, const std::uint8_t* utf8, unsigned size) {
    const unsigned entry = table_entry(code);
    if (entry < kDrop) return emit(code, entry, utf8, size);
    if (!fold_) {
        // Kept as it is: what would become nothing belongs to what stands before it.
        const unsigned kind = entry == kDrop ? unsigned{kMark} : kSequencePool[kSequenceStarts[entry - kFirstSequence]] & 15u;
        return emit(code, kind, utf8, size);
    }
    if (entry == kDrop) return;
    for (const std::uint8_t* item = kSequencePool + kSequenceStarts[entry - kFirstSequence]; *item; item += 1 + (*item >> 4)) {
        const unsigned bytes = *item >> 4;
        emit(decode_valid(item + 1, bytes), *item & 15u, item + 1, bytes);
    }
}

void Folder::emit(std::uint32_t code, unsigned character_class, const std::uint8_t* utf8, unsigned size) {
    if (size_ + 160 > bytes_.capacity()) reserve(64);
    if (size_ / 64 + 3 > cleared_) reserve(64);
    if (character_class != kMark) end_mark_run();
    if (mode_ == Mode::chars && !fold_) {
        put(utf8, size, true);
        return;
    }
    switch (character_class) {
        case kSpace:
            last_code_ = 0;
            if (mode_ == Mode::text) return put(utf8, size, false);
            if (mode_ == Mode::chars && !after_space_) {
                const std::uint8_t space = ' ';
                put(&space, 1, true);
            }
            after_space_ = true;
            before_ = Before::nothing;
            return;
        case kOther:
            last_code_ = 0;
            if (mode_ == Mode::text) return put(utf8, size, false);
            if (mode_ != Mode::chars && mode_ != Mode::pieces) {
                before_ = Before::nothing;
                return;
            }
            put(utf8, size, true);
            after_space_ = false;
            before_ = Before::single;
            return;
        case kMark: {
            const bool on_nothing = mode_ != Mode::text && before_ == Before::nothing;
            if (on_nothing && mode_ != Mode::chars) return;
            last_code_ = 0;
            if (fold_) {
                const unsigned combining = combining_class(code);
                if (combining == 0) {
                    end_mark_run();
                } else {
                    if (last_combining_ == 0) mark_run_ = size_;
                    if (last_combining_ > combining) marks_out_of_order_ = true;
                    last_combining_ = std::max(last_combining_, combining);
                }
            }
            put(utf8, size, on_nothing);
            if (on_nothing) {
                before_ = Before::single;
                after_space_ = false;
            }
            return;
        }
        case kSingle:
            if (fold_ && compose_hangul(code)) return;
            if (mode_ == Mode::words) {
                put(utf8, size, before_ != Before::word);
                before_ = Before::word;
            } else {
                put(utf8, size, true);
                before_ = Before::single;
            }
            break;
        default:  // kWord
            put(utf8, size, mode_ == Mode::chars || before_ != Before::word);
            before_ = mode_ == Mode::chars ? Before::single : Before::word;
    }
    after_space_ = false;
    last_code_ = code;
}

// Conjoining jamo become the syllable that they spell, so both spellings are one token. Returns whether it did.
bool Folder::compose_hangul(std::uint32_t code) {
    constexpr std::uint32_t kSyllables = 0xAC00, kLeads = 0x1100, kVowels = 0x1161, kTails = 0x11A7;
    std::uint32_t syllable;
    if (code - kVowels < 21 && last_code_ - kLeads < 19) {
        syllable = kSyllables + ((last_code_ - kLeads) * 21 + (code - kVowels)) * 28;
    } else if (code - kTails - 1 < 27 && last_code_ - kSyllables < 11172 && (last_code_ - kSyllables) % 28 == 0) {
        syllable = last_code_ + (code - kTails);
    } else {
        return false;
    }
    // Lead and syllable both take three bytes: the new syllable replaces the last character in place.
    std::uint8_t utf8[4];
    encode_one(syllable, utf8);
    std::memcpy(bytes_.data() + size_ - 3, utf8, 3);
    if (spans_) {
        for (std::size_t i = size_ - 3; i < size_; ++i) end_[i] = position_ + 1;
    }
    last_code_ = syllable;
    return true;
}

// Puts the marks of a run into canonical order: the same letter with the same marks is the same token.
void Folder::end_mark_run() {
    if (last_combining_ == 0) return;
    last_combining_ = 0;
    if (!marks_out_of_order_) return;
    marks_out_of_order_ = false;
    struct Mark {
        unsigned combining;
        unsigned size;
        std::uint8_t utf8[4];
    };
    std::vector<Mark> marks;
    for (std::size_t i = mark_run_; i < size_;) {
        Mark mark{0, utf8_size(bytes_[i]), {}};
        std::memcpy(mark.utf8, bytes_.data() + i, mark.size);
        mark.combining = combining_class(decode_valid(mark.utf8, mark.size));
        i += mark.size;
        marks.push_back(mark);
    }
    std::stable_sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) { return a.combining < b.combining; });
    std::size_t at = mark_run_;
    for (const Mark& mark : marks) {
        std::memcpy(bytes_.data() + at, mark.utf8, mark.size);
        at += mark.size;
    }
    if (spans_) {
        const std::uint32_t first = begin_[mark_run_], last = end_[size_ - 1];
        std::fill(begin_.data() + mark_run_, begin_.data() + size_, first);
        std::fill(end_.data() + mark_run_, end_.data() + size_, last);
    }
}

}  // namespace lookalike
