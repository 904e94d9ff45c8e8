#include "edits/sentences.hpp"

#include <algorithm>
#include <unordered_map>

#include "text/align.hpp"

namespace lookalike {
namespace {

constexpr std::uint32_t kSentenceTokens = 5;
constexpr std::uint32_t kMaxSentence = 2'000;  // tokens: longer lines are tables or data
constexpr double kSentenceCommon = 0.5;        // of the characters of the longer side
constexpr double kInPlaceCommon = 0.4;         // where a sentence stands in the same gap on both sides: its bits were taken for chance beside larger changes
constexpr double kSentenceVotes = 0.2;         // of the pairs of neighbouring tokens: fewer cannot make up half of the characters but by chance
constexpr std::size_t kMaxPlaces = 8;          // of a pair of tokens: a more frequent one says nothing
constexpr std::size_t kTried = 2;              // of the sentences with the most votes

// The pairs of neighbouring tokens of a text, as hashes, and those of a sentence each once.
class TokenPairs {
   public:
    explicit TokenPairs(const TokenSide& side) : hashes_(side.size() > 1 ? side.size() - 1 : 0) {
        if (!hashes_.empty()) hash_shingles(side.hashes().data(), hashes_.size(), 2, 0, hashes_.data());
    }

    const std::vector<std::uint64_t>& of(const Stretch& sentence) {
        distinct_.assign(hashes_.begin() + sentence.first, hashes_.begin() + sentence.last - 1);
        std::sort(distinct_.begin(), distinct_.end());
        distinct_.erase(std::unique(distinct_.begin(), distinct_.end()), distinct_.end());
        return distinct_;
    }

   private:
    std::vector<std::uint64_t> hashes_, distinct_;
};

struct Few {
    std::uint32_t numbers[kMaxPlaces];
    std::uint32_t count = 0;
};

struct Vote {
    std::uint32_t number, count;
};

// The sentences that most pairs of tokens name: the first among equals.
std::vector<Vote> most_votes(std::vector<std::uint32_t>& named) {
    std::sort(named.begin(), named.end());
    std::vector<Vote> votes;
    for (const std::uint32_t number : named) {
        if (votes.empty() || votes.back().number != number) votes.push_back({number, 0});
        ++votes.back().count;
    }
    const std::size_t best = std::min(kTried, votes.size());
    std::partial_sort(votes.begin(), votes.begin() + static_cast<std::ptrdiff_t>(best), votes.end(),
                      [](const Vote& x, const Vote& y) { return x.count != y.count ? x.count > y.count : x.number < y.number; });
    votes.resize(best);
    return votes;
}

bool in_one_gap(const std::vector<SharedRun>& kept, const Stretch& left, const Stretch& right) {
    const auto at = std::upper_bound(kept.begin(), kept.end(), left.first, [](std::uint32_t token, const SharedRun& run) { return token < run.left; });
    const auto there = std::upper_bound(kept.begin(), kept.end(), right.first, [](std::uint32_t token, const SharedRun& run) { return token < run.right; });
    return at == there;
}

}  // namespace

std::vector<Stretch> unmoved_sentences(const TokenSide& side, const std::vector<Stretch>& gaps, const std::vector<std::int64_t>& places) {
    std::vector<Stretch> found;
    for (const Stretch& gap : gaps) {
        std::uint32_t start = gap.first;
        for (std::uint32_t end = gap.first + 1; end <= gap.last; ++end) {
            if (end < gap.last && !side.begins(end)) continue;
            const bool fits = end - start >= kSentenceTokens && end - start <= kMaxSentence;
            if (fits && std::any_of(places.begin() + start, places.begin() + end, [](std::int64_t there) { return there < 0; })) found.push_back({start, end});
            start = end;
        }
    }
    return found;
}

std::vector<SentencePair> similar_sentences(const TokenSide& a, const TokenSide& b, const std::vector<Stretch>& lefts, const std::vector<Stretch>& rights,
                                            const std::vector<SharedRun>& kept, const std::vector<std::int64_t>& places) {
    std::vector<SentencePair> pairs;
    std::unordered_map<std::uint64_t, Few> sentences;  // by pairs of tokens
    TokenPairs right_pairs(b), left_pairs(a);
    for (std::uint32_t number = 0; number < rights.size(); ++number) {
        for (const std::uint64_t pair : right_pairs.of(rights[number])) {
            Few& found = sentences[pair];
            if (found.count < kMaxPlaces) found.numbers[found.count++] = number;
        }
    }
    std::vector<std::uint32_t> named;
    for (const Stretch& left : lefts) {
        named.clear();
        for (const std::uint64_t pair : left_pairs.of(left)) {
            const auto found = sentences.find(pair);
            if (found != sentences.end()) named.insert(named.end(), found->second.numbers, found->second.numbers + found->second.count);
        }
        for (const Vote& vote : most_votes(named)) {
            if (vote.count < kSentenceVotes * (left.last - left.first)) break;
            const Stretch& right = rights[vote.number];
            std::vector<SharedRun> runs =
                align(a.hashes().subspan(left.first, left.last - left.first), b.hashes().subspan(right.first, right.last - right.first),
                      a.sizes().subspan(left.first, left.last - left.first));
            std::uint64_t common = 0, moved = 0;
            for (const SharedRun& run : runs) common += a.characters(left.first + run.left, left.first + left_end(run));
            for (std::uint32_t token = left.first; token < left.last; ++token) moved += places[token] >= 0 ? a.sizes()[token] : 0;
            const double share = in_one_gap(kept, left, right) ? kInPlaceCommon : kSentenceCommon;
            const double least = share * static_cast<double>(std::max(a.characters(left), b.characters(right)));
            if (!runs.empty() && static_cast<double>(common) >= std::max(least, static_cast<double>(moved)))
                pairs.push_back({common, left, right, std::move(runs)});
        }
    }
    return pairs;
}

}  // namespace lookalike
