// Sums over the elements of a row and a column, for many of both: some rows by two vectors of columns at a time, whose sums stay in registers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/dispatch.hpp"

namespace lookalike {

// `Rows` rows of a by a panel of two vectors of columns; `here` of the columns are wanted. take(sum, x, y) adds one element of each.
template <class Lanes, std::size_t Rows, class Number, class Take>
LOOKALIKE_INLINED void sum_tile(const Number* a, std::size_t inner, const Number* panel, Number* sums, std::size_t columns, std::size_t here, Take&& take) {
    constexpr std::size_t lanes = sizeof(Lanes) / sizeof(Number);
    Lanes own[Rows][2] = {};
    for (std::size_t k = 0; k < inner; ++k) {
        Lanes left, right;
        std::memcpy(&left, panel + k * 2 * lanes, sizeof left);
        std::memcpy(&right, panel + k * 2 * lanes + lanes, sizeof right);
#pragma GCC unroll 16
        for (std::size_t row = 0; row < Rows; ++row) {
            const Number value = a[row * inner + k];
            take(own[row][0], value, left);
            take(own[row][1], value, right);
        }
    }
    for (std::size_t row = 0; row < Rows; ++row) std::memcpy(sums + row * columns, own[row], here * sizeof(Number));
}

// All of it. fill(from, wide, panel) puts `wide` columns beside each other, element by element, and zeros beyond the last: so a panel stays in the
// second cache while all rows pass over it.
template <class Lanes, std::size_t Rows, class Number, class Fill, class Take>
LOOKALIKE_INLINED void sum_in_tiles(const Number* a, std::size_t rows, std::size_t inner, std::size_t columns, Number* sums, Number* panel, Fill&& fill,
                                    Take&& take) {
    constexpr std::size_t wide = 2 * sizeof(Lanes) / sizeof(Number);
    for (std::size_t from = 0; from < columns; from += wide) {
        const std::size_t here = std::min(wide, columns - from);
        fill(from, wide, panel);
        std::size_t row = 0;
        for (; row + Rows <= rows; row += Rows) sum_tile<Lanes, Rows>(a + row * inner, inner, panel, sums + row * columns + from, columns, here, take);
        for (; row < rows; ++row) sum_tile<Lanes, 1>(a + row * inner, inner, panel, sums + row * columns + from, columns, here, take);
    }
}

}  // namespace lookalike
