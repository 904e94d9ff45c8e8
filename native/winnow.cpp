#include "winnow.hpp"

#include <algorithm>
#include <numeric>

namespace lookalike {
namespace {

constexpr std::size_t kMaxPlaces = 32;   // bounds the work on repetitive texts …
constexpr std::size_t kMaxOverlap = 64;  // … and so does this: tokens that a run may share with the one before it

// Places of each kept value, ascending, as an index sorted by value.
std::vector<std::uint32_t> by_value(const Anchors& side) {
    std::vector<std::uint32_t> order(side.values.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return side.values[a] < side.values[b]; });
    return order;
}

// Covers `from` with runs that also stand in `to`.
void cover(const Anchors& from, const Anchors& to, unsigned n, std::vector<bool>& covered_to, std::vector<SharedRun>& runs) {
    const std::vector<std::uint32_t> order = by_value(to);
    std::size_t covered = 0;  // tokens of `from` before this one are done
    for (std::size_t i = 0; i < from.values.size(); ++i) {
        const std::size_t at = from.positions[i];
        if (at + n <= covered) continue;
        const std::size_t floor = std::min(at, covered - std::min(covered, kMaxOverlap));  // how far back a run may reach
        const std::uint64_t value = from.values[i];
        auto place = std::lower_bound(order.begin(), order.end(), value, [&](std::uint32_t k, std::uint64_t v) { return to.values[k] < v; });
        SharedRun best{0, 0, 0};
        for (std::size_t tried = 0; tried < kMaxPlaces && place != order.end() && to.values[*place] == value; ++tried, ++place) {
            const std::size_t there = to.positions[*place];
            std::size_t back = 0, forth = 0;
            while (at - back > floor && there > back && from.tokens[at - back - 1] == to.tokens[there - back - 1]) ++back;
            while (at + forth < from.tokens.size() && there + forth < to.tokens.size() && from.tokens[at + forth] == to.tokens[there + forth]) {
                ++forth;
            }
            if (back + forth > best.length) {
                best = {static_cast<std::uint32_t>(at - back), static_cast<std::uint32_t>(there - back), static_cast<std::uint32_t>(back + forth)};
            }
        }
        if (best.length < n) continue;  // equal hashes of unequal tokens, or no place at all
        covered = std::max<std::size_t>(covered, best.left + best.length);
        std::fill_n(covered_to.begin() + best.right, best.length, true);
        runs.push_back(best);
    }
}

}  // namespace

void winnow(std::span<const std::uint64_t> shingles, std::size_t window, std::vector<std::uint32_t>& kept) {
    kept.clear();
    const std::size_t count = shingles.size();
    if (count == 0) return;
    window = std::min(window, count);
    std::size_t smallest = 0;
    for (std::size_t i = 1; i < window; ++i) {
        if (shingles[i] <= shingles[smallest]) smallest = i;
    }
    kept.push_back(static_cast<std::uint32_t>(smallest));
    for (std::size_t last = window; last < count; ++last) {
        const std::size_t first = last - window + 1;
        if (shingles[last] <= shingles[smallest]) {
            smallest = last;
        } else if (smallest < first) {
            smallest = first;
            for (std::size_t i = first + 1; i <= last; ++i) {
                if (shingles[i] <= shingles[smallest]) smallest = i;
            }
        } else {
            continue;
        }
        kept.push_back(static_cast<std::uint32_t>(smallest));
    }
}

std::vector<SharedRun> shared_runs(const Anchors& left, const Anchors& right, unsigned n) {
    std::vector<SharedRun> runs;
    std::vector<bool> covered_right(right.tokens.size(), false);
    cover(left, right, n, covered_right, runs);
    // What is left of the right side: further copies of places that the left side has once.
    std::vector<std::uint64_t> values;
    std::vector<std::uint32_t> positions;
    for (std::size_t i = 0; i < right.values.size(); ++i) {
        if (covered_right[right.positions[i]]) continue;
        values.push_back(right.values[i]);
        positions.push_back(right.positions[i]);
    }
    std::vector<SharedRun> copies;
    std::vector<bool> covered_left(left.tokens.size(), false);
    cover({right.tokens, values, positions}, left, n, covered_left, copies);
    for (const SharedRun& run : copies) runs.push_back({run.right, run.left, run.length});
    std::sort(runs.begin(), runs.end(), [](const SharedRun& a, const SharedRun& b) {
        return a.left != b.left ? a.left < b.left : a.right != b.right ? a.right < b.right : a.length < b.length;
    });
    return runs;
}

}  // namespace lookalike
