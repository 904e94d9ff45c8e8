// This file is compiled with -ffp-contract=fast: where the processor has fused multiply-adds, `sum + x * y` is one.
#include "base/matrix.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/dispatch.hpp"

namespace lookalike {
namespace {

// `wide` columns of b at a time are copied into a panel, which stays in the second cache while all rows of a pass over it.
// Columns beyond the last are zeros.
void fill_panel(const float* b, std::size_t inner, std::size_t columns, std::size_t from, std::size_t wide, float* panel) {
    const std::size_t here = std::min(wide, columns - from);
    for (std::size_t k = 0; k < inner; ++k) {
        std::memcpy(panel + k * wide, b + k * columns + from, here * sizeof(float));
        std::fill(panel + k * wide + here, panel + (k + 1) * wide, 0.0F);
    }
}

// `Rows` rows of a by a panel of two vectors: all sums stay in registers.
template <class Lanes, std::size_t Rows>
[[gnu::always_inline]] inline void multiply_tile(const float* a, std::size_t inner, const float* panel, float* c, std::size_t columns, std::size_t here) {
    constexpr std::size_t lanes = sizeof(Lanes) / sizeof(float);
    Lanes sums[Rows][2] = {};
    for (std::size_t k = 0; k < inner; ++k) {
        Lanes left, right;
        std::memcpy(&left, panel + k * 2 * lanes, sizeof left);
        std::memcpy(&right, panel + k * 2 * lanes + lanes, sizeof right);
#pragma GCC unroll 16
        for (std::size_t row = 0; row < Rows; ++row) {
            const float factor = a[row * inner + k];
            sums[row][0] += factor * left;
            sums[row][1] += factor * right;
        }
    }
    for (std::size_t row = 0; row < Rows; ++row) std::memcpy(c + row * columns, sums[row], here * sizeof(float));
}

template <class Lanes, std::size_t Rows>
[[gnu::always_inline]] inline void multiply_in_tiles(const float* a, const float* b, float* c, std::size_t rows, std::size_t inner, std::size_t columns,
                                                     float* panel) {
    constexpr std::size_t wide = 2 * sizeof(Lanes) / sizeof(float);
    for (std::size_t from = 0; from < columns; from += wide) {
        const std::size_t here = std::min(wide, columns - from);
        fill_panel(b, inner, columns, from, wide, panel);
        std::size_t row = 0;
        for (; row + Rows <= rows; row += Rows) multiply_tile<Lanes, Rows>(a + row * inner, inner, panel, c + row * columns + from, columns, here);
        for (; row < rows; ++row) multiply_tile<Lanes, 1>(a + row * inner, inner, panel, c + row * columns + from, columns, here);
    }
}

typedef float Lanes8 __attribute__((vector_size(32)));
typedef float Lanes16 __attribute__((vector_size(64)));
constexpr std::size_t kWidestPanel = 32;

using Multiply = void (*)(const float*, const float*, float*, std::size_t, std::size_t, std::size_t, float*);

// The definition itself. Without the instruction each step is a call, which computes the same.
void multiply_anywhere(const float* a, const float* b, float* c, std::size_t rows, std::size_t inner, std::size_t columns, float*) {
    for (std::size_t row = 0; row < rows; ++row) {
        float* sums = c + row * columns;
        std::fill(sums, sums + columns, 0.0F);
        for (std::size_t k = 0; k < inner; ++k) {
            const float factor = a[row * inner + k];
            for (std::size_t column = 0; column < columns; ++column) sums[column] = std::fma(factor, b[k * columns + column], sums[column]);
        }
    }
}

#if LOOKALIKE_HAS_LEVELS
LOOKALIKE_AVX512 void multiply_by_16(const float* a, const float* b, float* c, std::size_t rows, std::size_t inner, std::size_t columns, float* panel) {
    multiply_in_tiles<Lanes16, 8>(a, b, c, rows, inner, columns, panel);
}

LOOKALIKE_AVX2 void multiply_by_8(const float* a, const float* b, float* c, std::size_t rows, std::size_t inner, std::size_t columns, float* panel) {
    multiply_in_tiles<Lanes8, 6>(a, b, c, rows, inner, columns, panel);
}
#elif defined(__FP_FAST_FMAF)
void multiply_by_8(const float* a, const float* b, float* c, std::size_t rows, std::size_t inner, std::size_t columns, float* panel) {
    multiply_in_tiles<Lanes8, 6>(a, b, c, rows, inner, columns, panel);
}
#endif

Multiply fastest_multiply() {
#if LOOKALIKE_HAS_LEVELS
    return kLevel == Level::avx512 ? multiply_by_16 : kLevel == Level::avx2 ? multiply_by_8 : multiply_anywhere;
#elif defined(__FP_FAST_FMAF)
    return multiply_by_8;
#else
    return multiply_anywhere;
#endif
}

}  // namespace

void multiply(const float* a, const float* b, float* c, std::size_t rows, std::size_t inner, std::size_t columns) {
    std::vector<float> panel(inner * kWidestPanel);
    fastest_multiply()(a, b, c, rows, inner, columns, panel.data());
}

}  // namespace lookalike
