#include "text/words.hpp"

#include "base/hash.hpp"
#include "text/unicode.hpp"

namespace lookalike {
namespace {

bool begins_code_point(std::uint8_t byte) { return (byte & 0xC0) != 0x80; }

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

HashedWords hash_words(std::span<const std::uint8_t> utf8, std::span<const std::uint32_t> edges, bool fold, bool skip_blank, const TokenHash& hash) {
    const Secret* secret = std::get_if<Secret>(&hash);
    const Hashing* hashing = std::get_if<Hashing>(&hash);
    HashedWords found;
    found.hashes.reserve(edges.size() / 2);
    found.starts.reserve(edges.size() / 2);
    found.ends.reserve(edges.size() / 2);
    Folder folder;
    std::size_t byte = 0, code = 0;
    const auto advance = [&](std::size_t to) {
        for (; code < to; ++code) {
            do ++byte;
            while (byte < utf8.size() && !begins_code_point(utf8[byte]));
        }
        return byte;
    };
    for (std::size_t i = 0; i + 1 < edges.size(); i += 2) {
        const std::size_t first = advance(edges[i]);
        const std::span<const std::uint8_t> word = utf8.subspan(first, advance(edges[i + 1]) - first);
        if (skip_blank && is_blank(word)) continue;
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

}  // namespace lookalike
