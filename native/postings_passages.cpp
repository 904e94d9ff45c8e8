// The passages that a query shares with a document: runs of shared fingerprints.
#include <numeric>

#include "postings.hpp"

namespace lookalike::postings {
namespace {

constexpr std::size_t kMaxPlaces = 32;   // bounds the work on repetitive texts: places of a hash that are tried,
constexpr std::size_t kMaxOverlap = 64;  // fingerprints that a run may share with the one before it,
constexpr std::size_t kReach = 8;        // and fingerprints of one side that are passed over while spans overlap

struct Print {  // a fingerprint of the query or of a document; equal hashes have equal numbers
    std::uint32_t hash, rank;
    TextSpan span;
};

// The fingerprints of one text, and where each hash is among them.
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
    std::size_t pairs;
};

// Runs of shared fingerprints. Two pairs follow each other in a run if nothing between them is known to differ: they are neighbours on both
// sides, counting also those that are left out, or their spans overlap or touch on both sides.
class Chains {
   public:
    Chains(const Side& left, const Side& right, std::uint32_t bridge) : left_(left), right_(right), bridge_(bridge) {}

    // Covers the left side with runs, in its order, except what is done; marks what they cover on the right.
    void cover(const std::vector<bool>& done, std::vector<bool>& covered_right, std::vector<Chain>& chains) const {
        std::size_t covered = 0;  // fingerprints of the left before this one are done
        for (std::size_t i = 0; i < left_.prints.size(); ++i) {
            if (i < covered || done[i]) continue;
            const std::size_t floor = covered - std::min(covered, kMaxOverlap);
            const std::uint32_t hash = left_.prints[i].hash;
            const std::size_t first = right_.firsts[hash], last = std::min<std::size_t>(right_.firsts[hash + 1], first + kMaxPlaces);
            Chain best{{0, 0}, {0, 0}, 0};
            for (std::size_t p = first; p < last; ++p) {
                Chain chain{{i, right_.order[p]}, {i, right_.order[p]}, 1};
                while (step(chain.head, false, floor)) ++chain.pairs;
                while (step(chain.tail, true, 0)) ++chain.pairs;
                if (chain.pairs > best.pairs) best = chain;
            }
            if (!best.pairs) continue;
            covered = best.tail.left + 1;
            for (std::size_t j = best.head.right; j <= best.tail.right; ++j) covered_right[j] = true;
            chains.push_back(best);
        }
    }

   private:
    static bool touch(const Print& before, const Print& after) { return after.span.start <= before.span.end; }

    // Moves to the pair that follows, or with `forward` unset to the one before, but on the left not below `floor`.
    bool step(Pair& at, bool forward, std::size_t floor) const {
        const auto room = [&](std::size_t i, std::size_t from, std::size_t size) { return forward ? size - 1 - i : i - std::min(i, from); };
        const auto moved = [&](std::size_t i, std::size_t by) { return forward ? i + by : i - by; };
        const auto near = [&](const Side& side, std::size_t i, std::size_t j) {
            return forward ? touch(side.prints[i], side.prints[j]) : touch(side.prints[j], side.prints[i]);
        };
        const std::size_t left_room = room(at.left, floor, left_.prints.size()), right_room = room(at.right, 0, right_.prints.size());
        if (!left_room || !right_room) return false;
        const Pair next{moved(at.left, 1), moved(at.right, 1)};
        const std::uint32_t apart = distance(left_, at.left, next.left);
        if (same(next) && apart == distance(right_, at.right, next.right) && apart - 1 <= bridge_) {
            at = next;
            return true;
        }
        for (std::size_t a = 1; a <= std::min(left_room, kReach) && near(left_, at.left, moved(at.left, a)); ++a) {
            for (std::size_t b = 1; b <= std::min(right_room, kReach) && near(right_, at.right, moved(at.right, b)); ++b) {
                if (!same({moved(at.left, a), moved(at.right, b)})) continue;
                at = {moved(at.left, a), moved(at.right, b)};
                return true;
            }
        }
        return false;
    }
    bool same(const Pair& pair) const { return left_.prints[pair.left].hash == right_.prints[pair.right].hash; }
    static std::uint32_t distance(const Side& side, std::size_t i, std::size_t j) {
        return side.prints[std::max(i, j)].rank - side.prints[std::min(i, j)].rank;
    }

    const Side& left_;
    const Side& right_;
    std::uint32_t bridge_;
};

std::vector<Passage> chain_passages(const Side& query, const Side& document, std::uint32_t bridge) {
    std::vector<bool> covered_query(query.prints.size()), covered_document(document.prints.size()), nothing(query.prints.size());
    std::vector<Chain> chains, copies;
    Chains(query, document, bridge).cover(nothing, covered_document, chains);
    // What is left of the document: further copies of passages that the query has once.
    Chains(document, query, bridge).cover(covered_document, covered_query, copies);
    for (const Chain& copy : copies) chains.push_back({{copy.head.right, copy.head.left}, {copy.tail.right, copy.tail.left}, copy.pairs});
    std::vector<Passage> passages;
    for (const Chain& chain : chains) {
        const auto whole = [](const Side& side, std::size_t head, std::size_t tail) { return TextSpan{side.prints[head].span.start, side.prints[tail].span.end}; };
        passages.push_back({whole(query, chain.head.left, chain.tail.left), whole(document, chain.head.right, chain.tail.right)});
    }
    std::sort(passages.begin(), passages.end());
    passages.erase(std::unique(passages.begin(), passages.end()), passages.end());
    return passages;
}

}  // namespace

std::vector<std::vector<Passage>> Segment::passages(const Query& query, std::span<const std::uint32_t> documents) const {
    std::vector<std::uint64_t> hashes;
    for (std::size_t i = 0; i < query.values.size(); ++i) {
        if (query.used[i]) hashes.push_back(query.values[i]);
    }
    std::sort(hashes.begin(), hashes.end());
    hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
    std::vector<Run> runs;
    for (const std::uint64_t hash : hashes) runs.push_back(find(hash));
    Side left;
    for (std::size_t i = 0; i < query.values.size(); ++i) {
        if (!query.used[i]) continue;
        const auto number = std::lower_bound(hashes.begin(), hashes.end(), query.values[i]) - hashes.begin();
        left.prints.push_back({static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(i), {query.starts[i], query.ends[i]}});
    }
    left.index(hashes.size());

    std::vector<std::vector<Passage>> found;
    for (const std::uint32_t document : documents) {
        Side right;
        for (std::size_t h = 0; h < runs.size(); ++h) {
            const auto last = view_.places.begin() + static_cast<std::ptrdiff_t>(runs[h].last);
            auto place = std::lower_bound(view_.places.begin() + static_cast<std::ptrdiff_t>(runs[h].first), last, view_.firsts[document]);
            for (; place != last && *place < view_.firsts[document + 1]; ++place) {
                right.prints.push_back({static_cast<std::uint32_t>(h), *place, span_of(*place, document)});
            }
        }
        std::sort(right.prints.begin(), right.prints.end(), [](const Print& a, const Print& b) { return a.rank < b.rank; });
        right.index(hashes.size());
        found.push_back(chain_passages(left, right, query.bridge));
    }
    return found;
}

}  // namespace lookalike::postings
