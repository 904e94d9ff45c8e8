// This file is compiled with -ffp-contract=fast: where the processor has fused multiply-adds, `sum + x * y` is one.
#include "base/row_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/tiles.hpp"

namespace lookalike {
namespace {

constexpr std::size_t kInterleaved = 8;

// One element more. `Fused`: the compiler makes one instruction of a product and a sum.
template <bool Fused, class Sum, class Number>
LOOKALIKE_INLINED void add_product(Sum& sum, const Number& x, const Sum& y) {
    if constexpr (Fused) {
        sum += x * y;
    } else {
        sum = std::fma(x, y, sum);
    }
}

template <PairSum Kind, bool Fused = true>
struct Take {
    template <class Sum, class Number>
    LOOKALIKE_INLINED void operator()(Sum& sum, const Number& x, const Sum& y) const {
        if constexpr (Kind == PairSum::products) {
            add_product<Fused>(sum, x, y);
        } else {
            const Sum difference = x - y;
            const Sum size = difference < 0 ? -difference : difference;
            if constexpr (Kind == PairSum::squared_differences) {
                add_product<Fused>(sum, difference, difference);
            } else if constexpr (Kind == PairSum::differences) {
                sum += size;
            } else {
                sum = size > sum ? size : sum;
            }
        }
    }
};

// Several rows at a time: a step waits for the one before it, and rows do not wait for each other.
template <PairSum Kind, bool Fused>
LOOKALIKE_INLINED void each_row(const double* a, const double* b, double* sums, std::size_t rows, std::size_t inner) {
    const Take<Kind, Fused> take;
    for (std::size_t first = 0; first < rows; first += kInterleaved) {
        const std::size_t here = std::min(kInterleaved, rows - first);
        double own[kInterleaved] = {};
        for (std::size_t k = 0; k < inner; ++k) {
            for (std::size_t row = 0; row < here; ++row) {
                take(own[row], a[(first + row) * inner + k], b[(first + row) * inner + k]);
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
LOOKALIKE_INLINED void in_tiles(const double* a, std::size_t rows, const double* b, std::size_t columns, std::size_t inner, double* sums) {
    std::vector<double> panel(inner * 2 * sizeof(Lanes) / sizeof(double));
    sum_in_tiles<Lanes, Rows>(
        a, rows, inner, columns, sums, panel.data(),
        [&](std::size_t from, std::size_t wide, double* columns_of) { fill_panel(b, columns, inner, from, wide, columns_of); }, Take<Kind>{});
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

// Calls `use` with the fastest way of a kind that this processor has.
template <PairSum Kind, class Use>
void with_fastest(Use&& use) {
    switch (fused_level()) {
        case Level::avx512: return use(By8<Kind>{});
        case Level::avx2: return use(By4<Kind>{});
        case Level::plain: return use(Plain<Kind>{});
    }
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
