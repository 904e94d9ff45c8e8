#include "text/align.hpp"

#include <algorithm>
#include <array>

#include "base/flat_table.hpp"

namespace lookalike {
namespace {

constexpr std::size_t kExactCells = 1 << 18;  // a table of 512 x 512 tokens: a quarter of a megabyte, under a millisecond
constexpr std::array<unsigned, 5> kAnchorTokens{32, 8, 3, 2, 1};
constexpr unsigned kMaxDepth = 48;
// In a table of lengths a token counts 1 << kTokenShift, and its characters in the bits below: 512 tokens of 64 stay below them.
constexpr unsigned kTokenShift = 16;
constexpr std::uint32_t kMostCharacters = 64;
constexpr std::size_t kAhead = 12;  // hashes whose places in a table are on their way from memory

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

    // Where a run of tokens stands: kNone for nowhere, kMany for several places.
    static constexpr std::uint32_t kNone = 0xFFFFFFFF, kMany = 0xFFFFFFFE;
    struct Places {
        std::uint32_t left = kNone, right = kNone;
        bool is_empty() const { return left == kNone; }
    };

    // Calls with every hash and its number, while the places of those that follow are fetched.
    template <class Visit>
    void for_each_hash(const Visit& visit) {
        for (std::size_t i = 0; i < hashes_.size(); ++i) {
            if (i + kAhead < hashes_.size()) places_.prefetch(hashes_[i + kAhead]);
            visit(hashes_[i], static_cast<std::uint32_t>(i));
        }
    }

    // Runs of n tokens that both sides of the region have exactly once, as the longest chain that ascends on both.
    std::vector<Anchor> unique_anchors(const Region& region, unsigned n) {
        if (region.left_end - region.left < n || region.right_end - region.right < n) return {};
        hashes_.resize(region.left_end - region.left - n + 1);
        hash_shingles(left_.data() + region.left, hashes_.size(), n, 0, hashes_.data());
        places_.reset(hashes_.size());
        for_each_hash([&](std::uint64_t hash, std::uint32_t i) {
            Places& found = places_.of(hash);
            found.left = found.is_empty() ? i : kMany;
        });
        partners_.assign(hashes_.size(), kNone);
        hashes_.resize(region.right_end - region.right - n + 1);
        hash_shingles(right_.data() + region.right, hashes_.size(), n, 0, hashes_.data());
        for_each_hash([&](std::uint64_t hash, std::uint32_t i) {
            Places& found = places_.of(hash);
            if (found.is_empty() || found.left == kMany) return;
            found.right = found.right == kNone ? i : kMany;
            partners_[found.left] = found.right;
        });
        std::vector<Anchor> anchors;
        for (std::uint32_t i = 0; i < partners_.size(); ++i) {
            if (partners_[i] < kMany) anchors.push_back({region.left + i, region.right + partners_[i]});
        }
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
        const std::size_t rows = region.left_end - region.left, width = region.right_end - region.right + 1;
        table_.resize((rows + 1) * width);
        std::fill_n(table_.begin() + static_cast<std::ptrdiff_t>(rows * width), width, 0U);
        sort_right(region);
        for (std::size_t i = rows; i-- > 0;) {
            const std::uint32_t gain = (1U << kTokenShift) + (sizes_.empty() ? 0 : std::min(sizes_[region.left + i], kMostCharacters));
            fill_row(table_.data() + i * width, width, left_[region.left + i], gain);
        }
        std::size_t i = 0, k = 0;
        while (i < rows && k + 1 < width) {
            if (left_[region.left + i] == right_[region.right + k]) {
                keep(region.left + static_cast<std::uint32_t>(i++), region.right + static_cast<std::uint32_t>(k++), 1);
            } else if (table_[(i + 1) * width + k] >= table_[i * width + k + 1]) {
                ++i;
            } else {
                ++k;
            }
        }
    }

    // A row of the table, where the one below it is done. A cell has, if its tokens are equal, what the cell below and to the right has, and
    // the gain; else the larger of the cell below and the cell to the right. A row never ascends, so a gain reaches as far to the left as
    // there is less below: most of the row is a copy.
    void fill_row(std::uint32_t* row, std::size_t width, std::uint64_t token, std::uint32_t gain) const {
        const std::uint32_t* const below = row + width;
        std::copy_n(below, width, row);
        const auto first = std::lower_bound(by_hash_.begin(), by_hash_.end(), token, [](const Token& each, std::uint64_t hash) { return each.hash < hash; });
        for (auto each = first; each != by_hash_.end() && each->hash == token; ++each) {  // from right to left
            const std::uint32_t value = below[each->place + 1] + gain;
            row[each->place] = value;
            for (std::size_t k = each->place; k > 0 && row[k - 1] < value; --k) row[k - 1] = value;
        }
    }

    void sort_right(const Region& region) {
        by_hash_.clear();
        for (std::uint32_t k = region.right; k < region.right_end; ++k) by_hash_.push_back({right_[k], k - region.right});
        std::sort(by_hash_.begin(), by_hash_.end(), [](const Token& a, const Token& b) { return a.hash != b.hash ? a.hash < b.hash : a.place > b.place; });
    }

    struct Token {
        std::uint64_t hash;
        std::uint32_t place;
    };

    std::span<const std::uint64_t> left_, right_;
    std::span<const std::uint32_t> sizes_;
    std::vector<SharedRun> runs_;
    // Used again and again.
    std::vector<std::uint32_t> table_, partners_;
    std::vector<Token> by_hash_;  // of the right side of a region
    std::vector<std::uint64_t> hashes_;
    FlatTable<Places> places_;
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
        const std::vector<Region> lefts = free_stretches(left_used_, shortest), rights = free_stretches(right_used_, shortest);
        if (lefts.empty() || rights.empty()) return;
        list_places(rights, shortest);
        for (const Region& stretch : lefts) {
            hash(left_, stretch, shortest);
            std::size_t next = stretch.left;  // what lies before it is taken, or begins no run
            for (std::size_t i = stretch.left; i + shortest <= stretch.left_end; ++i) {
                fetch_ahead(i - stretch.left);
                if (i < next) continue;
                const First& first = places_.of(hashes_[i - stretch.left]);
                if (first.is_empty()) continue;
                SharedRun best{0, 0, 0};
                for (std::uint32_t at = first.at; at != kNone; at = right_places_[at].next) {
                    const SharedRun run = extend(i, right_places_[at].token);
                    if (run.length > best.length) best = run;
                }
                if (best.length < shortest) continue;
                take(best);
                runs.push_back(best);
                next = std::size_t{best.left} + best.length;
            }
        }
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

    // Where at least `length` unused tokens follow each other; of a region, only its left side.
    static std::vector<Region> free_stretches(const std::vector<bool>& used, std::uint32_t length) {
        std::vector<Region> found;
        std::uint32_t start = 0;
        const auto size = static_cast<std::uint32_t>(used.size());
        for (std::uint32_t at = 0; at <= size; ++at) {
            if (at < size && !used[at]) continue;
            if (at - start >= length) found.push_back({start, at, 0, 0});
            start = at + 1;
        }
        return found;
    }

    void hash(std::span<const std::uint64_t> tokens, const Region& stretch, unsigned n) {
        hashes_.resize(stretch.left_end - stretch.left - n + 1);
        hash_shingles(tokens.data() + stretch.left, hashes_.size(), n, 0, hashes_.data());
    }

    // The place of a hash some way behind the one at hand is on its way from memory when its turn comes.
    void fetch_ahead(std::size_t i) const {
        if (i + kAhead < hashes_.size()) places_.prefetch(hashes_[i + kAhead]);
    }

    // Where runs of so many tokens stand on the right, each at the first few places.
    void list_places(const std::vector<Region>& stretches, unsigned n) {
        constexpr std::uint32_t kMaxPlaces = 32;  // bounds the work on repetitive texts
        std::size_t count = 0;
        for (const Region& stretch : stretches) count += stretch.left_end - stretch.left - n + 1;
        places_.reset(count);
        right_places_.clear();
        for (const Region& stretch : stretches) {
            hash(right_, stretch, n);
            for (std::size_t i = 0; i < hashes_.size(); ++i) {
                fetch_ahead(i);
                First& first = places_.of(hashes_[i]);
                if (first.count == kMaxPlaces) continue;
                const auto place = static_cast<std::uint32_t>(right_places_.size());
                if (first.is_empty()) {
                    first.at = place;
                } else {
                    right_places_[first.last].next = place;
                }
                first.last = place;
                ++first.count;
                right_places_.push_back({stretch.left + static_cast<std::uint32_t>(i), kNone});
            }
        }
    }

    static constexpr std::uint32_t kNone = 0xFFFFFFFF;
    struct Place {
        std::uint32_t token, next;  // the place after it
    };
    struct First {
        std::uint32_t at = kNone, last = 0, count = 0;
        bool is_empty() const { return at == kNone; }
    };

    std::span<const std::uint64_t> left_, right_;
    std::vector<bool> left_used_, right_used_;
    FlatTable<First> places_;
    std::vector<Place> right_places_;
    std::vector<std::uint64_t> hashes_;
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
