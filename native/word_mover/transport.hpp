// The transportation problem, solved exactly: the cheapest way to move supplies to demands, where a unit from i to j costs
// c(i, j). A primal simplex on spanning trees.
//
// Everything is whole numbers. Amounts are integers, and costs are rounded to 38 bits below the largest, kept as doubles
// that hold integers, so no rounding happens on the way, and what comes out is optimal for costs that are off by less than
// one part in 10^11 of the largest.
//
// It ends. Supplies are multiplied by n + 1 and raised by one each (Orden's perturbation): no subset of supplies then adds up
// to a subset of demands, so every tree arc carries at least one unit, and every pivot lowers the cost by at least one. No
// tree can come back. The last tree is feasible and optimal for the amounts as they were given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lookalike {

// Costs of one problem. The smaller side has at most 4,096 entries then, and potentials stay below 2^52.
inline constexpr std::size_t kMaxTransportCells = std::size_t{1} << 24;
// The sum of the supplies: times 4,097 it still fits 62 bits.
inline constexpr std::uint64_t kMaxTransportMass = std::uint64_t{1} << 49;

struct Shipment {
    std::uint32_t from, to;
    std::uint64_t amount;
};

class Transport {  // scratch space of one thread
   public:
    // Supplies and demands are positive with equal sums of at most kMaxTransportMass; costs, row by row, are finite and not
    // negative. The shipments of the cheapest plan, all with an amount; they stay until the next call.
    std::span<const Shipment> solve(std::span<const std::uint64_t> supplies, std::span<const std::uint64_t> demands, std::span<const double> costs);
    std::size_t pivots() const { return pivots_; }

   private:
    using Node = std::uint32_t;  // sources first, then sinks
    static constexpr Node kNone = 0xFFFFFFFF;

    void read(std::span<const std::uint64_t> supplies, std::span<const std::uint64_t> demands, std::span<const double> costs, bool turned);
    void start();
    void hang_from_root();
    bool price(std::size_t& row, Node& source, Node& sink) const;
    void pivot(Node source, Node sink);
    void rehang(Node inside, Node outside, Node cut, std::int64_t amount, double change);
    void shift(Node top, double change);
    void detach(Node child);
    void attach(Node child, Node parent);
    void settle(bool turned);
    double cost(Node source, Node sink) const { return costs_[source * stride_ + (sink - sources_)]; }
    bool is_source(Node node) const { return node < sources_; }

    std::size_t sources_ = 0, sinks_ = 0, stride_ = 0, pivots_ = 0;
    std::vector<std::int64_t> mass_;  // of the nodes, as given
    std::vector<double> costs_;       // whole numbers; rows are padded with what is never chosen
    // The tree: what an arc to the parent carries is kept with the child.
    std::vector<Node> parent_, first_child_, next_, previous_;
    std::vector<std::uint32_t> depth_;
    std::vector<std::int64_t> flow_;
    std::vector<double> potential_;  // c(i, j) = potential(i) + potential(j) on every arc of the tree; padded
    std::vector<Node> order_;        // scratch
    std::vector<std::int64_t> rest_;
    std::vector<Shipment> arcs_;
};

}  // namespace lookalike
