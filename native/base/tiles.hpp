// Sums over the elements of a row and a column, for many of both: some rows by two vectors of columns at a time, whose sums stay in registers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

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

// All of it. fill(from, wide, panel) puts `wide` columns beside each other, element by element, and zeros beyond the last. As many panels as stay in the
// second cache are passed over by all rows. finish(sums, count) gets the sums of a row by these columns.
template <class Lanes, std::size_t Rows, class Number, class Fill, class Take, class Finish>
LOOKALIKE_INLINED void sum_in_tiles(const Number* a, std::size_t rows, std::size_t inner, std::size_t columns, Number* sums, Fill&& fill, Take&& take,
                                    Finish&& finish) {
    constexpr std::size_t wide = 2 * sizeof(Lanes) / sizeof(Number), kTogether = std::size_t{256} << 10;
    const std::size_t panel = inner * wide, all = (columns + wide - 1) / wide;
    const std::size_t together = std::clamp<std::size_t>(kTogether / sizeof(Number) / std::max<std::size_t>(panel, 1), 1, std::max<std::size_t>(all, 1));
    std::vector<Number> panels(together * panel);
    for (std::size_t from = 0; from < columns; from += together * wide) {
        const std::size_t end = std::min(columns, from + together * wide);
        for (std::size_t at = from; at < end; at += wide) fill(at, wide, panels.data() + (at - from) * inner);
        const auto sum_rows = [&]<std::size_t Many>(std::size_t row) __attribute__((always_inline)) {
            for (std::size_t at = from; at < end; at += wide) {
                sum_tile<Lanes, Many>(a + row * inner, inner, panels.data() + (at - from) * inner, sums + row * columns + at, columns, std::min(wide, end - at),
                                      take);
            }
            for (std::size_t i = row; i < row + Many; ++i) finish(sums + i * columns + from, end - from);
        };
        std::size_t row = 0;
        for (; row + Rows <= rows; row += Rows) sum_rows.template operator()<Rows>(row);
        for (; row < rows; ++row) sum_rows.template operator()<1>(row);
    }
}

}  // namespace lookalike
