// Sums over the elements of two rows, for all pairs of rows of two matrices in double precision, with the same bits on every machine.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lookalike {

enum class PairSum : std::uint8_t { products, root_of_squares, differences, largest_difference };

// Every sum starts at 0 and takes the elements one by one, in their order: `sum + x * y` and `sum + (x - y)²` by one fused multiply-add, of
// the others the absolute difference. Of squares the root is taken at last. So it depends on its two rows alone: not on other rows, on the size of the
// batch, or on the processor.
//
// Both return whether all sums are sure: finite, and of squares none that may have vanished or overflowed.
//
// Row i of a with row i of b.
bool sum_rows(PairSum kind, const double* a, const double* b, double* sums, std::size_t rows, std::size_t inner);
// Every row of a with every row of b: `sums` has a row for each of a.
bool sum_pairs(PairSum kind, const double* a, std::size_t rows, const double* b, std::size_t columns, std::size_t inner, double* sums);

}  // namespace lookalike
