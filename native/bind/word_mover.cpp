// Python's view of transport: plans, Word Mover's Distances of pairs, and the nearest texts of a collection.
#include <algorithm>

#include "base/parallel.hpp"
#include "bind/bind.hpp"
#include "word_mover/ground_distance.hpp"
#include "word_mover/word_mover_search.hpp"

namespace lookalike {
namespace {

using Vectors = Input<float>;
using Numbers = Input<std::uint32_t>;

std::size_t check_dimensions(std::size_t dimensions) {
    if (dimensions < 1 || dimensions > 65536) throw nb::value_error("dimensions: choose 1 to 65536");
    return dimensions;
}

std::size_t rows_of(const Vectors& vectors, std::size_t dimensions) {
    if (vectors.size() % dimensions != 0) throw nb::value_error("vectors: not a whole number of rows");
    return vectors.size() / dimensions;
}

void check_counts(Counts counts) {
    std::uint64_t tokens = 0;
    for (const std::uint32_t count : counts) {
        if (count == 0) throw nb::value_error("counts: expected 1 or more");
        tokens += count;
        if (tokens > kMaxBagTokens) throw nb::value_error("counts: more than 16,777,216 words in a text");
    }
}

void check_cells(std::size_t left, std::size_t right) {
    if (left && right > kMaxTransportCells / left) throw nb::value_error("more than 16,777,216 pairs of words");
}

// The bags of one side: texts one after the other, each a few rows of vectors with counts.
struct Bags {
    const float* vectors;
    Counts counts;
    std::span<const std::int64_t> offsets;
    std::size_t dimensions;

    Bags(const Vectors& rows, const Numbers& numbers, const Offsets& places, std::size_t width)
        : vectors(rows.data()), counts(view(numbers)), offsets(view(places)), dimensions(width) {
        check_offsets(offsets, counts.size());
        if (rows_of(rows, width) != counts.size()) throw nb::value_error("counts: expected one per vector");
        for (std::size_t text = 0; text < size(); ++text) {
            if (of(text).empty()) throw nb::value_error("offsets: a text without words");
            check_counts(of(text));
        }
    }
    std::size_t size() const { return offsets.size() - 1; }
    Counts of(std::size_t text) const {
        return counts.subspan(static_cast<std::size_t>(offsets[text]), static_cast<std::size_t>(offsets[text + 1] - offsets[text]));
    }
    const float* rows(std::size_t text) const { return vectors + static_cast<std::size_t>(offsets[text]) * dimensions; }
};

void check_pairs(const Bags& left, const Bags& right) {
    if (left.size() != right.size()) throw nb::value_error("left, right: expected as many texts on both sides");
    for (std::size_t pair = 0; pair < left.size(); ++pair) check_cells(left.of(pair).size(), right.of(pair).size());
}

// For every pair of texts: use(pair, ground, mover).
template <class Use>
void for_each_pair(const Bags& left, const Bags& right, unsigned workers, Use&& use) {
    nb::gil_scoped_release release;
    for_each_document(left.size(), workers, [&] {
        return [&, cells = std::vector<float>(), mover = WordMover()](std::size_t pair) mutable {
            const std::size_t rows = left.of(pair).size(), columns = right.of(pair).size();
            cells.resize(rows * columns);
            ground_distances(left.rows(pair), rows, right.rows(pair), columns, left.dimensions, cells.data());
            use(pair, Ground{cells.data(), columns, 1}, mover);
        };
    });
}

Output<double> wmd_distances(Vectors left_vectors, Numbers left_counts, Offsets left_offsets, Vectors right_vectors, Numbers right_counts,
                             Offsets right_offsets, std::size_t dimensions, unsigned workers) {
    check_dimensions(dimensions);
    check_workers(workers);
    const Bags left(left_vectors, left_counts, left_offsets, dimensions), right(right_vectors, right_counts, right_offsets, dimensions);
    check_pairs(left, right);
    std::vector<double> found(left.size());
    for_each_pair(left, right, workers,
                  [&](std::size_t pair, const Ground& ground, WordMover& mover) { found[pair] = mover.distance(left.of(pair), right.of(pair), ground); });
    return give(std::move(found));
}

// The distances of the centroids, and the relaxed distances.
std::pair<Output<double>, Output<double>> wmd_bounds(Vectors left_vectors, Numbers left_counts, Offsets left_offsets, Vectors right_vectors,
                                                     Numbers right_counts, Offsets right_offsets, std::size_t dimensions, unsigned workers) {
    check_dimensions(dimensions);
    check_workers(workers);
    const Bags left(left_vectors, left_counts, left_offsets, dimensions), right(right_vectors, right_counts, right_offsets, dimensions);
    check_pairs(left, right);
    std::vector<double> centroids(left.size()), relaxed(left.size());
    for_each_pair(left, right, workers, [&](std::size_t pair, const Ground& ground, WordMover&) {
        const std::vector<float> a = centroid(left.rows(pair), left.of(pair), dimensions), b = centroid(right.rows(pair), right.of(pair), dimensions);
        float distance;
        ground_distances(a.data(), 1, b.data(), 1, dimensions, &distance);
        centroids[pair] = distance;
        relaxed[pair] = relaxed_distance(left.of(pair), right.of(pair), ground);
    });
    return {give(std::move(centroids)), give(std::move(relaxed))};
}

// What goes where in a cheapest plan: word of the left, word of the right, share of the text, distance.
std::tuple<Output<std::uint32_t>, Output<std::uint32_t>, Output<double>, Output<float>> wmd_moves(Vectors left_vectors, Numbers left_counts,
                                                                                                  Vectors right_vectors, Numbers right_counts,
                                                                                                  std::size_t dimensions) {
    check_dimensions(dimensions);
    const std::size_t rows = left_counts.size(), columns = right_counts.size();
    if (rows_of(left_vectors, dimensions) != rows || rows_of(right_vectors, dimensions) != columns) throw nb::value_error("counts: expected one per vector");
    if (rows == 0 || columns == 0) throw nb::value_error("counts: a text without words");
    check_counts(view(left_counts));
    check_counts(view(right_counts));
    check_cells(rows, columns);
    std::vector<std::uint32_t> from, to;
    std::vector<double> shares;
    std::vector<float> distances;
    {
        nb::gil_scoped_release release;
        std::vector<float> cells(rows * columns);
        ground_distances(left_vectors.data(), rows, right_vectors.data(), columns, dimensions, cells.data());
        WordMover mover;
        for (const Move& move : mover.moves(view(left_counts), view(right_counts), Ground{cells.data(), columns, 1})) {
            from.push_back(move.from);
            to.push_back(move.to);
            shares.push_back(move.share);
            distances.push_back(cells[move.from * columns + move.to]);
        }
    }
    return {give(std::move(from)), give(std::move(to)), give(std::move(shares)), give(std::move(distances))};
}

// Positions and distances of the nearest texts; how many have words, were left out by centroid and by relaxed distance, were solved.
std::tuple<Output<std::int64_t>, Output<double>, std::vector<std::size_t>> wmd_nearest(Vectors vectors, std::size_t dimensions, Numbers words, Numbers counts,
                                                                                       Offsets offsets, Vectors centroids, double slack, Vectors query,
                                                                                       Numbers query_counts, std::size_t k, unsigned workers) {
    check_dimensions(dimensions);
    check_workers(workers);
    if (!(slack >= 0)) throw nb::value_error("slack: expected 0 or more");
    if (k < 1) throw nb::value_error("k: expected 1 or more");
    const std::size_t rows = rows_of(vectors, dimensions);
    const Collection collection{view(vectors), dimensions, view(words), view(counts), view(offsets), view(centroids), slack};
    check_offsets(collection.offsets, words.size());
    if (counts.size() != words.size()) throw nb::value_error("counts: expected one per word");
    if (collection.size() > 0xFFFFFFFE) throw nb::value_error("offsets: too many texts");
    if (rows_of(centroids, dimensions) != collection.size()) throw nb::value_error("centroids: expected one per text");
    if (query_counts.size() == 0 || rows_of(query, dimensions) != query_counts.size())
        throw nb::value_error("query: expected one count a vector, at least one");
    check_counts(view(query_counts));
    for (const std::uint32_t word : view(words)) {
        if (word >= rows) throw nb::value_error("words: a number beyond the vectors");
    }
    for (std::size_t text = 0; text < collection.size(); ++text) {
        check_counts(collection.of(text, collection.counts));
        check_cells(collection.of(text, collection.counts).size(), query_counts.size());
    }
    NearestFound found;
    {
        nb::gil_scoped_release release;
        found = nearest_texts(collection, view(query), view(query_counts), std::min(k, std::max<std::size_t>(collection.size(), 1)), workers);
    }
    std::vector<std::int64_t> texts;
    std::vector<double> distances;
    for (const NearText& each : found.nearest) {
        texts.push_back(each.text);
        distances.push_back(each.distance);
    }
    return {give(std::move(texts)), give(std::move(distances)), {found.texts, found.by_centroid, found.by_relaxed, found.solved}};
}

std::vector<std::uint64_t> amounts_of(const Hashes& amounts, std::uint64_t& total) {
    if (amounts.size() == 0) throw nb::value_error("supplies, demands: expected at least one of each");
    for (const std::uint64_t amount : view(amounts)) {
        if (amount == 0 || amount > kMaxTransportMass || (total += amount) > kMaxTransportMass) {
            throw nb::value_error("supplies, demands: expected positive numbers with a sum of at most 2**49");
        }
    }
    return {amounts.data(), amounts.data() + amounts.size()};
}

// A cheapest plan: source, sink, amount; and how many pivots it took.
std::tuple<Output<std::uint32_t>, Output<std::uint32_t>, Output<std::uint64_t>, std::size_t> transport_plan(Hashes supplies, Hashes demands,
                                                                                                            Input<double> costs) {
    std::uint64_t supplied = 0, demanded = 0;
    const std::vector<std::uint64_t> given = amounts_of(supplies, supplied), wanted = amounts_of(demands, demanded);
    if (supplied != demanded) throw nb::value_error("supplies, demands: their sums differ");
    check_cells(given.size(), wanted.size());
    if (costs.size() != given.size() * wanted.size()) throw nb::value_error("costs: expected one per pair");
    for (const double cost : view(costs)) {
        if (!(cost >= 0 && cost <= 1e300)) throw nb::value_error("costs: expected numbers from 0 to 1e300");
        if (cost > 0 && cost < 1e-280) throw nb::value_error("costs: expected 0, or 1e-280 and more");
    }
    std::vector<std::uint32_t> from, to;
    std::vector<std::uint64_t> amounts;
    std::size_t pivots = 0;
    {
        nb::gil_scoped_release release;
        Transport transport;
        for (const Shipment& shipment : transport.solve(given, wanted, view(costs))) {
            from.push_back(shipment.from);
            to.push_back(shipment.to);
            amounts.push_back(shipment.amount);
        }
        pivots = transport.pivots();
    }
    return {give(std::move(from)), give(std::move(to)), give(std::move(amounts)), pivots};
}

}  // namespace

void bind_word_mover(nb::module_& m) {
    m.def("transport_plan", &transport_plan, "supplies"_a.noconvert(), "demands"_a.noconvert(), "costs"_a.noconvert());
    m.def("wmd_distances", &wmd_distances, "left_vectors"_a.noconvert(), "left_counts"_a.noconvert(), "left_offsets"_a.noconvert(),
          "right_vectors"_a.noconvert(), "right_counts"_a.noconvert(), "right_offsets"_a.noconvert(), "dimensions"_a, "workers"_a);
    m.def("wmd_bounds", &wmd_bounds, "left_vectors"_a.noconvert(), "left_counts"_a.noconvert(), "left_offsets"_a.noconvert(), "right_vectors"_a.noconvert(),
          "right_counts"_a.noconvert(), "right_offsets"_a.noconvert(), "dimensions"_a, "workers"_a);
    m.def("wmd_moves", &wmd_moves, "left_vectors"_a.noconvert(), "left_counts"_a.noconvert(), "right_vectors"_a.noconvert(), "right_counts"_a.noconvert(),
          "dimensions"_a);
    m.def("wmd_nearest", &wmd_nearest, "vectors"_a.noconvert(), "dimensions"_a, "words"_a.noconvert(), "counts"_a.noconvert(), "offsets"_a.noconvert(),
          "centroids"_a.noconvert(), "slack"_a, "query"_a.noconvert(), "query_counts"_a.noconvert(), "k"_a, "workers"_a);
}

}  // namespace lookalike
