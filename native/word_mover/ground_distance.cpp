#include "word_mover/ground_distance.hpp"

#include <cmath>
#include <stdexcept>

#include "base/dispatch.hpp"
#include "base/lanes.hpp"

namespace lookalike {
namespace {

constexpr std::size_t kTogether = 4;  // rows of the right side that share each load of the left one

// A pairwise sum, in an order of our own: that of a compiler could differ between versions.
[[gnu::always_inline]] inline float sum(const Floats& lanes) {
    float parts[kFloatLanes];
    std::memcpy(parts, &lanes, sizeof parts);
    for (std::size_t half = kFloatLanes / 2; half > 0; half /= 2) {
        for (std::size_t lane = 0; lane < half; ++lane) parts[lane] += parts[lane + half];
    }
    return parts[0];
}

template <std::size_t Rows>
[[gnu::always_inline]] inline void distances_to(const float* x, const float* rows, std::size_t dimensions, float* out) {
    Floats sums[Rows] = {}, a, b;
    std::size_t k = 0;
    for (; k + kFloatLanes <= dimensions; k += kFloatLanes) {
        load_lanes(a, x + k);
        for (std::size_t row = 0; row < Rows; ++row) {
            load_lanes(b, rows + row * dimensions + k);
            const Floats difference = a - b;
            sums[row] += difference * difference;
        }
    }
    for (std::size_t row = 0; row < Rows; ++row) {
        for (std::size_t rest = k; rest < dimensions; ++rest) {
            const float difference = x[rest] - rows[row * dimensions + rest];
            sums[row][rest - k] += difference * difference;
        }
        out[row] = std::sqrt(sum(sums[row]));
    }
}

LOOKALIKE_INLINED void fill_here(const float* left, std::size_t left_rows, const float* right, std::size_t right_rows, std::size_t dimensions, float* out) {
    for (std::size_t i = 0; i < left_rows; ++i) {
        const float* x = left + i * dimensions;
        float* row = out + i * right_rows;
        std::size_t j = 0;
        for (; j + kTogether <= right_rows; j += kTogether) distances_to<kTogether>(x, right + j * dimensions, dimensions, row + j);
        for (; j < right_rows; ++j) distances_to<1>(x, right + j * dimensions, dimensions, row + j);
    }
}

void fill(const float* left, std::size_t left_rows, const float* right, std::size_t right_rows, std::size_t dimensions, float* out) {
    return widest<fill_here>(left, left_rows, right, right_rows, dimensions, out);
}

}  // namespace

void ground_distances(const float* left, std::size_t left_rows, const float* right, std::size_t right_rows, std::size_t dimensions, float* out) {
    fill(left, left_rows, right, right_rows, dimensions, out);
    for (std::size_t cell = 0; cell < left_rows * right_rows; ++cell) {
        if (!std::isfinite(out[cell])) throw std::invalid_argument("vectors: a distance between two of them is not a finite float32");
    }
}

}  // namespace lookalike
