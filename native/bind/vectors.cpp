// Python's view of vectors.
#include <algorithm>

#include "base/matrix.hpp"
#include "base/row_pairs.hpp"
#include "bind/bind.hpp"
#include "bind/lock_turns.hpp"
#include "segments/vectors.hpp"

namespace lookalike {
namespace {

using Floats = Input<float>;
using Halves = Input<std::uint16_t>;
using Squares = Input<double>;

std::size_t check_dimensions(std::size_t dimensions, std::size_t values) {
    if (dimensions < 1 || dimensions > kMaxDimensions) throw nb::value_error("dimensions: choose 1 to 16384");
    if (values % dimensions) throw nb::value_error("vectors: expected a whole number of vectors of so many dimensions");
    return dimensions;
}

Output<std::uint16_t> unit_halves_of(const Floats& values, std::size_t dimensions) {
    check_dimensions(dimensions, values.size());
    std::vector<std::uint16_t> halves(values.size());
    {
        const WithoutLock released;
        const std::span<const float> given = view(values);
        // Beyond this a sum of squares could not be told from infinity.
        if (!std::all_of(given.begin(), given.end(), [](float value) { return std::abs(value) <= 1e30F; })) {
            throw nb::value_error("vectors: expected finite numbers");
        }
        for (std::size_t at = 0; at < given.size(); at += dimensions) unit_halves(given.data() + at, dimensions, halves.data() + at);
    }
    return give(std::move(halves));
}

Output<double> squares_of(const Halves& halves, std::size_t dimensions) {
    check_dimensions(dimensions, halves.size());
    std::vector<double> squares(halves.size() / dimensions);
    {
        const WithoutLock released;
        const std::span<const std::uint16_t> given = view(halves);
        if (!within_one(given.data(), given.size())) {
            throw nb::value_error("vectors: every component must be a number from -1 to 1");
        }
        for (std::size_t i = 0; i < squares.size(); ++i) {
            const std::uint16_t* vector = given.data() + i * dimensions;
            squares[i] = exact_dot(vector, vector, dimensions);
        }
    }
    return give(std::move(squares));
}

Vectors check_vectors(const Halves& halves, const Squares& squares, std::size_t dimensions) {
    check_dimensions(dimensions, halves.size());
    if (halves.size() / dimensions != squares.size()) throw nb::value_error("squares: expected one per vector");
    const std::span<const double> given = view(squares);
    if (!std::all_of(given.begin(), given.end(), [&](double square) { return square >= 0 && square <= static_cast<double>(dimensions); })) {
        throw nb::value_error("squares: expected those of vector_squares");
    }
    return {view(halves), given, dimensions};
}

using NearestArrays = std::tuple<Output<std::int64_t>, Output<std::int64_t>, Output<double>, Output<std::int64_t>>;

NearestArrays nearest_of(const Halves& vectors, const Squares& squares, const Halves& queries, const Squares& query_squares, std::size_t dimensions,
                         double least, std::size_t limit, unsigned workers) {
    const Vectors all = check_vectors(vectors, squares, dimensions), asked = check_vectors(queries, query_squares, dimensions);
    check_workers(workers);
    if (limit < 1) throw nb::value_error("limit: choose 1 or more");
    if (!(least >= -1 && least <= 1)) throw nb::value_error("least: choose a cosine from -1 to 1");
    std::vector<std::int64_t> offsets{0}, places, totals;
    std::vector<double> cosines;
    {
        const WithoutLock released;
        for (const NearVectors& each : nearest(all, asked, least, limit, workers)) {
            for (const Near& near : each.best) {
                places.push_back(near.place);
                cosines.push_back(near.cosine);
            }
            offsets.push_back(static_cast<std::int64_t>(places.size()));
            totals.push_back(each.total);
        }
    }
    return {give(std::move(offsets)), give(std::move(places)), give(std::move(cosines)), give(std::move(totals))};
}

Output<float> product_of(const Floats& a, const Floats& b, std::size_t inner) {
    if (inner < 1 || a.size() % inner || b.size() % inner) throw nb::value_error("inner: expected the columns of a, which are the rows of b");
    const std::size_t rows = a.size() / inner, columns = b.size() / inner;
    if (columns && rows > (std::size_t{1} << 40) / columns) throw nb::value_error("the product has too many numbers: multiply fewer rows at a time");
    std::vector<float> product(rows * columns);
    {
        const WithoutLock released;
        multiply(a.data(), b.data(), product.data(), rows, inner, columns);
    }
    return give(std::move(product));
}

PairSum check_kind(unsigned kind) {
    if (kind > static_cast<unsigned>(PairSum::largest_difference)) throw nb::value_error("kind: choose 0 to 3");
    return static_cast<PairSum>(kind);
}

std::size_t rows_in(const Input<double>& matrix, std::size_t inner) {
    if (inner < 1 || matrix.size() % inner) throw nb::value_error("inner: expected the columns of both matrices");
    return matrix.size() / inner;
}

// The sums, and whether all of them are sure.
using Sums = std::pair<Output<double>, bool>;

Sums row_sums(unsigned kind, Input<double> a, Input<double> b, std::size_t inner) {
    const PairSum wanted = check_kind(kind);
    const std::size_t rows = rows_in(a, inner);
    if (rows_in(b, inner) != rows) throw nb::value_error("b: expected as many rows as a has");
    GrowingArray<double> sums;
    bool sure;
    {
        const WithoutLock released;
        sure = sum_rows(wanted, a.data(), b.data(), sums.add(rows), rows, inner);
    }
    return {give(std::move(sums)), sure};
}

Sums pair_sums(unsigned kind, Input<double> a, Input<double> b, std::size_t inner) {
    const PairSum wanted = check_kind(kind);
    const std::size_t rows = rows_in(a, inner), columns = rows_in(b, inner);
    if (columns && rows > (std::size_t{1} << 40) / columns) throw nb::value_error("there are too many pairs: take fewer rows at a time");
    GrowingArray<double> sums;
    bool sure;
    {
        const WithoutLock released;
        sure = sum_pairs(wanted, a.data(), rows, b.data(), columns, inner, sums.add(rows * columns));
    }
    return {give(std::move(sums)), sure};
}

}  // namespace

void bind_vectors(nb::module_& m) {
    m.def("matrix_product", &lookalike::product_of, nb::arg("a").noconvert(), nb::arg("b").noconvert(), nb::arg("inner").noconvert());
    m.def("row_sums", &lookalike::row_sums, nb::arg("kind"), nb::arg("a").noconvert(), nb::arg("b").noconvert(), nb::arg("inner"));
    m.def("pair_sums", &lookalike::pair_sums, nb::arg("kind"), nb::arg("a").noconvert(), nb::arg("b").noconvert(), nb::arg("inner"));
    m.def("unit_halves", &lookalike::unit_halves_of, nb::arg("values").noconvert(), nb::arg("dimensions").noconvert());
    m.def("vector_squares", &lookalike::squares_of, nb::arg("vectors").noconvert(), nb::arg("dimensions").noconvert());
    m.def("nearest_vectors", &lookalike::nearest_of, nb::arg("vectors").noconvert(), nb::arg("squares").noconvert(), nb::arg("queries").noconvert(),
          nb::arg("query_squares").noconvert(), nb::arg("dimensions").noconvert(), nb::arg("least").noconvert(), nb::arg("limit").noconvert(),
          nb::arg("workers").noconvert());
}

}  // namespace lookalike
