#include "passages/units.hpp"

#include "text/words.hpp"

namespace lookalike {
namespace {

bool is_space(std::uint8_t c) { return c == ' ' || (c >= 0x09 && c <= 0x0D); }

// The three bytes of a character of U+0800 to U+FFFF, 0 for any other.
std::uint32_t three_bytes(std::span<const std::uint8_t> utf8, std::size_t i) {
    if (i + 3 > utf8.size() || utf8[i] < 0xE0 || utf8[i] > 0xEF) return 0;
    return static_cast<std::uint32_t>(utf8[i]) << 16 | static_cast<std::uint32_t>(utf8[i + 1]) << 8 | utf8[i + 2];
}

// How many bytes the mark has that ends a sentence there whatever follows: 。！？｡; 0 if there is none.
std::size_t wide_stop(std::span<const std::uint8_t> utf8, std::size_t i) {
    switch (three_bytes(utf8, i)) {
        case 0xE38082:
        case 0xEFBC81:
        case 0xEFBC9F:
        case 0xEFBDA1: return 3;
        default: return 0;
    }
}

std::size_t stop(std::span<const std::uint8_t> utf8, std::size_t i) {
    if (utf8[i] == '.' || utf8[i] == '!' || utf8[i] == '?') return 1;
    return wide_stop(utf8, i);
}

// A closing quote or bracket: " ' ) ] } » ’ ” 」 』 】 ）
std::size_t closing(std::span<const std::uint8_t> utf8, std::size_t i) {
    const std::uint8_t c = utf8[i];
    if (c == '"' || c == '\'' || c == ')' || c == ']' || c == '}') return 1;
    if (c == 0xC2 && i + 1 < utf8.size() && utf8[i + 1] == 0xBB) return 2;
    switch (three_bytes(utf8, i)) {
        case 0xE28099:
        case 0xE2809D:
        case 0xE3808D:
        case 0xE3808F:
        case 0xE38091:
        case 0xEFBC89: return 3;
        default: return 0;
    }
}

// Where the sentence that begins at a byte ends.
std::size_t sentence_end(std::span<const std::uint8_t> utf8, std::size_t i) {
    while (i < utf8.size()) {
        if (utf8[i] == '\n') return i + 1;
        if (stop(utf8, i) == 0) {
            ++i;
            continue;
        }
        bool wide = false;
        for (std::size_t size; i < utf8.size() && (size = stop(utf8, i)) > 0; i += size) wide = wide || size > 1;
        for (std::size_t size; i < utf8.size() && (size = closing(utf8, i)) > 0;) i += size;
        if (wide || i == utf8.size() || is_space(utf8[i])) return i;
    }
    return i;
}

// Calls visit(first byte, byte after the last) for the sentences of a text, one after the other and without gaps. A sentence ends behind . ! ? with
// white space or the end behind them, behind their ideographic forms, and behind a line break. Closing quotes and brackets belong to it.
template <class Visit>
void for_each_sentence(std::span<const std::uint8_t> utf8, Visit&& visit) {
    for (std::size_t begin = 0; begin < utf8.size();) {
        const std::size_t end = sentence_end(utf8, begin);
        visit(begin, end);
        begin = end;
    }
}

}  // namespace

void UnitReader::append_tokens(std::span<const std::uint8_t> utf8, std::vector<std::uint64_t>& hashes) {
    shingler_.run(utf8, [&](const std::uint64_t*, const std::uint64_t* secret, std::size_t count) { hashes.insert(hashes.end(), secret, secret + count); });
}

void UnitReader::append_hashes(std::span<const std::uint8_t> utf8, std::vector<std::uint64_t>& hashes) {
    if (!options_.sentences) return append_tokens(utf8, hashes);
    for_each_sentence(utf8, [&](std::size_t begin, std::size_t end) {
        tokens_.clear();
        append_tokens(utf8.subspan(begin, end - begin), tokens_);
        if (!tokens_.empty()) hashes.push_back(secret_.of(reinterpret_cast<const std::uint8_t*>(tokens_.data()), 8 * tokens_.size()));
    });
}

bool UnitReader::has_tokens(std::span<const std::uint8_t> utf8) {
    tokens_.clear();
    append_tokens(utf8, tokens_);
    return !tokens_.empty();
}

void UnitReader::find_spans(std::span<const std::uint8_t> utf8, std::vector<std::uint32_t>& begins, std::vector<std::uint32_t>& ends) {
    begins.clear();
    ends.clear();
    if (!options_.sentences) {
        folder_.run(utf8, options_.mode, options_.fold, true);
        folder_.for_each_token([&](std::size_t begin, std::size_t end) {
            begins.push_back(folder_.span_begin(begin));
            ends.push_back(folder_.span_end(end - 1));
        });
        return;
    }
    std::size_t seen = 0;  // code points
    for_each_sentence(utf8, [&](std::size_t begin, std::size_t end) {
        const std::span<const std::uint8_t> sentence = utf8.subspan(begin, end - begin);
        std::size_t first = 0, last = sentence.size();
        while (first < last && is_space(sentence[first])) ++first;
        while (last > first && is_space(sentence[last - 1])) --last;
        const std::size_t before = seen + first, after = before + count_code_points(sentence.subspan(first, last - first));
        seen += count_code_points(sentence);
        if (!has_tokens(sentence)) return;
        begins.push_back(static_cast<std::uint32_t>(before));
        ends.push_back(static_cast<std::uint32_t>(after));
    });
}

}  // namespace lookalike
