#include "text/ascii_characters.hpp"

#include <algorithm>

namespace lookalike {
namespace {

// How many of eight bytes are ASCII before the first that is not.
std::size_t ascii_in_front(std::uint64_t eight) {
    const std::uint64_t others = eight & 0x8080808080808080ULL;
    return others ? static_cast<std::size_t>(std::countr_zero(others)) / 8 : 8;
}

}  // namespace

const AsciiCharacters::Table& AsciiCharacters::table() {
    static const Table made = [] {
        Table table{};
        for (std::uint8_t c = 0; c < 128; ++c) {
            table.spaces[c] = CharacterForm::of_ascii(c) == CharacterForm::kSpace;
            const std::uint8_t folded = table.spaces[c] ? std::uint8_t{' '} : c >= 'A' && c <= 'Z' ? static_cast<std::uint8_t>(c | 0x20) : c;
            table.hashes[c] = token_hash(&folded, 1);
        }
        return table;
    }();
    return made;
}

const std::uint8_t* AsciiCharacters::end_of_ascii(const std::uint8_t* p, const std::uint8_t* end) {
    while (end - p >= 8) {
        const std::size_t here = ascii_in_front(load64(p));
        p += here;
        if (here < 8) return p;
    }
    while (p < end && *p < 0x80) ++p;
    return p;
}

const std::uint8_t* AsciiCharacters::two_in_ascii(const std::uint8_t* p, const std::uint8_t* end) {
    bool before = false;
    for (; p < end; ++p) {
        const bool here = *p < 0x80 && !is_space(*p);
        if (here && before) return p;
        before = here;
    }
    return end;
}

// All of it is ASCII.
std::size_t AsciiCharacters::read(const std::uint8_t*& p, const std::uint8_t* end, std::size_t most, std::uint32_t position, bool& after_space,
                                  std::uint64_t* hashes, std::uint32_t* starts) {
    const Table& known = table();
    const std::size_t size = std::min<std::size_t>(most, static_cast<std::size_t>(end - p));
    std::size_t count = 0;
    unsigned after = after_space;
    for (std::size_t i = 0; i < size; ++i) {  // without a branch: a space that does not count is written over
        const std::uint8_t c = p[i];
        const unsigned space = known.spaces[c];
        hashes[count] = known.hashes[c];
        if (starts) starts[count] = position + static_cast<std::uint32_t>(i);
        count += 1 - (space & after);
        after = space;
    }
    after_space = after != 0;
    p += size;
    return count;
}

}  // namespace lookalike
