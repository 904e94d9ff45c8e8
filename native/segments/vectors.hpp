// Vectors of meaning, kept as halves (IEEE 754 binary16) and compared by their cosine, exactly.
//
// A vector of length 1 has components of at most 1, and as halves these are multiples of 2^-24. So every product of two is a
// multiple of 2^-48, and by Cauchy and Schwarz no sum of such products exceeds the product of the lengths: a dot product
// in doubles is exact, in whatever order it is added up. A cosine is three such sums, a product, a root and a quotient,
// each rounded once: the same bits on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lookalike {

inline constexpr std::size_t kMaxDimensions = 16384;

// The halves nearest to a vector that is scaled to length 1; nothing but zeros for one of zeros. All values are finite.
void unit_halves(const float* values, std::size_t dimensions, std::uint16_t* halves);

// The exact dot product, of components of at most 1.
double exact_dot(const std::uint16_t* left, const std::uint16_t* right, std::size_t dimensions);

// Whether all of them are numbers from -1 to 1.
bool within_one(const std::uint16_t* halves, std::size_t count);

// The cosine from a dot product and the squares of both lengths; where one of them is 0, less than any cosine: it is never found.
double cosine_of(double dot, double left_square, double right_square);

struct Vectors {
    std::span<const std::uint16_t> halves;  // `dimensions` each
    std::span<const double> squares;        // of the lengths
    std::size_t dimensions;
    std::size_t size() const { return squares.size(); }
    const std::uint16_t* operator[](std::size_t i) const { return halves.data() + i * dimensions; }
};

struct Near {
    std::int64_t place;
    double cosine;
};

struct NearVectors {
    std::vector<Near> best;  // the largest cosines first, then the smallest places
    std::int64_t total = 0;  // how many there were before the limit
};

// Of each query the vectors with a cosine of at least `least`, the best `limit` of them. Everything is read: first in single
// precision, then, where that leaves a doubt, exactly.
std::vector<NearVectors> nearest(const Vectors& vectors, const Vectors& queries, double least, std::size_t limit, unsigned workers);

}  // namespace lookalike
