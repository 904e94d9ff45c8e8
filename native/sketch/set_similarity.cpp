#include "sketch/set_similarity.hpp"

namespace lookalike {

double SetSimilarity::to(std::span<const std::uint64_t> other, double least) {
    const double smaller = static_cast<double>(std::min(own_.size(), other.size()));
    const double larger = static_cast<double>(std::max(own_.size(), other.size()));
    if (smaller == 0 || smaller / larger < least) return 0;
    // A copy that was changed here and there begins and ends as its original does. Features are distinct, so what both ends have in common is nowhere else.
    const std::size_t shorter = std::min(own_.size(), other.size());
    std::size_t front = 0, back = 0;
    while (front < shorter && own_[front] == other[front]) ++front;
    while (back < shorter - front && own_[own_.size() - 1 - back] == other[other.size() - 1 - back]) ++back;
    fill(front, own_.size() - back);
    // One less, for the rounding: this only saves time.
    const double most_missing = static_cast<double>(other.size()) - (least_common(least, other.size()) - 1);
    const std::size_t last = other.size() - back;
    std::size_t missing = 0, done = front;
    while (done < last && static_cast<double>(missing) <= most_missing) {
        const std::size_t end = std::min(done + 64, last);
        for (; done < end; ++done) missing += !set_.contains(other[done]);
    }
    if (done < last) return 0;
    const std::size_t common = other.size() - missing;
    return static_cast<double>(common) / static_cast<double>(measure_ == Measure::jaccard ? own_.size() + other.size() - common : own_.size());
}

void SetSimilarity::fill(std::size_t first, std::size_t last) {
    if (first_ == last_) {  // nothing yet, or only what another set left behind
        set_.reset(own_.size());
        first_ = last_ = first;
    }
    while (first_ > first) set_.insert(own_[--first_]);
    while (last_ < last) set_.insert(own_[last_++]);
}

double SetSimilarity::least_common(double similarity, std::size_t other) const {
    const double own = static_cast<double>(own_.size());
    // A Jaccard similarity of s takes s / (1 + s) of both sizes in common.
    return measure_ == Measure::jaccard ? similarity / (1 + similarity) * (own + static_cast<double>(other)) : similarity * own;
}

}  // namespace lookalike
