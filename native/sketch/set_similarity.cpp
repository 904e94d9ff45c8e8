#include "sketch/set_similarity.hpp"

namespace lookalike {

double SetSimilarity::to(std::span<const std::uint64_t> other, double least) {
    const double smaller = static_cast<double>(std::min(own_.size(), other.size()));
    const double larger = static_cast<double>(std::max(own_.size(), other.size()));
    if (smaller == 0 || smaller / larger < least) return 0;
    if (!filled_) {
        set_.reset(own_.size());
        for (const std::uint64_t feature : own_) set_.insert(feature);
        filled_ = true;
    }
    // One less, for the rounding: this only saves time.
    const double most_missing = static_cast<double>(other.size()) - (least_common(least, other.size()) - 1);
    std::size_t common = 0, done = 0;
    while (done < other.size() && static_cast<double>(done - common) <= most_missing) {
        const std::size_t end = std::min(done + 64, other.size());
        for (; done < end; ++done) common += set_.contains(other[done]);
    }
    if (done < other.size()) return 0;
    return static_cast<double>(common) / static_cast<double>(measure_ == Measure::jaccard ? own_.size() + other.size() - common : own_.size());
}

double SetSimilarity::least_common(double similarity, std::size_t other) const {
    const double own = static_cast<double>(own_.size());
    // A Jaccard similarity of s takes s / (1 + s) of both sizes in common.
    return measure_ == Measure::jaccard ? similarity / (1 + similarity) * (own + static_cast<double>(other)) : similarity * own;
}

}  // namespace lookalike
