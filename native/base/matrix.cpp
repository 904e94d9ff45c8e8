// This file is compiled with -ffp-contract=fast: where the processor has fused multiply-adds, `sum + x * y` is one.
#include "base/matrix.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/tiles.hpp"

namespace lookalike {
namespace {

// `wide` columns of b. Those beyond the last are zeros.
void fill_panel(const float* b, std::size_t inner, std::size_t columns, std::size_t from, std::size_t wide, float* panel) {
    const std::size_t here = std::min(wide, columns - from);
    for (std::size_t k = 0; k < inner; ++k) {
        std::memcpy(panel + k * wide, b + k * columns + from, here * sizeof(float));
        std::fill(panel + k * wide + here, panel + (k + 1) * wide, 0.0F);
    }
}

template <class Lanes, std::size_t Rows>
LOOKALIKE_INLINED void multiply_in_tiles(const float* a, const float* b, float* c, std::size_t rows, std::size_t inner, std::size_t columns) {
    sum_in_tiles<Lanes, Rows>(
        a, rows, inner, columns, c, [&](std::size_t from, std::size_t wide, float* columns_of) { fill_panel(b, inner, columns, from, wide, columns_of); },
        [](Lanes& sum, float factor, const Lanes& column) __attribute__((always_inline)) { sum += factor * column; }, [](float*, std::size_t) {});
}

typedef float Lanes8 __attribute__((vector_size(32)));
typedef float Lanes16 __attribute__((vector_size(64)));

using Multiply = void (*)(const float*, const float*, float*, std::size_t, std::size_t, std::size_t);

// The definition itself. Without the instruction each step is a call, which computes the same.
void multiply_anywhere(const float* a, const float* b, float* c, std::size_t rows, std::size_t inner, std::size_t columns) {
    for (std::size_t row = 0; row < rows; ++row) {
        float* sums = c + row * columns;
        std::fill(sums, sums + columns, 0.0F);
        for (std::size_t k = 0; k < inner; ++k) {
            const float factor = a[row * inner + k];
            for (std::size_t column = 0; column < columns; ++column) sums[column] = std::fma(factor, b[k * columns + column], sums[column]);
        }
    }
}

LOOKALIKE_AVX512 void multiply_by_16(const float* a, const float* b, float* c, std::size_t rows, std::size_t inner, std::size_t columns) {
    multiply_in_tiles<Lanes16, 8>(a, b, c, rows, inner, columns);
}

LOOKALIKE_AVX2 void multiply_by_8(const float* a, const float* b, float* c, std::size_t rows, std::size_t inner, std::size_t columns) {
    multiply_in_tiles<Lanes8, 6>(a, b, c, rows, inner, columns);
}

Multiply fastest_multiply() {
    switch (fused_level()) {
        case Level::avx512: return multiply_by_16;
        case Level::avx2: return multiply_by_8;
        case Level::plain: break;
    }
    return multiply_anywhere;
}

}  // namespace

void multiply(const float* a, const float* b, float* c, std::size_t rows, std::size_t inner, std::size_t columns) {
    fastest_multiply()(a, b, c, rows, inner, columns);
}

}  // namespace lookalike
