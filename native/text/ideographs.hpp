// How many characters of a text are ideographs, as fingerprints/reposts.py takes them: U+3400 to U+9FFF.
#pragma once

#include "text/text_view.hpp"

namespace lookalike {

template <class Unit>
bool is_ideograph(Unit code) {
    return static_cast<Unit>(code - 0x3400) <= 0x9FFF - 0x3400;
}

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
    constexpr std::size_t kBlock = 1 << 15;  // counted in units, as many at once as a register has
    std::size_t count = 0;
    for (std::size_t first = 0; sizeof(Unit) > 1 && first < units.size(); first += kBlock) {
        Unit here = 0;
        for (const Unit unit : units.subspan(first, std::min(kBlock, units.size() - first))) here = static_cast<Unit>(here + is_ideograph(unit));
        count += here;
    }
    return count;
}

// Whether they are more than half of `characters`, which is how many the text has.
inline bool is_ideographic(const TextView& text, std::size_t characters) {
    return 2 * std::visit([](const auto& units) { return ideographs(units); }, text) > characters;
}

}  // namespace lookalike
