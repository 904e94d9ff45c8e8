#include "text/words.hpp"

#include <array>

#include "base/hash.hpp"
#include "text/unicode.hpp"

namespace lookalike {
namespace {

bool begins_code_point(std::uint8_t byte) { return (byte & 0xC0) != 0x80; }
bool is_digit(std::uint8_t c) { return c >= '0' && c <= '9'; }
bool is_capital(std::uint8_t c) { return c >= 'A' && c <= 'Z'; }
bool is_alphanumeric(std::uint8_t c) { return is_digit(c) || is_capital(c) || (c >= 'a' && c <= 'z'); }

// Where the code points that begin at a byte end; not beyond the end of the text.
std::size_t after_code_points(std::span<const std::uint8_t> utf8, std::size_t byte, std::size_t count) {
    for (; count > 0 && byte < utf8.size(); --count) {
        do ++byte;
        while (byte < utf8.size() && !begins_code_point(utf8[byte]));
    }
    return byte;
}

// Whether a text begins with so many ideographs of U+4E00 to U+9FFF: three bytes each, and nothing for folding to change.
bool are_ideographs(std::span<const std::uint8_t> utf8, std::size_t count) {
    if (utf8.size() / 3 < count) return false;
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint8_t lead = utf8[3 * i];
        if (lead < 0xE4 || lead > 0xE9 || (lead == 0xE4 && utf8[3 * i + 1] < 0xB8)) return false;
    }
    return true;
}

bool are_ascii(std::span<const std::uint8_t> utf8, std::size_t count) {
    if (utf8.size() < count) return false;
    for (std::size_t i = 0; i < count; ++i) {
        if (utf8[i] >= 0x80) return false;
    }
    return true;
}

// Whether a piece of ASCII holds a letter or digit, one of . _ - and another letter or digit.
bool is_compound(std::span<const std::uint8_t> piece) {
    for (std::size_t i = 1; i + 1 < piece.size(); ++i) {
        const std::uint8_t c = piece[i];
        if ((c == '.' || c == '_' || c == '-') && is_alphanumeric(piece[i - 1]) && is_alphanumeric(piece[i + 1])) return true;
    }
    return false;
}

// The white space of text/segment.py, which does not change with the version of Unicode: none of it has more than three bytes.
bool is_blank(std::span<const std::uint8_t> word) {
    switch (word.size()) {
        case 1: return word[0] == ' ' || (word[0] >= 0x09 && word[0] <= 0x0D) || (word[0] >= 0x1C && word[0] <= 0x1F);
        case 2: return (word[0] == '\r' && word[1] == '\n') || (word[0] == 0xC2 && (word[1] == 0x85 || word[1] == 0xA0));
        case 3: {
            const std::uint32_t code = (word[0] & 0x0FU) << 12 | (word[1] & 0x3FU) << 6 | (word[2] & 0x3FU);
            return code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F ||
                   code == 0x3000;
        }
        default: return false;
    }
}

}  // namespace

std::size_t count_code_points(std::span<const std::uint8_t> utf8) {
    std::size_t count = 0;
    for (const std::uint8_t byte : utf8) count += begins_code_point(byte);
    return count;
}

HashedWords hash_words(std::span<const std::uint8_t> utf8, std::span<const std::uint32_t> edges, bool fold, const TokenHash& hash) {
    const Secret* secret = std::get_if<Secret>(&hash);
    const Hashing* hashing = std::get_if<Hashing>(&hash);
    HashedWords found;
    found.hashes.reserve(edges.size() / 2);
    found.starts.reserve(edges.size() / 2);
    found.ends.reserve(edges.size() / 2);
    Folder folder;
    std::size_t byte = 0, code = 0;
    const auto advance = [&](std::size_t to) {
        byte = after_code_points(utf8, byte, to - code);
        code = to;
        return byte;
    };
    for (std::size_t i = 0; i + 1 < edges.size(); i += 2) {
        const std::size_t first = advance(edges[i]);
        const std::span<const std::uint8_t> word = utf8.subspan(first, advance(edges[i + 1]) - first);
        std::span<const std::uint8_t> normal = word;
        if (fold) {
            folder.run(word, Mode::text, true, false);
            normal = {folder.bytes(), folder.size()};
        }
        if (normal.empty()) continue;
        found.hashes.push_back(secret ? secret->of(normal.data(), normal.size()) : hashing->string(normal.data(), normal.size()));
        found.starts.push_back(edges[i]);
        found.ends.push_back(edges[i + 1]);
    }
    return found;
}

void CutHasher::run(std::span<const std::uint8_t> utf8, std::span<const std::uint32_t> lengths, std::vector<std::uint64_t>& hashes) {
    std::size_t first = 0;
    for (const std::uint32_t length : lengths) {
        if (length == 0) continue;
        // Nearly all pieces are ideographs, which are their own normal forms, or ASCII.
        const std::span<const std::uint8_t> rest = utf8.subspan(first);
        if (are_ideographs(rest, length)) {
            const std::size_t size = std::size_t{3} * length;
            const bool padded = plain_ && size + 8 <= rest.size();
            hashes.push_back(padded ? token_hash_padded(rest.data(), size) : hash(rest.first(size)));
            first += size;
        } else if (are_ascii(rest, length)) {
            add_ascii(rest.first(length), hashes);
            first += length;
        } else {
            const std::size_t end = after_code_points(utf8, first, length);
            add(utf8.subspan(first, end - first), hashes);
            first = end;
        }
    }
}

// rjieba keeps foo-bar and a.b in one piece: they are cut as jieba cuts them, into [A-Za-z0-9]+(\.[0-9]+)?%? and what is between.
void CutHasher::add_ascii(std::span<const std::uint8_t> piece, std::vector<std::uint64_t>& hashes) {
    if (!is_compound(piece)) return add(piece, hashes);
    const auto skip = [&](std::size_t i, auto&& belongs) {
        while (i < piece.size() && belongs(piece[i])) ++i;
        return i;
    };
    for (std::size_t begin = 0, end = 0; begin < piece.size(); begin = end) {
        if (is_alphanumeric(piece[begin])) {
            end = skip(begin, is_alphanumeric);
            if (end + 1 < piece.size() && piece[end] == '.' && is_digit(piece[end + 1])) end = skip(end + 1, is_digit);
            if (end < piece.size() && piece[end] == '%') ++end;
        } else {
            end = skip(begin, [](std::uint8_t c) { return !is_alphanumeric(c); });
        }
        add(piece.subspan(begin, end - begin), hashes);
    }
}

void CutHasher::add(std::span<const std::uint8_t> word, std::vector<std::uint64_t>& hashes) {
    if (is_blank(word)) return;
    std::span<const std::uint8_t> normal = word;
    std::array<std::uint8_t, 32> lower;
    if (fold_ && word.size() <= lower.size() && are_ascii(word, word.size())) {
        for (std::size_t i = 0; i < word.size(); ++i) lower[i] = static_cast<std::uint8_t>(word[i] | (is_capital(word[i]) ? 0x20 : 0));
        normal = std::span(lower).first(word.size());
    } else if (fold_) {
        folder_.run(word, Mode::text, true, false);
        normal = {folder_.bytes(), folder_.size()};
    }
    if (!normal.empty()) hashes.push_back(hash(normal));
}

std::uint64_t CutHasher::hash(std::span<const std::uint8_t> normal) const {
    return secret_ ? secret_->of(normal.data(), normal.size()) : hashing_->string(normal.data(), normal.size());
}

bool may_be_outside_jieba(std::span<const std::uint8_t> utf8) {
    unsigned found = 0;
    for (std::size_t i = 0; i + 1 < utf8.size(); ++i) {  // without branches: sixteen or more bytes at a time
        const std::uint8_t lead = utf8[i], next = utf8[i + 1];
        found |= static_cast<unsigned>((lead == 0xE3) & (next >= 0x90)) | static_cast<unsigned>((lead == 0xE4) & (next <= 0xB6)) |  // U+3400–4DBF
                 static_cast<unsigned>((lead == 0xE9) & (next == 0xBF)) |                                                           // U+9FC0–9FFF
                 static_cast<unsigned>((lead == 0xED) & (next >= 0xA0)) |                                                           // surrogates
                 static_cast<unsigned>((lead == 0xEF) & (next >= 0xA4) & (next <= 0xAB)) |                                          // U+F900–FAFF
                 static_cast<unsigned>((lead == 0xF0) & (next >= 0xA0));                                                            // U+20000–3FFFF
    }
    return found != 0;
}

}  // namespace lookalike
