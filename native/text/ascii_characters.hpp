// The characters of ASCII texts as tokens: their hashes stand in a table, so nothing is folded and nothing is hashed.
#pragma once

#include <array>

#include "base/hash.hpp"
#include "text/character_form.hpp"

namespace lookalike {

class AsciiCharacters {
   public:
    // Reads what lies from `p` on, all of it ASCII, at most `most` characters: writes the hash of each token of one character, folded, to `hashes`, and where it begins
    // and ends to `starts` and `ends` unless these are null; `position` is where `p` stands. Of a run of white space the first is a token. Returns how many
    // tokens there are; `p` is then where reading stopped. `after_space` is kept from call to call.
    static std::size_t read(const std::uint8_t*& p, const std::uint8_t* end, std::size_t most, std::uint32_t position, bool& after_space, std::uint64_t* hashes,
                            std::uint32_t* starts, std::uint32_t* ends);

    // The first byte that is not ASCII, or the end.
    static const std::uint8_t* end_of_ascii(const std::uint8_t* p, const std::uint8_t* end);
    // The second of the first two neighbours of ASCII that are not white space, or the end.
    static const std::uint8_t* two_in_ascii(const std::uint8_t* p, const std::uint8_t* end);

    static bool is_space(std::uint8_t c) { return table().spaces[c] != 0; }  // of ASCII

   private:
    struct Table {
        std::array<std::uint64_t, 128> hashes;  // of what it becomes by folding
        std::array<std::uint8_t, 128> spaces;
        std::array<std::uint8_t, 16> space_rows;  // by the lower half of a character: a bit for each upper half with which it is a space
    };
    static const Table& table();
};

}  // namespace lookalike
