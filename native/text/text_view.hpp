// A text as whoever has it holds it: UTF-8, or units of one size, one per code point, as Python's strings.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/platform.hpp"
#include "text/encoded_blocks.hpp"

namespace lookalike {

using Utf8 = std::span<const std::uint8_t>;
using OneByteUnits = std::span<const char8_t>;  // code points below U+0100
using TwoByteUnits = std::span<const std::uint16_t>;
using FourByteUnits = std::span<const std::uint32_t>;
using TextView = std::variant<Utf8, OneByteUnits, TwoByteUnits, FourByteUnits>;

// A code point in UTF-8; a lone surrogate takes three bytes, as any other below U+10000. Returns how many bytes it has; room for four is needed.
inline unsigned encode_one(std::uint32_t code, std::uint8_t* out) {
    if (code < 0x80) return out[0] = static_cast<std::uint8_t>(code), 1;
    if (code < 0x800) {
        out[0] = static_cast<std::uint8_t>(0xC0 | code >> 6);
        out[1] = static_cast<std::uint8_t>(0x80 | (code & 0x3F));
        return 2;
    }
    unsigned size = 0;
    if (code >= 0x10000) {
        out[size++] = static_cast<std::uint8_t>(0xF0 | code >> 18);
        out[size++] = static_cast<std::uint8_t>(0x80 | (code >> 12 & 0x3F));
    } else {
        out[size++] = static_cast<std::uint8_t>(0xE0 | code >> 12);
    }
    out[size++] = static_cast<std::uint8_t>(0x80 | (code >> 6 & 0x3F));
    out[size++] = static_cast<std::uint8_t>(0x80 | (code & 0x3F));
    return size;
}

inline constexpr std::size_t kAsciiBlock = 16;

// Whether so many units are all below 0x80: words of eight bytes are looked at, each with several units.
template <class Unit>
bool is_ascii_block(const Unit* unit) {
    constexpr std::uint64_t lowest = sizeof(Unit) == 1 ? 0x0101010101010101 : sizeof(Unit) == 2 ? 0x0001000100010001 : 0x0000000100000001;
    constexpr std::uint64_t beyond = ~(0x7F * lowest);
    std::array<std::uint64_t, kAsciiBlock * sizeof(Unit) / sizeof(std::uint64_t)> words;
    std::memcpy(words.data(), unit, sizeof(words));
    std::uint64_t all = 0;
    for (const std::uint64_t word : words) all |= word;
    return (all & beyond) == 0;
}

// All of them. ASCII is copied in blocks: texts that have a few other characters are mostly that. Returns where the last one ends.
template <class Unit>
std::uint8_t* encode_all(std::span<const Unit> units, std::uint8_t* out) {
    const Unit *unit = units.data(), *const end = unit + units.size();
    if constexpr (sizeof(Unit) == 2) {
        const EncodedBlocks done = encode_blocks(units, out);
        unit += done.units;
        out += done.bytes;
    }
    while (unit < end) {
        const std::size_t here = std::min(kAsciiBlock, static_cast<std::size_t>(end - unit));
        if (here == kAsciiBlock && is_ascii_block(unit)) {
            std::array<Unit, kAsciiBlock> ascii;  // apart from both, so that all of it is made at once
            std::memcpy(ascii.data(), unit, sizeof(ascii));
            std::array<std::uint8_t, kAsciiBlock> narrow;
            for (std::size_t i = 0; i < kAsciiBlock; ++i) narrow[i] = static_cast<std::uint8_t>(ascii[i]);
            std::memcpy(out, narrow.data(), kAsciiBlock);
            out += kAsciiBlock;
        } else {
            for (std::size_t i = 0; i < here; ++i) out += encode_one(unit[i], out);
        }
        unit += here;
    }
    return out;
}

template <class Unit>
Utf8 encoded(std::span<const Unit> units, std::vector<std::uint8_t>& buffer) {
    constexpr std::size_t most = sizeof(Unit) == 1 ? 2 : sizeof(Unit) == 2 ? 3 : 4;
    if (buffer.size() < most * units.size() + 4) buffer.resize(most * units.size() + 4);
    const std::uint8_t* const end = encode_all(units, buffer.data());
    return {buffer.data(), static_cast<std::size_t>(end - buffer.data())};
}

// Whether units that are not UTF-8 have half a character, which belongs to no text.
inline bool has_surrogates(const TextView& text) {
    return std::visit(
        [](const auto& units) {
            using Unit = std::remove_cvref_t<decltype(units[0])>;
            Unit any = 0;
            if constexpr (sizeof(Unit) > 1) {
                constexpr Unit kHalfMask = static_cast<Unit>(~Unit{0x7FF});
                // All of them, since most texts have none, and in their own size: many fit into a register.
                for (const Unit unit : units) any |= static_cast<Unit>((unit & kHalfMask) == 0xD800);
            }
            return any != 0;
        },
        text);
}

// How many bytes a text has in UTF-8.
inline std::size_t utf8_size(const TextView& text) {
    return std::visit(
        [](const auto& units) {
            std::size_t size = units.size();
            if constexpr (!std::is_same_v<std::decay_t<decltype(units)>, Utf8>) {
                for (const std::uint32_t unit : units) size += (unit >= 0x80) + (unit >= 0x800) + (unit >= 0x10000);
            }
            return size;
        },
        text);
}

inline constexpr std::size_t kBeyondUtf8 = 3;  // bytes behind a text that may be written to

inline void write_utf8(const TextView& text, std::uint8_t* out) {
    std::visit(
        [&](const auto& units) {
            if constexpr (std::is_same_v<std::decay_t<decltype(units)>, Utf8>) {
                std::copy(units.begin(), units.end(), out);
            } else {
                encode_all(units, out);
            }
        },
        text);
}

// The text as UTF-8, in the buffer where it is something else.
inline Utf8 as_utf8(const TextView& text, std::vector<std::uint8_t>& buffer) {
    return std::visit(
        [&](const auto& units) -> Utf8 {
            if constexpr (std::is_same_v<std::decay_t<decltype(units)>, Utf8>) {
                return units;
            } else {
                return encoded(units, buffer);
            }
        },
        text);
}

}  // namespace lookalike
