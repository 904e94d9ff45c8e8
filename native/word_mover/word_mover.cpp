#include "word_mover/word_mover.hpp"

#include <algorithm>
#include <numeric>

namespace lookalike {

std::uint64_t tokens_of(Counts counts) { return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}); }

std::span<const Shipment> WordMover::ship(Counts left, Counts right, const Ground& ground, std::vector<Shipment>* staying) {
    // A word of count a among A weighs a / A: in units of 1 / lcm(A, B) all weights are whole numbers.
    const std::uint64_t left_tokens = tokens_of(left), right_tokens = tokens_of(right), common = std::gcd(left_tokens, right_tokens);
    mass_ = left_tokens / common * right_tokens;
    supplies_.resize(left.size());
    demands_.resize(right.size());
    for (std::size_t i = 0; i < left.size(); ++i) supplies_[i] = left[i] * (right_tokens / common);
    for (std::size_t j = 0; j < right.size(); ++j) demands_[j] = right[j] * (left_tokens / common);
    // Distances obey the triangle inequality, so some cheapest plan leaves in place what both sides have at one point.
    for (std::uint32_t i = 0; i < left.size(); ++i) {
        for (std::uint32_t j = 0; j < right.size(); ++j) {
            if (ground(i, j) != 0 || supplies_[i] == 0 || demands_[j] == 0) continue;
            const std::uint64_t shared = std::min(supplies_[i], demands_[j]);
            supplies_[i] -= shared;
            demands_[j] -= shared;
            if (staying) staying->push_back({i, j, shared});
        }
    }
    const auto take = [](const std::vector<std::uint64_t>& from, std::vector<std::uint64_t>& masses, std::vector<std::uint32_t>& places) {
        masses.clear();
        places.clear();
        for (std::uint32_t place = 0; place < from.size(); ++place) {
            if (from[place] == 0) continue;
            masses.push_back(from[place]);
            places.push_back(place);
        }
    };
    take(supplies_, supplied_, rows_);
    take(demands_, demanded_, columns_);
    if (rows_.empty()) return {};
    costs_.resize(rows_.size() * columns_.size());
    std::size_t cell = 0;
    for (const std::uint32_t i : rows_) {
        for (const std::uint32_t j : columns_) costs_[cell++] = ground(i, j);
    }
    return transport_.solve(supplied_, demanded_, costs_);
}

double WordMover::distance(Counts left, Counts right, const Ground& ground) {
    double cost = 0;
    for (const Shipment& shipment : ship(left, right, ground, nullptr)) {
        cost += static_cast<double>(shipment.amount) * static_cast<double>(ground(rows_[shipment.from], columns_[shipment.to]));
    }
    return cost / static_cast<double>(mass_);
}

std::vector<Move> WordMover::moves(Counts left, Counts right, const Ground& ground) {
    std::vector<Shipment> all;
    for (const Shipment& shipment : ship(left, right, ground, &all)) all.push_back({rows_[shipment.from], columns_[shipment.to], shipment.amount});
    std::sort(all.begin(), all.end(), [](const Shipment& a, const Shipment& b) { return a.from != b.from ? a.from < b.from : a.to < b.to; });
    std::vector<Move> moves;
    moves.reserve(all.size());
    for (const Shipment& each : all) moves.push_back({each.from, each.to, static_cast<double>(each.amount) / static_cast<double>(mass_)});
    return moves;
}

double relaxed_distance(Counts left, Counts right, const Ground& ground) {
    std::vector<float> nearest(right.size(), ground(0, 0));
    for (std::size_t j = 0; j < right.size(); ++j) nearest[j] = ground(0, j);
    double from_left = 0, from_right = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {
        float least = ground(i, 0);
        for (std::size_t j = 0; j < right.size(); ++j) {
            const float distance = ground(i, j);
            least = std::min(least, distance);
            nearest[j] = std::min(nearest[j], distance);
        }
        from_left += left[i] * static_cast<double>(least);
    }
    for (std::size_t j = 0; j < right.size(); ++j) from_right += right[j] * static_cast<double>(nearest[j]);
    return std::max(from_left / static_cast<double>(tokens_of(left)), from_right / static_cast<double>(tokens_of(right)));
}

std::vector<float> centroid(const float* vectors, Counts counts, std::size_t dimensions) {
    std::vector<double> sums(dimensions, 0.0);
    for (std::size_t word = 0; word < counts.size(); ++word) {
        const double count = counts[word];
        for (std::size_t k = 0; k < dimensions; ++k) sums[k] += count * static_cast<double>(vectors[word * dimensions + k]);
    }
    const auto tokens = static_cast<double>(tokens_of(counts));
    std::vector<float> mean(dimensions);
    for (std::size_t k = 0; k < dimensions; ++k) mean[k] = static_cast<float>(sums[k] / tokens);
    return mean;
}

}  // namespace lookalike
