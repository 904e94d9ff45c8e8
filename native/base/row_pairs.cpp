// This file is compiled with -ffp-contract=fast: where the processor has fused multiply-adds, `sum + x * y` is one.
#include "base/row_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/tiles.hpp"

namespace lookalike {
namespace {

typedef double Lanes4 __attribute__((vector_size(32)));
typedef double Lanes8 __attribute__((vector_size(64)));

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
            if constexpr (Kind == PairSum::root_of_squares) {
                add_product<Fused>(sum, difference, difference);
            } else if constexpr (Kind == PairSum::differences) {
                sum += size;
            } else {
                sum = size > sum ? size : sum;
            }
        }
    }
};

// What is left to do with sums that have all elements. Returns whether all are sure.
template <PairSum Kind>
LOOKALIKE_INLINED bool finish(double* sums, std::size_t count) {
    constexpr bool squares = Kind == PairSum::root_of_squares;
    // Squares of differences beyond these lie near the ends of what numbers can be.
    constexpr double most = squares ? 1e140 : std::numeric_limits<double>::infinity(), least = squares ? 1e-140 : -most;
    std::uint64_t sure = 1;
    for (std::size_t i = 0; i < count; ++i) {
        if constexpr (squares) sums[i] = std::sqrt(sums[i]);
        sure &= static_cast<std::uint64_t>(sums[i] > least) & static_cast<std::uint64_t>(sums[i] < most);
    }
    return sure != 0;
}

// Several rows at a time: a step waits for the one before it, and rows do not wait for each other.
template <PairSum Kind, bool Fused>
LOOKALIKE_INLINED bool each_row(const double* a, const double* b, double* sums, std::size_t rows, std::size_t inner) {
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
    return finish<Kind>(sums, rows);
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
LOOKALIKE_INLINED bool in_tiles(const double* a, std::size_t rows, const double* b, std::size_t columns, std::size_t inner, double* sums) {
    bool sure = true;
    sum_in_tiles<Lanes, Rows>(
        a, rows, inner, columns, sums, [&](std::size_t from, std::size_t wide, double* columns_of) { fill_panel(b, columns, inner, from, wide, columns_of); },
        Take<Kind>{}, [&](double* done, std::size_t count) __attribute__((always_inline)) { sure &= finish<Kind>(done, count); });
    return sure;
}

// The definition itself. Without the instruction each step is a call, which computes the same.
template <PairSum Kind>
struct Plain {
    static bool rows_of(const double* a, const double* b, double* sums, std::size_t rows, std::size_t inner) {
        return each_row<Kind, false>(a, b, sums, rows, inner);
    }
    static bool pairs_of(const double* a, std::size_t rows, const double* b, std::size_t columns, std::size_t inner, double* sums) {
        bool sure = true;
        for (std::size_t i = 0; i < rows; ++i) {
            for (std::size_t j = 0; j < columns; ++j) sure &= each_row<Kind, false>(a + i * inner, b + j * inner, sums + i * columns + j, 1, inner);
        }
        return sure;
    }
};

template <PairSum Kind>
struct By4 {
    LOOKALIKE_AVX2 static bool rows_of(const double* a, const double* b, double* sums, std::size_t rows, std::size_t inner) {
        return each_row<Kind, true>(a, b, sums, rows, inner);
    }
    LOOKALIKE_AVX2 static bool pairs_of(const double* a, std::size_t rows, const double* b, std::size_t columns, std::size_t inner, double* sums) {
        return in_tiles<Kind, Lanes4, 4>(a, rows, b, columns, inner, sums);
    }
};

template <PairSum Kind>
struct By8 {
    LOOKALIKE_AVX512 static bool rows_of(const double* a, const double* b, double* sums, std::size_t rows, std::size_t inner) {
        return each_row<Kind, true>(a, b, sums, rows, inner);
    }
    LOOKALIKE_AVX512 static bool pairs_of(const double* a, std::size_t rows, const double* b, std::size_t columns, std::size_t inner, double* sums) {
        return in_tiles<Kind, Lanes8, 8>(a, rows, b, columns, inner, sums);
    }
};

// Calls `use` with the fastest way of a kind that this processor has.
template <PairSum Kind, class Use>
bool with_fastest(Use&& use) {
    switch (fused_level()) {
        case Level::avx512: return use(By8<Kind>{});
        case Level::avx2: return use(By4<Kind>{});
        case Level::plain: break;
    }
    return use(Plain<Kind>{});
}

template <class Use>
bool with_kind(PairSum kind, Use&& use) {
    switch (kind) {
        case PairSum::products: return with_fastest<PairSum::products>(use);
        case PairSum::root_of_squares: return with_fastest<PairSum::root_of_squares>(use);
        case PairSum::differences: return with_fastest<PairSum::differences>(use);
        case PairSum::largest_difference: break;
    }
    return with_fastest<PairSum::largest_difference>(use);
}

}  // namespace

bool sum_rows(PairSum kind, const double* a, const double* b, double* sums, std::size_t rows, std::size_t inner) {
    return with_kind(kind, [&](auto way) { return way.rows_of(a, b, sums, rows, inner); });
}

bool sum_pairs(PairSum kind, const double* a, std::size_t rows, const double* b, std::size_t columns, std::size_t inner, double* sums) {
    return with_kind(kind, [&](auto way) { return way.pairs_of(a, rows, b, columns, inner, sums); });
}

}  // namespace lookalike
