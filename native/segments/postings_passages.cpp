// The passages that a query shares with a document: runs of shared fingerprints.
#include <numeric>

#include "segments/postings.hpp"

namespace lookalike::postings {
namespace {

// Bounds of the work on repetitive texts:
constexpr std::size_t kMaxPlaces = 32;   // places of a hash that are tried,
constexpr std::size_t kMaxOverlap = 64;  // fingerprints that a run may share with the one before it,
constexpr std::size_t kReach = 8;        // fingerprints that are looked at beyond one whose span overlaps theirs.

struct Print {  // a fingerprint of the query or of a document; equal hashes have equal numbers
    std::uint32_t hash, rank;
    TextSpan span;
};

// The shared fingerprints of one text in its order, and where each hash is among them.
struct Side {
    std::vector<Print> prints;
    std::vector<std::uint32_t> order, firsts;  // those of hash h are order[firsts[h]] to order[firsts[h + 1]], ascending

    void index(std::size_t hashes) {
        firsts.assign(hashes + 1, 0);
        order.resize(prints.size());
        for (const Print& print : prints) ++firsts[print.hash + 1];
        std::partial_sum(firsts.begin(), firsts.end(), firsts.begin());
        std::vector<std::uint32_t> next(firsts.begin(), firsts.end() - 1);
        for (std::uint32_t i = 0; i < prints.size(); ++i) order[next[prints[i].hash]++] = i;
    }
};

struct Pair {
    std::size_t left, right;  // prints with the same hash
};

struct Chain {
    Pair head, tail;
    std::size_t pairs;  // of hashes that count
};

// Runs of shared fingerprints. Two pairs follow each other in a run if nothing between them is known to differ: they are neighbours
// on both sides, or their spans overlap or touch on both sides.
class Chains {
   public:
    Chains(const Side& left, const Side& right, const std::vector<bool>& counts) : left_(left), right_(right), counts_(counts) {}

    // Covers what is not done of the left side with runs, in its order; marks what they cover on the right. A run begins and ends
    // with a hash that counts.
    void cover(const std::vector<bool>& done, std::vector<bool>& covered_right, std::vector<Chain>& chains) const {
        std::size_t covered = 0;  // fingerprints of the left before this one are done
        for (std::size_t i = 0; i < left_.prints.size(); ++i) {
            const std::uint32_t hash = left_.prints[i].hash;
            if (i < covered || done[i] || !counts_[hash]) continue;
            const std::size_t floor = covered - std::min(covered, kMaxOverlap);
            const std::size_t first = right_.firsts[hash], last = std::min<std::size_t>(right_.firsts[hash + 1], first + kMaxPlaces);
            Chain best{{0, 0}, {0, 0}, 0};
            for (std::size_t p = first; p < last; ++p) {
                const Pair seed{i, right_.order[p]};
                Chain chain{seed, seed, 1};
                extend<false>(chain.head, chain.pairs, floor);
                extend<true>(chain.tail, chain.pairs, left_.prints.size() - 1);
                if (chain.pairs > best.pairs) best = chain;
            }
            if (!best.pairs) continue;
            covered = best.tail.left + 1;
            for (std::size_t j = best.head.right; j <= best.tail.right; ++j) covered_right[j] = true;
            chains.push_back(best);
        }
    }

   private:
    // Moves an end of a run to the last pair that counts, on the left not beyond `edge`.
    template <bool Forward>
    void extend(Pair& end, std::size_t& pairs, std::size_t edge) const {
        for (Pair at = end; step<Forward>(at, edge);) {
            if (!counts_[left_.prints[at.left].hash]) continue;
            end = at;
            ++pairs;
        }
    }

    template <bool Forward>
    bool step(Pair& at, std::size_t edge) const {
        const std::size_t left_room = Forward ? edge - at.left : at.left - std::min(at.left, edge);
        const std::size_t right_room = Forward ? right_.prints.size() - 1 - at.right : at.right;
        const auto moved = [](std::size_t i, std::size_t by) { return Forward ? i + by : i - by; };
        const auto touch = [](const Print& here, const Print& there) {
            return Forward ? there.span.start <= here.span.end : here.span.start <= there.span.end;
        };
        const auto neighbours = [](const Print& here, const Print& there) { return (Forward ? there.rank - here.rank : here.rank - there.rank) == 1; };
        for (std::size_t a = 1; a <= std::min(left_room, kReach); ++a) {
            const Print &here = left_.prints[at.left], &there = left_.prints[moved(at.left, a)];
            const bool left_touches = touch(here, there), left_neighbours = neighbours(here, there);
            if (!left_touches && !left_neighbours) break;
            for (std::size_t b = 1; b <= std::min(right_room, kReach); ++b) {
                const Print &from = right_.prints[at.right], &to = right_.prints[moved(at.right, b)];
                const bool close = (left_touches && touch(from, to)) || (left_neighbours && neighbours(from, to));
                if (!close) break;
                if (there.hash != to.hash) continue;
                at = {moved(at.left, a), moved(at.right, b)};
                return true;
            }
        }
        return false;
    }

    const Side& left_;
    const Side& right_;
    const std::vector<bool>& counts_;
};

std::vector<Passage> chain_passages(const Side& query, const Side& document, const std::vector<bool>& counts) {
    std::vector<bool> nothing(query.prints.size()), covered_query(query.prints.size()), covered_document(document.prints.size());
    std::vector<Chain> chains, copies;
    Chains(query, document, counts).cover(nothing, covered_document, chains);
    // What is left of the document: further copies of passages that the query has once.
    Chains(document, query, counts).cover(covered_document, covered_query, copies);
    for (const Chain& copy : copies) chains.push_back({{copy.head.right, copy.head.left}, {copy.tail.right, copy.tail.left}, copy.pairs});
    const auto whole = [](const Side& side, std::size_t head, std::size_t tail) { return TextSpan{side.prints[head].span.start, side.prints[tail].span.end}; };
    std::vector<Passage> passages;
    for (const auto& [head, tail, pairs] : chains) passages.push_back({whole(query, head.left, tail.left), whole(document, head.right, tail.right)});
    std::sort(passages.begin(), passages.end());
    passages.erase(std::unique(passages.begin(), passages.end()), passages.end());
    return passages;
}

}  // namespace

std::vector<std::vector<Passage>> Segment::passages(const Query& query, std::span<const std::uint32_t> documents) const {
    std::vector<std::uint64_t> hashes(query.values.begin(), query.values.end());
    std::sort(hashes.begin(), hashes.end());
    hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
    std::vector<Run> runs;
    for (const std::uint64_t hash : hashes) runs.push_back(find(hash));
    std::vector<bool> counts(hashes.size());
    std::vector<Print> all;
    for (std::size_t i = 0; i < query.values.size(); ++i) {
        const auto number = static_cast<std::uint32_t>(std::lower_bound(hashes.begin(), hashes.end(), query.values[i]) - hashes.begin());
        all.push_back({number, static_cast<std::uint32_t>(i), {query.starts[i], query.ends[i]}});
        counts[number] = query.used[i];
    }

    std::vector<std::vector<Passage>> found;
    for (const std::uint32_t document : documents) {
        Side left, right;
        for (std::size_t h = 0; h < runs.size(); ++h) {
            const auto last = view_.places.begin() + static_cast<std::ptrdiff_t>(runs[h].last);
            auto place = std::lower_bound(view_.places.begin() + static_cast<std::ptrdiff_t>(runs[h].first), last, view_.firsts[document]);
            for (; place != last && *place < view_.firsts[document + 1]; ++place) {
                right.prints.push_back({static_cast<std::uint32_t>(h), *place, span_of(*place, document)});
            }
        }
        std::sort(right.prints.begin(), right.prints.end(), [](const Print& a, const Print& b) { return a.rank < b.rank; });
        right.index(hashes.size());
        std::copy_if(all.begin(), all.end(), std::back_inserter(left.prints),
                     [&](const Print& print) { return right.firsts[print.hash] < right.firsts[print.hash + 1]; });
        left.index(hashes.size());
        found.push_back(chain_passages(left, right, counts));
    }
    return found;
}

}  // namespace lookalike::postings
