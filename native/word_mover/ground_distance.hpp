// Euclidean distances between rows of two matrices of floats.
#pragma once

#include <cstddef>

namespace lookalike {

// out[i * right_rows + j] is the distance of row i of left and row j of right. The bits depend neither on the processor nor on
// which side is which. A distance that is not finite is an error: std::invalid_argument.
void ground_distances(const float* left, std::size_t left_rows, const float* right, std::size_t right_rows, std::size_t dimensions, float* out);

}  // namespace lookalike
