// This file is compiled with -ffp-contract=fast: where the processor has fused multiply-adds, `sum + x * y` is one.
#include "base/row_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/dispatch.hpp"

namespace lookalike {
namespace {

constexpr std::size_t kWidest = 16;  // columns of a panel
constexpr std::size_t kInterleaved = 8;

// One element more. `Fused`: the compiler makes one instruction of a product and a sum.
template <PairSum Kind, bool Fused, class Number>
[[gnu::always_inline]] inline void take(Number& sum, const Number& x, const Number& y) {
    if constexpr (Kind == PairSum::products) {
        if constexpr (Fused) {
            sum += x * y;
        } else {
            sum = std::fma(x, y, sum);
        }
    } else {
        const Number difference = x - y;
        if constexpr (Kind == PairSum::squared_differences) {
            if constexpr (Fused) {
                sum += difference * difference;
            } else {
                sum = std::fma(difference, difference, sum);
            }
        } else {
            const Number size = difference < 0 ? -difference : difference;
            if constexpr (Kind == PairSum::differences) {
                sum += size;
            } else {
                sum = size > sum ? size : sum;
            }
        }
    }
}

// Several rows at a time: a step waits for the one before it, and rows do not wait for each other.
template <PairSum Kind, bool Fused>
[[gnu::always_inline]] inline void each_row(const double* a, const double* b, double* sums, std::size_t rows, std::size_t inner) {
    for (std::size_t first = 0; first < rows; first += kInterleaved) {
        const std::size_t here = std::min(kInterleaved, rows - first);
        double own[kInterleaved] = {};
        for (std::size_t k = 0; k < inner; ++k) {
            for (std::size_t row = 0; row < here; ++row) {
                take<Kind, Fused>(own[row], a[(first + row) * inner + k], b[(first + row) * inner + k]);
            }
        }
        std::copy_n(own, here, sums + first);
    }
}

// `wide` rows of b, turned into columns: then neighbours in memory belong to different sums. Beyond the last there are zeros.
void fill_panel(const double* b, std::size_t columns, std::size_t inner, std::size_t from, std::size_t wide, double* panel) {
    const std::size_t here = std::min(wide, columns - from);
    for (std::size_t k = 0; k < inner; ++k) {
        for (std::size_t j = 0; j < here; ++j) panel[k * wide + j] = b[(from + j) * inner + k];
        std::fill(panel + k * wide + here, panel + (k + 1) * wide, 0.0);
    }
}

template <PairSum Kind, class Lanes, std::size_t Rows>
[[gnu::always_inline]] inline void tile(const double* a, std::size_t inner, const double* panel, double* sums, std::size_t columns, std::size_t here) {
    constexpr std::size_t lanes = sizeof(Lanes) / sizeof(double);
    Lanes own[Rows][2] = {};
    for (std::size_t k = 0; k < inner; ++k) {
        Lanes left, right;
        std::memcpy(&left, panel + k * 2 * lanes, sizeof left);
        std::memcpy(&right, panel + k * 2 * lanes + lanes, sizeof right);
#pragma GCC unroll 16
        for (std::size_t row = 0; row < Rows; ++row) {
            const Lanes value = Lanes{} + a[row * inner + k];
            take<Kind, true>(own[row][0], value, left);
            take<Kind, true>(own[row][1], value, right);
        }
    }
    for (std::size_t row = 0; row < Rows; ++row) std::memcpy(sums + row * columns, own[row], here * sizeof(double));
}

template <PairSum Kind, class Lanes, std::size_t Rows>
[[gnu::always_inline]] inline void in_tiles(const double* a, std::size_t rows, const double* b, std::size_t columns, std::size_t inner, double* sums) {
    constexpr std::size_t wide = 2 * sizeof(Lanes) / sizeof(double);
    static_assert(wide <= kWidest);
    std::vector<double> panel(inner * wide);
    for (std::size_t from = 0; from < columns; from += wide) {
        const std::size_t here = std::min(wide, columns - from);
        fill_panel(b, columns, inner, from, wide, panel.data());
        std::size_t row = 0;
        for (; row + Rows <= rows; row += Rows) tile<Kind, Lanes, Rows>(a + row * inner, inner, panel.data(), sums + row * columns + from, columns, here);
        for (; row < rows; ++row) tile<Kind, Lanes, 1>(a + row * inner, inner, panel.data(), sums + row * columns + from, columns, here);
    }
}

typedef double Lanes4 __attribute__((vector_size(32)));
typedef double Lanes8 __attribute__((vector_size(64)));

// The definition itself. Without the instruction each step is a call, which computes the same.
template <PairSum Kind>
struct Plain {
    static void rows_of(const double* a, const double* b, double* sums, std::size_t rows, std::size_t inner) { each_row<Kind, false>(a, b, sums, rows, inner); }
    static void pairs_of(const double* a, std::size_t rows, const double* b, std::size_t columns, std::size_t inner, double* sums) {
        for (std::size_t i = 0; i < rows; ++i) {
            for (std::size_t j = 0; j < columns; ++j) each_row<Kind, false>(a + i * inner, b + j * inner, sums + i * columns + j, 1, inner);
        }
    }
};

#if LOOKALIKE_HAS_LEVELS
template <PairSum Kind>
struct By4 {
    LOOKALIKE_AVX2 static void rows_of(const double* a, const double* b, double* sums, std::size_t rows, std::size_t inner) {
        each_row<Kind, true>(a, b, sums, rows, inner);
    }
    LOOKALIKE_AVX2 static void pairs_of(const double* a, std::size_t rows, const double* b, std::size_t columns, std::size_t inner, double* sums) {
        in_tiles<Kind, Lanes4, 4>(a, rows, b, columns, inner, sums);
    }
};

template <PairSum Kind>
struct By8 {
    LOOKALIKE_AVX512 static void rows_of(const double* a, const double* b, double* sums, std::size_t rows, std::size_t inner) {
        each_row<Kind, true>(a, b, sums, rows, inner);
    }
    LOOKALIKE_AVX512 static void pairs_of(const double* a, std::size_t rows, const double* b, std::size_t columns, std::size_t inner, double* sums) {
        in_tiles<Kind, Lanes8, 8>(a, rows, b, columns, inner, sums);
    }
};
#elif defined(__FP_FAST_FMA)
template <PairSum Kind>
struct By4 {
    static void rows_of(const double* a, const double* b, double* sums, std::size_t rows, std::size_t inner) { each_row<Kind, true>(a, b, sums, rows, inner); }
    static void pairs_of(const double* a, std::size_t rows, const double* b, std::size_t columns, std::size_t inner, double* sums) {
        in_tiles<Kind, Lanes4, 4>(a, rows, b, columns, inner, sums);
    }
};
#endif

// Calls `use` with the fastest way of a kind that this processor has.
template <PairSum Kind, class Use>
void with_fastest(Use&& use) {
#if LOOKALIKE_HAS_LEVELS
    if (kLevel == Level::avx512) return use(By8<Kind>{});
    if (kLevel == Level::avx2) return use(By4<Kind>{});
    return use(Plain<Kind>{});
#elif defined(__FP_FAST_FMA)
    return use(By4<Kind>{});
#else
    return use(Plain<Kind>{});
#endif
}

template <class Use>
void with_kind(PairSum kind, Use&& use) {
    switch (kind) {
        case PairSum::products: return with_fastest<PairSum::products>(use);
        case PairSum::squared_differences: return with_fastest<PairSum::squared_differences>(use);
        case PairSum::differences: return with_fastest<PairSum::differences>(use);
        case PairSum::largest_difference: return with_fastest<PairSum::largest_difference>(use);
    }
}

}  // namespace

void sum_rows(PairSum kind, const double* a, const double* b, double* sums, std::size_t rows, std::size_t inner) {
    with_kind(kind, [&](auto way) { way.rows_of(a, b, sums, rows, inner); });
}

void sum_pairs(PairSum kind, const double* a, std::size_t rows, const double* b, std::size_t columns, std::size_t inner, double* sums) {
    with_kind(kind, [&](auto way) { way.pairs_of(a, rows, b, columns, inner, sums); });
}

}  // namespace lookalike
