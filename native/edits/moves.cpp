#include "edits/moves.hpp"

#include <algorithm>
#include <deque>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "edits/sentences.hpp"
#include "text/align.hpp"

namespace lookalike {
namespace {

using Runs = std::vector<SharedRun>;
using Places = std::vector<std::int64_t>;  // where each token stands in the other text, as far as is known

constexpr std::uint32_t kPhraseTokens = 4, kPhraseCharacters = 10;
constexpr std::uint32_t kClauseTokens = 3, kClauseCharacters = 6;
constexpr std::int64_t kNearbyTokens = 16;  // kept ones between words that changed places
constexpr std::uint32_t kMaxSwapped = 8;    // tokens
constexpr std::int64_t kFree = -1, kKept = -2;

struct Clause {
    std::uint32_t first, last;
    bool whole;  // all of it, from mark to mark
};

// Which run comes behind a token: the gap it is in, by number.
std::size_t runs_before(const Runs& kept, std::uint32_t SharedRun::* side, std::uint32_t token) {
    return static_cast<std::size_t>(
        std::upper_bound(kept.begin(), kept.end(), token, [side](std::uint32_t value, const SharedRun& run) { return value < run.*side; }) - kept.begin());
}

// A run that stands between the same kept runs on both sides was not moved, unless it crosses a longer one there.
std::pair<Runs, Runs> in_place(const Runs& kept, Runs moved) {
    std::sort(moved.begin(), moved.end(), [](const SharedRun& x, const SharedRun& y) { return x.length != y.length ? x.length > y.length : precedes(x, y); });
    std::unordered_map<std::size_t, Runs> stays;  // what stays, by gap, in order
    Runs elsewhere;
    for (const SharedRun& run : moved) {
        const std::size_t gap = runs_before(kept, &SharedRun::left, run.left);
        if (gap == runs_before(kept, &SharedRun::right, run.right)) {
            Runs& here = stays[gap];
            const auto at = std::upper_bound(here.begin(), here.end(), run, precedes);
            const bool follows = at == here.begin() || right_end(*(at - 1)) <= run.right;
            if (follows && (at == here.end() || right_end(run) <= at->right)) {
                here.insert(at, run);
                continue;
            }
        }
        elsewhere.push_back(run);
    }
    Runs whole = kept;
    for (const auto& [gap, here] : stays) whole.insert(whole.end(), here.begin(), here.end());
    std::sort(elsewhere.begin(), elsewhere.end(), precedes);
    return {joined(std::move(whole)), std::move(elsewhere)};
}

class Moves {
   public:
    Moves(const TokenSide& a, const TokenSide& b, Runs kept) : a_(a), b_(b), kept_(std::move(kept)), right_of_(a.size(), kFree), left_of_(b.size(), kFree) {
        for (const SharedRun& run : kept_) {
            std::fill_n(right_of_.begin() + run.left, run.length, kKept);
            std::fill_n(left_of_.begin() + run.right, run.length, kKept);
        }
        for (const GapPair& gap : gaps(kept_, a, b)) {
            if (gap.left.first < gap.left.last) left_gaps_.push_back(gap.left);
            if (gap.right.first < gap.right.last) right_gaps_.push_back(gap.right);
        }
    }

    SharedTokens run() {
        if (left_gaps_.empty() || right_gaps_.empty()) return {std::move(kept_), {}, {}};
        find_phrases();
        find_sentences();
        find_whole_clauses();
        find_clauses();
        find_swaps();
        find_separators();
        return result();
    }

   private:
    void find_phrases() {
        for (const SharedRun& run : runs_of(kPhraseTokens)) {
            if (a_.characters(run.left, left_end(run)) >= kPhraseCharacters) move(trimmed(run));
        }
    }

    void find_sentences() {
        const std::vector<Stretch> lefts = unmoved_sentences(a_, left_gaps_, right_of_);
        if (lefts.empty()) return;
        const std::vector<Stretch> rights = unmoved_sentences(b_, right_gaps_, left_of_);
        std::vector<SentencePair> pairs = similar_sentences(a_, b_, lefts, rights, kept_, right_of_);
        std::stable_sort(pairs.begin(), pairs.end(), [](const SentencePair& x, const SentencePair& y) {
            return x.common != y.common ? x.common > y.common : x.left != y.left ? x.left < y.left : x.right < y.right;
        });
        std::set<Stretch> taken_left, taken_right;
        for (const SentencePair& pair : pairs) {
            if (taken_left.contains(pair.left) || taken_right.contains(pair.right)) continue;
            taken_left.insert(pair.left);
            taken_right.insert(pair.right);
            move_sentence(pair);
        }
    }

    void find_whole_clauses() {
        std::unordered_map<std::string_view, std::deque<Clause>> places;
        for_each_clause(b_, right_gaps_, left_of_, [&](const Clause& clause) { places[b_.key(clause.first, clause.last)].push_back(clause); });
        if (places.empty()) return;
        for_each_clause(a_, left_gaps_, right_of_, [&](const Clause& clause) {
            const auto found = places.find(a_.key(clause.first, clause.last));
            if (found == places.end() || found->second.empty() || !(clause.whole || found->second.front().whole)) return;
            const std::uint32_t there = found->second.front().first;
            found->second.pop_front();
            move(with_separators({clause.first, there, clause.last - clause.first}));
        });
    }

    void find_clauses() {
        for (const SharedRun& run : runs_of(kClauseTokens)) {
            const bool whole = (a_.is_edge(run.left) && a_.is_edge(left_end(run))) || (b_.is_edge(run.right) && b_.is_edge(right_end(run)));
            if (whole && a_.characters(run.left, left_end(run)) >= kClauseCharacters) move(run);
        }
    }

    void find_swaps() {
        std::vector<std::int64_t> kept_before{0};
        for (const SharedRun& run : kept_) kept_before.push_back(kept_before.back() + run.length);
        struct Place {
            std::int64_t kept_before;
            std::uint32_t first;
        };
        std::unordered_map<std::string, std::vector<Place>> places;
        for_few_words(b_, right_gaps_, left_of_, [&](const Stretch& words) {
            places[sorted_key(b_, words)].push_back({kept_before[runs_before(kept_, &SharedRun::right, words.first)], words.first});
        });
        if (places.empty()) return;
        for_few_words(a_, left_gaps_, right_of_, [&](const Stretch& words) {
            const auto found = places.find(sorted_key(a_, words));
            if (found == places.end()) return;
            const std::int64_t at = kept_before[runs_before(kept_, &SharedRun::left, words.first)];
            auto& there = found->second;
            const auto near = std::partition_point(there.begin(), there.end(), [&](const Place& place) { return place.kept_before < at - kNearbyTokens; });
            if (near == there.end() || near->kept_before > at + kNearbyTokens) return;
            const std::uint32_t count = words.last - words.first;
            const std::vector<std::uint32_t> left = by_hash(a_, words.first, count), right = by_hash(b_, near->first, count);
            there.erase(near);
            for (std::uint32_t i = 0; i < count; ++i) move({left[i], right[i], 1});
        });
    }

    void find_separators() {
        struct Place {
            std::uint32_t token;
            bool touches;
        };
        std::unordered_map<std::uint64_t, std::deque<Place>> places;
        for_each_separator(b_, right_gaps_, left_of_, [&](std::uint32_t token, bool touches) { places[b_.hashes()[token]].push_back({token, touches}); });
        if (places.empty()) return;
        for_each_separator(a_, left_gaps_, right_of_, [&](std::uint32_t token, bool touches) {
            const auto found = places.find(a_.hashes()[token]);
            if (found == places.end() || found->second.empty() || !(touches || found->second.front().touches)) return;
            const std::uint32_t there = found->second.front().token;
            found->second.pop_front();
            move({token, there, 1});
        });
    }

    SharedTokens result() {
        SharedTokens found;
        std::tie(found.kept, found.moved) = in_place(kept_, moved_so_far());
        for (const auto& [change, token] : changes_) {
            const std::size_t behind = runs_before(found.moved, &SharedRun::left, token);
            if (behind > 0 && token < left_end(found.moved[behind - 1]) && is_free(change)) found.changes.push_back(change);
        }
        return found;
    }

    // Runs among what is neither kept nor moved.
    Runs runs_of(unsigned shortest) const {
        Runs known = kept_;
        const Runs moved = moved_so_far();
        known.insert(known.end(), moved.begin(), moved.end());
        return moved_runs(a_.hashes(), b_.hashes(), known, shortest);
    }

    // From left to right.
    Runs moved_so_far() const {
        Runs found;
        for (const Stretch& gap : left_gaps_) {
            for (std::uint32_t at = gap.first, end; at < gap.last; at = end) {
                const std::int64_t there = right_of_[at];
                end = at + 1;
                if (there < 0) continue;
                while (end < gap.last && right_of_[end] == there + end - at) ++end;
                found.push_back({at, static_cast<std::uint32_t>(there), end - at});
            }
        }
        return found;
    }

    void move(const SharedRun& run) {
        for (std::uint32_t i = 0; i < run.length; ++i) {
            right_of_[run.left + i] = run.right + i;
            left_of_[run.right + i] = run.left + i;
        }
    }

    void move_sentence(const SentencePair& pair) {
        release(pair.left, right_of_, left_of_);
        release(pair.right, left_of_, right_of_);
        const std::uint32_t left = pair.left.first, right = pair.right.first;
        std::uint32_t left_at = left, right_at = right;
        const auto change_up_to = [&](std::uint32_t left_next, std::uint32_t right_next) {
            if (left_at < left_next && right_at < right_next)
                changes_.emplace_back(MovedChange{{left_at, left_next}, {right_at, right_next}}, left + pair.runs[0].left);
        };
        for (const SharedRun& within : pair.runs) {
            const SharedRun run{left + within.left, right + within.right, within.length};
            change_up_to(run.left, run.right);
            move(run);
            left_at = left_end(run);
            right_at = right_end(run);
        }
        change_up_to(pair.left.last, pair.right.last);
    }

    static void release(const Stretch& stretch, Places& here, Places& there) {
        for (std::uint32_t token = stretch.first; token < stretch.last; ++token) {
            if (here[token] >= 0) there[static_cast<std::size_t>(here[token])] = kFree;
            here[token] = kFree;
        }
    }

    bool is_free(const MovedChange& change) const {
        const auto free = [](std::int64_t there) { return there == kFree; };
        return std::all_of(right_of_.begin() + change.left.first, right_of_.begin() + change.left.last, free) &&
               std::all_of(left_of_.begin() + change.right.first, left_of_.begin() + change.right.last, free);
    }

    // The stretches of a side that are neither kept nor moved. What is moved meanwhile lies in the stretch at hand.
    template <class Visit>
    static void for_each_free(const std::vector<Stretch>& around, const Places& places, Visit&& visit) {
        for (const Stretch& gap : around) {
            for (std::uint32_t at = gap.first, end; at < gap.last; at = end + 1) {
                end = at;
                while (end < gap.last && places[end] == kFree) ++end;
                if (end > at) visit(Stretch{at, end});
            }
        }
    }

    // Clauses and list items, or what is free of them, without the marks around them and the article before them.
    template <class Visit>
    static void for_each_clause(const TokenSide& side, const std::vector<Stretch>& around, const Places& places, Visit&& visit) {
        for_each_free(around, places, [&](const Stretch& free) {
            std::uint32_t first = free.first;
            for (std::uint32_t token = free.first; token <= free.last; ++token) {
                const bool separates = token < free.last && side.separates(token);
                if (token < free.last && !separates && (token == free.first || !side.begins_line(token))) continue;
                std::uint32_t begin = first, bare = first;
                while (begin < token && side.is_article(begin)) ++begin;
                if (begin < token) {
                    while (bare > 0 && side.is_article(bare - 1)) --bare;
                    visit(Clause{begin, token, side.is_edge(bare) && side.is_edge(token)});
                }
                first = token + separates;
            }
        });
    }

    template <class Visit>
    static void for_few_words(const TokenSide& side, const std::vector<Stretch>& around, const Places& places, Visit&& visit) {
        for_each_free(around, places, [&](const Stretch& words) {
            if (words.last - words.first <= kMaxSwapped && !only_separators(side, words)) visit(words);
        });
    }

    // Marks, conjunctions and articles that are all that was changed at their place, and whether they are next to moved text.
    template <class Visit>
    static void for_each_separator(const TokenSide& side, const std::vector<Stretch>& around, const Places& places, Visit&& visit) {
        for_each_free(around, places, [&](const Stretch& free) {
            if (!only_separators(side, free)) return;
            const bool touches = (free.first > 0 && places[free.first - 1] >= 0) || (free.last < side.size() && places[free.last] >= 0);
            for (std::uint32_t token = free.first; token < free.last; ++token) visit(token, touches);
        });
    }

    static bool only_separators(const TokenSide& side, const Stretch& stretch) {
        for (std::uint32_t token = stretch.first; token < stretch.last; ++token) {
            if (!side.separates(token) && !side.is_article(token)) return false;
        }
        return true;
    }

    SharedRun with_separators(SharedRun run) const {
        while (left_end(run) < a_.size() && right_end(run) < b_.size() && right_of_[left_end(run)] == kFree && left_of_[right_end(run)] == kFree &&
               a_.hashes()[left_end(run)] == b_.hashes()[right_end(run)] && a_.separates(left_end(run)) && b_.separates(right_end(run))) {
            ++run.length;
        }
        return run;
    }

    // The run without a word or three at its ends that belong to the next clause or item.
    SharedRun trimmed(const SharedRun& run) const {
        const std::uint32_t reach = std::min(kPhraseTokens, run.length);
        std::uint32_t start = run.left, end = left_end(run);
        while (start < run.left + reach && !a_.is_edge(start)) ++start;
        if (start == run.left + reach) start = run.left;
        while (end > left_end(run) - reach && !a_.is_edge(end)) --end;
        if (end == left_end(run) - reach) end = left_end(run);
        return start < end ? SharedRun{start, run.right + start - run.left, end - start} : run;
    }

    static std::vector<std::uint32_t> by_hash(const TokenSide& side, std::uint32_t first, std::uint32_t count) {
        std::vector<std::uint32_t> tokens(count);
        for (std::uint32_t i = 0; i < count; ++i) tokens[i] = first + i;
        std::stable_sort(tokens.begin(), tokens.end(), [&](std::uint32_t x, std::uint32_t y) { return side.hashes()[x] < side.hashes()[y]; });
        return tokens;
    }

    static std::string sorted_key(const TokenSide& side, const Stretch& words) {
        std::vector<std::uint64_t> hashes(side.hashes().begin() + words.first, side.hashes().begin() + words.last);
        std::sort(hashes.begin(), hashes.end());
        return {reinterpret_cast<const char*>(hashes.data()), hashes.size() * sizeof(std::uint64_t)};
    }

    const TokenSide &a_, &b_;
    Runs kept_;
    Places right_of_, left_of_;
    std::vector<Stretch> left_gaps_, right_gaps_;
    std::vector<std::pair<MovedChange, std::uint32_t>> changes_;  // each with a left token of the moved stretch it is in
};

}  // namespace

SharedTokens shared_tokens(const TokenSide& a, const TokenSide& b, std::vector<SharedRun> kept) { return Moves(a, b, std::move(kept)).run(); }

}  // namespace lookalike
