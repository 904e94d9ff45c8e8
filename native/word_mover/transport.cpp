#include "word_mover/transport.hpp"

#include <algorithm>
#include <cmath>

#include "base/dispatch.hpp"
#include "base/lanes.hpp"

namespace lookalike {
namespace {

constexpr double kCostUnits = 274877906944.0;  // 2^38
constexpr double kNever = 9007199254740992.0;  // 2^53: above every cost less a potential
// Rows looked at for one pivot: with 4, texts of 50 to 1,000 words take a third fewer pivots than with 1.
constexpr std::size_t kRowsPriced = 4;

LOOKALIKE_INLINED void round_costs_here(const double* in, double* out, std::size_t count, double scale) {
    for (std::size_t i = 0; i < count; ++i) out[i] = std::nearbyint(in[i] * scale);
}

void round_costs(const double* in, double* out, std::size_t count, double scale) { return widest<round_costs_here>(in, out, count, scale); }

// The least c[j] - v[j] of a padded row.
LOOKALIKE_INLINED double least_difference_here(const double* c, const double* v, std::size_t count) {
    Doubles least, cost, potential;
    for (std::size_t lane = 0; lane < kDoubleLanes; ++lane) least[lane] = kNever;
    for (std::size_t j = 0; j < count; j += kDoubleLanes) {
        load_lanes(cost, c + j);
        load_lanes(potential, v + j);
        const Doubles difference = cost - potential;
        least = difference < least ? difference : least;
    }
    double found = least[0];
    for (std::size_t lane = 1; lane < kDoubleLanes; ++lane) found = std::min(found, static_cast<double>(least[lane]));
    return found;
}

double least_difference(const double* c, const double* v, std::size_t count) { return widest<least_difference_here>(c, v, count); }

}  // namespace

std::span<const Shipment> Transport::solve(std::span<const std::uint64_t> supplies, std::span<const std::uint64_t> demands, std::span<const double> costs) {
    const bool turned = supplies.size() > demands.size();  // sources are the smaller side: that bounds potentials and amounts
    read(turned ? demands : supplies, turned ? supplies : demands, costs, turned);
    pivots_ = 0;
    start();
    std::size_t row = 0;
    for (Node source, sink; price(row, source, sink);) {
        pivot(source, sink);
        ++pivots_;
    }
    settle(turned);
    return arcs_;
}

void Transport::read(std::span<const std::uint64_t> supplies, std::span<const std::uint64_t> demands, std::span<const double> costs, bool turned) {
    sources_ = supplies.size();
    sinks_ = demands.size();
    stride_ = (sinks_ + kDoubleLanes - 1) / kDoubleLanes * kDoubleLanes;
    mass_.assign(supplies.begin(), supplies.end());
    mass_.insert(mass_.end(), demands.begin(), demands.end());
    const double largest = *std::max_element(costs.begin(), costs.end());
    const double scale = largest > 0 ? kCostUnits / largest : 0;
    costs_.assign(sources_ * stride_, kNever);
    for (std::size_t i = 0; i < sources_; ++i) {
        double* row = costs_.data() + i * stride_;
        if (!turned) {
            round_costs(costs.data() + i * sinks_, row, sinks_, scale);
            continue;
        }
        for (std::size_t j = 0; j < sinks_; ++j) row[j] = costs[j * sources_ + i];
        round_costs(row, row, sinks_, scale);
    }
}

// A first plan: every source serves its cheapest open sinks, where costs are less what a sink pays at least.
void Transport::start() {
    const std::size_t nodes = sources_ + sinks_;
    potential_.assign(sources_ + stride_, 0.0);
    double* const least = potential_.data() + sources_;
    std::copy_n(costs_.data(), sinks_, least);
    for (std::size_t i = 1; i < sources_; ++i) {
        const double* row = costs_.data() + i * stride_;
        for (std::size_t j = 0; j < sinks_; ++j) least[j] = std::min(least[j], row[j]);
    }
    const auto scale = static_cast<std::int64_t>(sources_) + 1;
    rest_.resize(nodes);
    for (std::size_t node = 0; node < nodes; ++node) rest_[node] = mass_[node] * scale + (node < sources_ ? 1 : 0);
    rest_[nodes - 1] += static_cast<std::int64_t>(sources_);
    order_.resize(sinks_);  // the open sinks
    for (std::size_t j = 0; j < sinks_; ++j) order_[j] = static_cast<Node>(j);
    arcs_.clear();
    for (std::size_t i = 0; i < sources_; ++i) {
        const double* row = costs_.data() + i * stride_;
        while (rest_[i] > 0) {
            std::size_t best = 0;
            for (std::size_t place = 1; place < order_.size(); ++place) {
                if (row[order_[place]] - least[order_[place]] < row[order_[best]] - least[order_[best]]) best = place;
            }
            const Node sink = static_cast<Node>(sources_ + order_[best]);
            const std::int64_t amount = std::min(rest_[i], rest_[sink]);
            arcs_.push_back({static_cast<std::uint32_t>(i), sink, static_cast<std::uint64_t>(amount)});
            rest_[i] -= amount;
            rest_[sink] -= amount;
            if (rest_[sink] == 0) {
                order_[best] = order_.back();
                order_.pop_back();
            }
        }
    }
    hang_from_root();
}

// The arcs of the first plan are a spanning tree: each but the last used up either its source or its sink, never both.
void Transport::hang_from_root() {
    const std::size_t nodes = sources_ + sinks_;
    for (auto* links : {&parent_, &first_child_, &next_, &previous_}) links->assign(nodes, kNone);
    depth_.assign(nodes, 0);
    flow_.assign(nodes, 0);
    std::vector<std::uint32_t>& begins = depth_;  // counting sort of the arcs by node; depths come after
    std::vector<std::uint32_t> neighbours(2 * arcs_.size());
    begins.assign(nodes + 1, 0);
    for (const Shipment& arc : arcs_) ++begins[arc.from], ++begins[arc.to];
    for (std::size_t node = 1; node <= nodes; ++node) begins[node] += begins[node - 1];
    for (std::uint32_t number = 0; number < arcs_.size(); ++number) {
        neighbours[--begins[arcs_[number].from]] = number;
        neighbours[--begins[arcs_[number].to]] = number;
    }
    order_.assign(1, 0);
    potential_[0] = 0;
    std::vector<std::uint32_t> depths(nodes, 0);
    for (std::size_t place = 0; place < order_.size(); ++place) {
        const Node node = order_[place];
        for (std::uint32_t at = begins[node]; at < begins[node + 1]; ++at) {
            const Shipment& arc = arcs_[neighbours[at]];
            const Node child = arc.from == node ? arc.to : arc.from;
            if (child == parent_[node]) continue;
            attach(child, node);
            depths[child] = depths[node] + 1;
            flow_[child] = static_cast<std::int64_t>(arc.amount);
            potential_[child] = cost(arc.from, arc.to) - potential_[node];
            order_.push_back(child);
        }
    }
    depth_ = std::move(depths);
}

// The most negative entry of the next few rows that have one; none after a whole round: the plan is optimal.
bool Transport::price(std::size_t& row, Node& source, Node& sink) const {
    const double* v = potential_.data() + sources_;
    double best = 0, entry = 0;
    for (std::size_t seen = 1; seen <= sources_; ++seen) {
        const double least = least_difference(costs_.data() + row * stride_, v, stride_);
        if (least - potential_[row] < best) best = least - potential_[row], entry = least, source = static_cast<Node>(row);
        row = row + 1 == sources_ ? 0 : row + 1;
        if (best < 0 && seen % kRowsPriced == 0) break;
    }
    if (best == 0) return false;
    const double* c = costs_.data() + source * stride_;
    std::size_t j = 0;
    while (c[j] - v[j] != entry) ++j;
    sink = static_cast<Node>(sources_ + j);
    return true;
}

void Transport::pivot(Node source, Node sink) {
    // Up from both ends to where the paths meet. An arc loses what the new one gains if its child is of the kind of the end
    // below it; the one that carries least leaves, and there is only one such.
    Node a = source, b = sink, cut = kNone;
    bool cut_below_source = true;
    std::int64_t amount = INT64_MAX;
    const auto look = [&](Node node, bool below_source) {
        if (is_source(node) == below_source && flow_[node] < amount) amount = flow_[node], cut = node, cut_below_source = below_source;
    };
    while (a != b) {
        if (depth_[a] >= depth_[b]) {
            look(a, true);
            a = parent_[a];
        } else {
            look(b, false);
            b = parent_[b];
        }
    }
    for (Node node = source; node != a; node = parent_[node]) flow_[node] += is_source(node) ? -amount : amount;
    for (Node node = sink; node != a; node = parent_[node]) flow_[node] += is_source(node) ? amount : -amount;
    const double change = cost(source, sink) - potential_[source] - potential_[sink];
    if (cut_below_source) {
        rehang(source, sink, cut, amount, change);
    } else {
        rehang(sink, source, cut, amount, change);
    }
}

// Cuts the subtree of `cut`, turns it so that `inside` is on top, and hangs it below `outside`.
void Transport::rehang(Node inside, Node outside, Node cut, std::int64_t amount, double change) {
    Node child = inside, above = outside;
    std::int64_t carried = amount;
    for (bool last = false; !last;) {
        const Node old_parent = parent_[child];
        last = child == cut;
        detach(child);
        attach(child, above);
        std::swap(flow_[child], carried);
        above = child;
        child = old_parent;
    }
    shift(inside, change);
}

// New depths and potentials in the subtree of `top`: `change` more for nodes of its kind, as much less for the others.
void Transport::shift(Node top, double change) {
    const bool kind = is_source(top);
    Node node = top;
    while (true) {
        depth_[node] = depth_[parent_[node]] + 1;
        potential_[node] += is_source(node) == kind ? change : -change;
        if (first_child_[node] != kNone) {
            node = first_child_[node];
            continue;
        }
        while (node != top && next_[node] == kNone) node = parent_[node];
        if (node == top) return;
        node = next_[node];
    }
}

void Transport::detach(Node child) {
    if (previous_[child] != kNone) {
        next_[previous_[child]] = next_[child];
    } else {
        first_child_[parent_[child]] = next_[child];
    }
    if (next_[child] != kNone) previous_[next_[child]] = previous_[child];
}

void Transport::attach(Node child, Node parent) {
    parent_[child] = parent;
    previous_[child] = kNone;
    next_[child] = first_child_[parent];
    if (next_[child] != kNone) previous_[next_[child]] = child;
    first_child_[parent] = child;
}

// What the last tree ships of the amounts as they were given: an arc carries what its subtree has too much or too little.
void Transport::settle(bool turned) {
    const std::size_t nodes = sources_ + sinks_;
    rest_.assign(mass_.begin(), mass_.end());
    for (std::size_t j = sources_; j < nodes; ++j) rest_[j] = -rest_[j];
    order_.assign(1, 0);
    for (std::size_t place = 0; place < order_.size(); ++place) {
        for (Node child = first_child_[order_[place]]; child != kNone; child = next_[child]) order_.push_back(child);
    }
    arcs_.clear();
    for (std::size_t place = nodes; --place > 0;) {
        const Node node = order_[place], parent = parent_[node];
        const std::int64_t amount = is_source(node) ? rest_[node] : -rest_[node];
        rest_[parent] += rest_[node];
        if (amount == 0) continue;
        const Node source = is_source(node) ? node : parent, sink = (is_source(node) ? parent : node) - static_cast<Node>(sources_);
        arcs_.push_back({turned ? sink : source, turned ? source : sink, static_cast<std::uint64_t>(amount)});
    }
    std::sort(arcs_.begin(), arcs_.end(), [](const Shipment& a, const Shipment& b) { return a.from != b.from ? a.from < b.from : a.to < b.to; });
}

}  // namespace lookalike
