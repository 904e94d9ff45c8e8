#include "edits/kept_runs.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "text/align.hpp"

namespace lookalike {
namespace {

using Runs = std::vector<SharedRun>;

// A kept fragment stands if it has more than half as much text as the changes around it.
constexpr std::uint64_t kFragmentFactor = 2;
constexpr std::uint32_t kMaxSlide = 64;  // tokens; bounds the work on repetitive texts
constexpr std::uint32_t kMaxReach = 64;  // tokens from a gap to the beginning or the end of the sentence it is in
// Runs: with more, bits are not looked for. The limit was set when that took longer than everything else, and answers keep to it.
constexpr std::size_t kMaxBroken = 10'000;

// Tokens between two runs on one side, where the other side has none.
struct OneSided {
    const TokenSide* side = nullptr;
    std::uint32_t start = 0, end = 0;
    explicit operator bool() const { return side != nullptr; }
};

OneSided one_sided(const SharedRun& first, const SharedRun& second, const TokenSide& a, const TokenSide& b) {
    if (right_end(first) == second.right) return {&a, left_end(first), second.left};
    if (left_end(first) == second.left) return {&b, right_end(first), second.right};
    return {};
}

// Whether all of the first run can stand directly before the second.
bool is_absorbed(const SharedRun& first, const SharedRun& second, const TokenSide& a, const TokenSide& b) {
    const OneSided gap = one_sided(first, second, a, b);
    if (!gap || first.length > kMaxSlide) return false;
    const std::uint64_t* const hashes = gap.side->hashes().data();
    return std::equal(hashes + gap.end - first.length, hashes + gap.end, hashes + gap.start - first.length);
}

// By how many tokens the gap between two runs should slide: to the right if positive, to the left if negative.
std::int32_t shift_between(const SharedRun& first, const SharedRun& second, const TokenSide& a, const TokenSide& b) {
    const OneSided gap = one_sided(first, second, a, b);
    if (!gap) return 0;
    const auto hashes = gap.side->hashes();
    std::uint32_t right = 0, left = 0;
    while (right < std::min(kMaxSlide, second.length) && hashes[gap.start + right] == hashes[gap.end + right]) ++right;
    if (right == second.length) return static_cast<std::int32_t>(right);
    while (left < std::min(kMaxSlide, first.length - 1) && hashes[gap.start - left - 1] == hashes[gap.end - left - 1]) ++left;
    const std::int32_t lowest = -static_cast<std::int32_t>(left), highest = static_cast<std::int32_t>(right);
    const auto rank = [&](std::int32_t shift) {
        return std::pair(gap.side->begins(static_cast<std::uint32_t>(static_cast<std::int64_t>(gap.start) + shift)), -std::abs(shift));
    };
    std::int32_t best = lowest;
    for (std::int32_t shift = lowest + 1; shift <= highest; ++shift) {
        if (rank(shift) > rank(best)) best = shift;
    }
    return best;
}

// The same alignment with every one-sided gap where it reads best.
//
// Where text was only deleted or only inserted, the gap often can move: `one. [two. ]three.` and `one[. two]. three.` are the same
// deletion. Best is where a run joins its neighbour, then where the gap begins a line, then a sentence.
Runs slid(const Runs& runs, const TokenSide& a, const TokenSide& b) {
    Runs absorbed;
    absorbed.reserve(runs.size());
    for (auto run = runs.rbegin(); run != runs.rend(); ++run) {  // backwards first: a stray token that was aligned early joins the run it belongs to
        SharedRun whole = *run;
        while (!absorbed.empty() && is_absorbed(whole, absorbed.back(), a, b)) {
            const SharedRun& next = absorbed.back();
            whole = {next.left - whole.length, next.right - whole.length, whole.length + next.length};
            absorbed.pop_back();
        }
        absorbed.push_back(whole);
    }
    Runs placed;
    placed.reserve(absorbed.size());
    for (auto each = absorbed.rbegin(); each != absorbed.rend(); ++each) {
        SharedRun run = *each;
        if (!placed.empty()) {
            const auto shift = static_cast<std::uint32_t>(shift_between(placed.back(), run, a, b));  // wraps around, and back
            placed.back().length += shift;
            run = {run.left + shift, run.right + shift, run.length - shift};
            if (placed.back().length == 0) placed.pop_back();
            if (run.length == 0) continue;
        }
        placed.push_back(run);
    }
    return joined(std::move(placed));
}

// The kept runs that are more than chance agreement inside a rewritten stretch.
Runs without_fragments(const Runs& runs, const TokenSide& a, const TokenSide& b) {
    const auto count = static_cast<std::uint32_t>(runs.size());
    Runs edges{{0, 0, 0}};  // the start, the runs from 1 on, the end
    edges.insert(edges.end(), runs.begin(), runs.end());
    edges.push_back({a.size(), b.size(), 0});
    std::vector<std::uint32_t> before(count + 2), after(count + 2);
    for (std::uint32_t i = 0; i < count + 2; ++i) {
        before[i] = i - 1;
        after[i] = i + 1;
    }
    const auto gap = [&](std::uint32_t first, std::uint32_t second) {
        const SharedRun &x = edges[first], &y = edges[second];
        return std::max(a.characters(left_end(x), y.left), b.characters(right_end(x), y.right));
    };
    const auto is_fragment = [&](std::uint32_t i) {
        const std::uint64_t size = a.characters(edges[i].left, left_end(edges[i]));
        return kFragmentFactor * size <= std::min(gap(before[i], i), gap(i, after[i]));
    };
    std::vector<bool> stays(count + 2, true);
    std::vector<std::uint32_t> suspects(count), dropped;
    for (std::uint32_t i = 0; i < count; ++i) suspects[i] = i + 1;
    while (!suspects.empty()) {
        dropped.clear();
        for (const std::uint32_t i : suspects) {
            // Of neighbouring fragments only every second is dropped at a time: dropping one enlarges the gaps of the other.
            if (is_fragment(i) && (dropped.empty() || dropped.back() != before[i])) dropped.push_back(i);
        }
        for (const std::uint32_t i : dropped) {
            stays[i] = false;
            after[before[i]] = after[i];
            before[after[i]] = before[i];
        }
        suspects.clear();
        for (const std::uint32_t i : dropped) {
            for (const std::uint32_t k : {before[i], after[i]}) {
                if (k >= 1 && k <= count && stays[k]) suspects.push_back(k);
            }
        }
        std::sort(suspects.begin(), suspects.end());
        suspects.erase(std::unique(suspects.begin(), suspects.end()), suspects.end());
    }
    Runs found;
    for (std::uint32_t i = 0; i < count; ++i) {
        if (stays[i + 1]) found.push_back(runs[i]);
    }
    return found;
}

// Units by their tokens: the kept bits of them.
using Broken = std::unordered_map<std::string_view, Runs>;

// Calls with the parts of runs between two left tokens.
template <class Take>
void inside(const Runs& runs, const Stretch& unit, Take&& take) {
    auto at = std::upper_bound(runs.begin(), runs.end(), unit.first, [](std::uint32_t first, const SharedRun& run) { return first < run.left; });
    if (at != runs.begin()) --at;
    for (; at != runs.end() && at->left < unit.last; ++at) {
        const std::uint32_t left = std::max(at->left, unit.first), end = std::min(left_end(*at), unit.last);
        if (left < end) take(SharedRun{left, at->right + left - at->left, end - left});
    }
}

// The units around and in gaps of which less than half was kept. They begin at `places`.
Broken broken(const Runs& runs, const TokenSide& a, const TokenSide& b, const std::vector<std::uint32_t>& places) {
    Broken found;
    std::uint32_t done = 0;
    std::vector<std::uint32_t> edges;
    Runs bits;
    for (const GapPair& gap : gaps(runs, a, b)) {
        const std::uint32_t first = std::max(gap.left.first, done), last = gap.left.last;
        if (first >= last) continue;  // nothing here, or in the unit of the gap before
        const std::uint32_t start = std::max(done, first < kMaxReach ? 0 : first - kMaxReach);
        const std::uint64_t end = std::min<std::uint64_t>(a.size(), std::uint64_t{last} + kMaxReach);
        const auto inner = std::upper_bound(places.begin(), places.end(), first);
        const auto outer = std::lower_bound(inner, places.end(), last);
        edges.clear();
        edges.push_back(inner != places.begin() && *(inner - 1) >= start ? *(inner - 1) : first);
        edges.insert(edges.end(), inner, outer);
        edges.push_back(outer != places.end() && *outer <= end ? *outer : last);
        done = edges.back();
        for (std::size_t i = 1; i < edges.size(); ++i) {
            const Stretch unit{edges[i - 1], edges[i]};
            bits.clear();
            std::uint64_t kept = 0;
            if (unit.first < first || unit.last > last) {  // only a unit that reaches beyond the gap can have kept bits
                inside(runs, unit, [&](const SharedRun& bit) {
                    bits.push_back(bit);
                    kept += a.characters(bit.left, left_end(bit));
                });
            }
            if (bits.empty() || 2 * kept <= a.characters(unit)) {
                Runs& here = found[a.key(unit.first, unit.last)];
                here.insert(here.end(), bits.begin(), bits.end());
            }
        }
    }
    return found;
}

// The runs without some parts of them.
Runs split(const Runs& runs, Runs bits) {
    std::sort(bits.begin(), bits.end(), precedes);
    Runs kept;
    kept.reserve(runs.size() + bits.size());
    std::size_t at = 0;
    for (const SharedRun& run : runs) {
        std::uint32_t left = run.left;
        for (; at < bits.size() && bits[at].left < left_end(run); ++at) {
            if (bits[at].left > left) kept.push_back({left, run.right + left - run.left, bits[at].left - left});
            left = std::max(left, left_end(bits[at]));
        }
        if (left < left_end(run)) kept.push_back({left, run.right + left - run.left, left_end(run) - left});
    }
    return kept;
}

// The runs without bits of lines, sentences and clauses of which less than half was kept, and which stand whole elsewhere.
Runs without_bits(Runs runs, const TokenSide& a, const TokenSide& b) {
    if (runs.size() > kMaxBroken) return runs;
    for (const auto places : {&TokenSide::beginnings, &TokenSide::edges}) {
        Runs mirrored, released;
        for (const SharedRun& run : runs) mirrored.push_back({run.right, run.left, run.length});
        const Broken ours = broken(runs, a, b, (a.*places)()), theirs = broken(mirrored, b, a, (b.*places)());
        for (const auto& [key, bits] : ours) {
            const auto there = theirs.find(key);
            if (there == theirs.end()) continue;
            released.insert(released.end(), bits.begin(), bits.end());
            for (const SharedRun& bit : there->second) released.push_back({bit.right, bit.left, bit.length});
        }
        if (!released.empty()) runs = split(runs, std::move(released));
    }
    return runs;
}

}  // namespace

std::vector<SharedRun> kept_runs(const TokenSide& a, const TokenSide& b) {
    const Runs aligned = align(a.hashes(), b.hashes(), a.sizes());
    return without_bits(without_fragments(slid(aligned, a, b), a, b), a, b);
}

}  // namespace lookalike
