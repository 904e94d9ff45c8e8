// What the harnesses share: numbers out of the bytes of the fuzzer, damage to columns, and a promise that ends the run where it is broken.
#pragma once

#include <fuzzer/FuzzedDataProvider.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

// Not assert: a harness keeps its promises in every build.
#define REQUIRE(condition)                                                               \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            std::fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition); \
            std::abort();                                                                \
        }                                                                                \
    } while (false)

namespace fuzz {

using Feed = FuzzedDataProvider;

inline std::size_t number(Feed& feed, std::size_t low, std::size_t high) { return feed.ConsumeIntegralInRange<std::size_t>(low, high); }

// A few values come often, so that things are equal; others are anything.
template <class T>
T value(Feed& feed) {
    return feed.ConsumeBool() ? static_cast<T>(feed.ConsumeIntegral<std::uint8_t>() % 8) : feed.ConsumeIntegral<T>();
}

template <class T>
std::vector<T> values(Feed& feed, std::size_t count) {
    std::vector<T> out(count);
    for (T& one : out) one = value<T>(feed);
    return out;
}

// Rows as stores number them: ascending, with gaps.
inline std::vector<std::int64_t> rows(Feed& feed, std::size_t count) {
    std::vector<std::int64_t> out(count);
    std::int64_t row = 0;
    for (std::int64_t& one : out) row = (one = row + feed.ConsumeIntegral<std::uint8_t>() % 4) + 1;
    return out;
}

// Some of the rows, and some that are none of them; ascending.
inline std::vector<std::int64_t> some_of(Feed& feed, std::span<const std::int64_t> rows) {
    std::vector<std::int64_t> out;
    for (const std::int64_t row : rows) {
        if (feed.ConsumeBool()) out.push_back(row);
    }
    return out;
}

// What a disk or somebody with an editor does to an array of numbers.
template <class T, class Allocator>
void damage(Feed& feed, std::vector<T, Allocator>& column) {
    using Bits = std::make_unsigned_t<T>;
    const std::size_t place = column.empty() ? 0 : number(feed, 0, column.size() - 1);
    switch (feed.ConsumeIntegral<std::uint8_t>() % 6) {
        case 0:
            if (!column.empty()) column[place] = feed.ConsumeIntegral<T>();
            break;
        case 1:
            if (!column.empty()) column[place] = static_cast<T>(static_cast<Bits>(column[place]) + static_cast<Bits>(feed.ConsumeIntegralInRange<int>(-2, 2)));
            break;
        case 2: column.resize(place); break;
        case 3: column.insert(column.begin() + static_cast<std::ptrdiff_t>(place), feed.ConsumeIntegral<T>()); break;
        case 4:
            if (!column.empty()) std::swap(column[place], column[number(feed, 0, column.size() - 1)]);
            break;
        default:
            if (!column.empty()) column[place] = static_cast<T>(static_cast<Bits>(column[place]) ^ Bits{1} << number(feed, 0, 8 * sizeof(T) - 1));
    }
}

// Damages one of the columns.
template <class... Column>
void damage_one(Feed& feed, Column&... columns) {
    std::size_t chosen = number(feed, 0, sizeof...(columns) - 1);
    ((chosen-- == 0 ? damage(feed, columns) : void()), ...);
}

inline std::span<const std::uint8_t> bytes_of(const std::string& text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

// Code points of valid UTF-8; -1 where it is not. Lone surrogates in three bytes count as valid where they are let through.
inline std::ptrdiff_t code_points(std::span<const std::uint8_t> text, bool surrogates = false) {
    std::ptrdiff_t count = 0;
    for (std::size_t i = 0; i < text.size(); ++count) {
        const std::uint8_t lead = text[i];
        const std::size_t size = lead < 0x80 ? 1 : lead >= 0xC2 && lead < 0xE0 ? 2 : lead >= 0xE0 && lead < 0xF0 ? 3 : lead >= 0xF0 && lead < 0xF5 ? 4 : 0;
        if (size == 0 || text.size() - i < size) return -1;
        for (std::size_t k = 1; k < size; ++k) {
            if ((text[i + k] & 0xC0) != 0x80) return -1;
        }
        if ((lead == 0xE0 && text[i + 1] < 0xA0) || (lead == 0xF0 && text[i + 1] < 0x90) || (lead == 0xF4 && text[i + 1] >= 0x90)) return -1;
        if (lead == 0xED && text[i + 1] >= 0xA0 && !surrogates) return -1;
        i += size;
    }
    return count;
}

}  // namespace fuzz
