// How many characters of a text are ideographs, as fingerprints/reposts.py takes them: U+3400 to U+9FFF.
#pragma once

#include "text/text_view.hpp"

namespace lookalike {

inline bool is_ideograph(std::uint32_t code) { return code - 0x3400 <= 0x9FFF - 0x3400; }

inline std::size_t ideographs(Utf8 text) {
    std::size_t count = 0;
    for (std::size_t i = 0; i + 2 < text.size(); ++i) {
        // All of them have three bytes, and no other byte begins with the four bits of the first.
        if (text[i] >> 4 == 0xE) count += is_ideograph((text[i] & 0xFU) << 12 | (text[i + 1] & 0x3FU) << 6 | (text[i + 2] & 0x3FU));
    }
    return count;
}

template <class Unit>
std::size_t ideographs(std::span<const Unit> units) {
    std::size_t count = 0;
    for (const Unit unit : units) count += is_ideograph(unit);
    return count;
}

// Whether they are more than half of `characters`, which is how many the text has.
inline bool is_ideographic(const TextView& text, std::size_t characters) {
    return 2 * std::visit([](const auto& units) { return ideographs(units); }, text) > characters;
}

}  // namespace lookalike
