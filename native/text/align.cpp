#include "text/align.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace lookalike {
namespace {

constexpr std::size_t kExactCells = 1 << 18;  // a table of 512 x 512 tokens: a quarter of a megabyte, under a millisecond
constexpr std::array<unsigned, 5> kAnchorTokens{32, 8, 3, 2, 1};
constexpr unsigned kMaxDepth = 48;
// In a table of lengths a token counts 1 << kTokenShift, and its characters in the bits below: 512 tokens of 64 stay below them.
constexpr unsigned kTokenShift = 16;
constexpr std::uint32_t kMostCharacters = 64;

struct Region {
    std::uint32_t left, left_end, right, right_end;
};

struct Anchor {
    std::uint32_t left, right;
};

class Aligner {
   public:
    Aligner(std::span<const std::uint64_t> left, std::span<const std::uint64_t> right, std::span<const std::uint32_t> sizes)
        : left_(left), right_(right), sizes_(sizes) {}

    std::vector<SharedRun> run() {
        align({0, static_cast<std::uint32_t>(left_.size()), 0, static_cast<std::uint32_t>(right_.size())}, 0);
        return std::move(runs_);
    }

   private:
    // Regions come in order, so runs are found in order.
    void align(Region region, unsigned depth) {
        std::uint32_t head = 0;
        while (region.left + head < region.left_end && region.right + head < region.right_end && left_[region.left + head] == right_[region.right + head]) {
            ++head;
        }
        keep(region.left, region.right, head);
        region.left += head;
        region.right += head;
        std::uint32_t tail = 0;
        while (region.left_end - tail > region.left && region.right_end - tail > region.right &&
               left_[region.left_end - tail - 1] == right_[region.right_end - tail - 1]) {
            ++tail;
        }
        region.left_end -= tail;
        region.right_end -= tail;
        middle(region, depth);
        keep(region.left_end, region.right_end, tail);
    }

    void middle(const Region& region, unsigned depth) {
        const std::size_t rows = region.left_end - region.left, columns = region.right_end - region.right;
        if (rows == 0 || columns == 0) return;
        if (rows * columns <= kExactCells) return exact(region);
        if (depth >= kMaxDepth) return;
        for (const unsigned n : kAnchorTokens) {
            const std::vector<Anchor> anchors = unique_anchors(region, n);
            if (anchors.empty()) continue;
            Region next{region.left, 0, region.right, 0};
            for (const Anchor& anchor : anchors) {
                if (anchor.left < next.left || anchor.right < next.right) continue;  // inside the run before
                next.left_end = anchor.left;
                next.right_end = anchor.right;
                align(next, depth + 1);
                std::uint32_t length = 0;
                while (anchor.left + length < region.left_end && anchor.right + length < region.right_end &&
                       left_[anchor.left + length] == right_[anchor.right + length]) {
                    ++length;
                }
                keep(anchor.left, anchor.right, length);
                next.left = anchor.left + length;
                next.right = anchor.right + length;
            }
            next.left_end = region.left_end;
            next.right_end = region.right_end;
            align(next, depth + 1);
            return;
        }
    }

    void keep(std::uint32_t left, std::uint32_t right, std::uint32_t length) {
        if (length == 0) return;
        if (!runs_.empty()) {
            SharedRun& last = runs_.back();
            if (last.left + last.length == left && last.right + last.length == right) {
                last.length += length;
                return;
            }
        }
        runs_.push_back({left, right, length});
    }

    struct Places {
        std::uint32_t left = 0, right = 0;
        std::uint8_t lefts = 0, rights = 0;  // 0, 1, or 2 for more
    };

    // Runs of n tokens that both sides of the region have exactly once, as the longest chain that ascends on both.
    std::vector<Anchor> unique_anchors(const Region& region, unsigned n) const {
        if (region.left_end - region.left < n || region.right_end - region.right < n) return {};
        std::unordered_map<std::uint64_t, Places> places;
        places.reserve(region.left_end - region.left);
        std::vector<std::uint64_t> hashes(region.left_end - region.left - n + 1);
        hash_shingles(left_.data() + region.left, hashes.size(), n, 0, hashes.data());
        for (std::size_t i = 0; i < hashes.size(); ++i) {
            Places& found = places[hashes[i]];
            found.left = region.left + static_cast<std::uint32_t>(i);
            found.lefts = found.lefts ? 2 : 1;
        }
        hashes.resize(region.right_end - region.right - n + 1);
        hash_shingles(right_.data() + region.right, hashes.size(), n, 0, hashes.data());
        for (std::size_t i = 0; i < hashes.size(); ++i) {
            const auto found = places.find(hashes[i]);
            if (found == places.end() || found->second.lefts != 1) continue;
            found->second.right = region.right + static_cast<std::uint32_t>(i);
            found->second.rights = found->second.rights ? 2 : 1;
        }
        std::vector<Anchor> anchors;
        for (const auto& [hash, found] : places) {
            if (found.lefts == 1 && found.rights == 1) anchors.push_back({found.left, found.right});
        }
        std::sort(anchors.begin(), anchors.end(), [](const Anchor& a, const Anchor& b) { return a.left < b.left; });
        return ascending(anchors);
    }

    // The longest subsequence in which the right side ascends too.
    static std::vector<Anchor> ascending(const std::vector<Anchor>& anchors) {
        std::vector<std::uint32_t> ends;  // anchors that end the chains of length 1, 2, …
        std::vector<std::int64_t> before(anchors.size(), -1);
        for (std::uint32_t i = 0; i < anchors.size(); ++i) {
            const auto at =
                std::lower_bound(ends.begin(), ends.end(), anchors[i].right, [&](std::uint32_t k, std::uint32_t right) { return anchors[k].right < right; });
            if (at != ends.begin()) before[i] = *(at - 1);
            if (at == ends.end()) {
                ends.push_back(i);
            } else {
                *at = i;
            }
        }
        std::vector<Anchor> chain;
        for (std::int64_t i = ends.empty() ? std::int64_t{-1} : std::int64_t{ends.back()}; i >= 0; i = before[static_cast<std::size_t>(i)]) {
            chain.push_back(anchors[static_cast<std::size_t>(i)]);
        }
        std::reverse(chain.begin(), chain.end());
        return chain;
    }

    // A longest common subsequence by the table of lengths, from the back so that it is read off from the front. Of several
    // that have as many tokens, one with the most characters.
    void exact(const Region& region) {
        const std::size_t rows = region.left_end - region.left, columns = region.right_end - region.right;
        table_.assign((rows + 1) * (columns + 1), 0);
        const auto cell = [&](std::size_t i, std::size_t k) -> std::uint32_t& { return table_[i * (columns + 1) + k]; };
        for (std::size_t i = rows; i-- > 0;) {
            const std::uint64_t token = left_[region.left + i];
            const std::uint32_t gain = (1U << kTokenShift) + (sizes_.empty() ? 0 : std::min(sizes_[region.left + i], kMostCharacters));
            for (std::size_t k = columns; k-- > 0;) {
                cell(i, k) = token == right_[region.right + k] ? cell(i + 1, k + 1) + gain : std::max(cell(i + 1, k), cell(i, k + 1));
            }
        }
        std::size_t i = 0, k = 0;
        while (i < rows && k < columns) {
            if (left_[region.left + i] == right_[region.right + k]) {
                keep(region.left + static_cast<std::uint32_t>(i++), region.right + static_cast<std::uint32_t>(k++), 1);
            } else if (cell(i + 1, k) >= cell(i, k + 1)) {
                ++i;
            } else {
                ++k;
            }
        }
    }

    std::span<const std::uint64_t> left_, right_;
    std::span<const std::uint32_t> sizes_;
    std::vector<SharedRun> runs_;
    std::vector<std::uint32_t> table_;
};

}  // namespace

std::vector<SharedRun> align(std::span<const std::uint64_t> left, std::span<const std::uint64_t> right, std::span<const std::uint32_t> sizes) {
    return Aligner(left, right, sizes).run();
}

namespace {

// Finds runs among the tokens that no run has yet.
class MoveFinder {
   public:
    MoveFinder(std::span<const std::uint64_t> left, std::span<const std::uint64_t> right, std::span<const SharedRun> kept)
        : left_(left), right_(right), left_used_(left.size(), false), right_used_(right.size(), false) {
        for (const SharedRun& run : kept) take(run);
    }

    void find(unsigned shortest, std::vector<SharedRun>& runs) {
        constexpr std::size_t kMaxPlaces = 32;  // bounds the work on repetitive texts
        if (left_.size() < shortest || right_.size() < shortest) return;
        std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> places;
        std::vector<std::uint64_t> hashes(right_.size() - shortest + 1);
        hash_shingles(right_.data(), hashes.size(), shortest, 0, hashes.data());
        for_each_free(right_used_, shortest, [&](std::size_t k) {
            auto& found = places[hashes[k]];
            if (found.size() < kMaxPlaces) found.push_back(static_cast<std::uint32_t>(k));
            return k + 1;
        });
        if (places.empty()) return;
        hashes.resize(left_.size() - shortest + 1);
        hash_shingles(left_.data(), hashes.size(), shortest, 0, hashes.data());
        for_each_free(left_used_, shortest, [&](std::size_t i) {
            const auto found = places.find(hashes[i]);
            SharedRun best{0, 0, 0};
            if (found != places.end()) {
                for (const std::uint32_t k : found->second) {
                    const SharedRun run = extend(i, k);
                    if (run.length > best.length) best = run;
                }
            }
            if (best.length < shortest) return i + 1;
            take(best);
            runs.push_back(best);
            return std::size_t{best.left} + best.length;
        });
    }

   private:
    void take(const SharedRun& run) {
        std::fill_n(left_used_.begin() + run.left, run.length, true);
        std::fill_n(right_used_.begin() + run.right, run.length, true);
    }

    bool joins(std::size_t i, std::size_t k) const { return !left_used_[i] && !right_used_[k] && left_[i] == right_[k]; }

    SharedRun extend(std::size_t i, std::size_t k) const {
        std::size_t length = 0, back = 0;
        while (i + length < left_.size() && k + length < right_.size() && joins(i + length, k + length)) ++length;
        if (length == 0) return {0, 0, 0};
        while (back < i && back < k && joins(i - back - 1, k - back - 1)) ++back;
        return {static_cast<std::uint32_t>(i - back), static_cast<std::uint32_t>(k - back), static_cast<std::uint32_t>(length + back)};
    }

    // Calls visit(position) where `length` unused tokens begin; it returns where to go on.
    template <class Visit>
    static void for_each_free(const std::vector<bool>& used, std::size_t length, Visit&& visit) {
        std::size_t at = 0, checked = 0;  // tokens from `at` to `checked` are unused
        while (at + length <= used.size()) {
            checked = std::max(checked, at);
            while (checked < at + length && !used[checked]) ++checked;
            if (checked < at + length) {
                at = checked + 1;
                checked = at;
                continue;
            }
            at = visit(at);
        }
    }

    std::span<const std::uint64_t> left_, right_;
    std::vector<bool> left_used_, right_used_;
};

}  // namespace

std::vector<SharedRun> moved_runs(std::span<const std::uint64_t> left, std::span<const std::uint64_t> right, std::span<const SharedRun> kept,
                                  unsigned shortest) {
    std::vector<SharedRun> runs;
    MoveFinder finder(left, right, kept);
    // Long runs first: a phrase that agrees by chance must not take the head of a moved paragraph.
    for (const unsigned length : {32u, 12u}) {
        if (length > shortest) finder.find(length, runs);
    }
    finder.find(shortest, runs);
    return runs;
}

}  // namespace lookalike
