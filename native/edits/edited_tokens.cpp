#include "edits/edited_tokens.hpp"

#include <algorithm>

#include "edits/kept_runs.hpp"

namespace lookalike {
namespace {

// A sentence is recognisable if this share of its longer side was kept, or became similar words in the same place.
constexpr double kRecognisable = 0.35;
constexpr std::size_t kSimilarTokens = 16;    // of a gap: longer texts have many trigrams in common by chance
constexpr std::uint32_t kContextTokens = 64;  // of kept text on either side of a gap: a sentence that is longer is recognisable anyhow
constexpr std::int64_t kYes = -1, kNo = -2;

// The characters of a kept run that belong to the sentence before it, and those of the sentence behind it; whether it all belongs to one.
struct Context {
    std::uint64_t head, tail;
    bool one_sentence;
};

Context context_of(const TokenSide& a, const SharedRun& run) {
    const std::uint32_t reach = std::min(run.length, kContextTokens), run_end = left_end(run);
    // The first and the last token of the run, within reach of its ends, that begins a line or a sentence; the text's end begins one.
    const auto& places = a.beginnings();
    const std::uint32_t end = *std::lower_bound(places.begin(), places.end(), run.left);
    const std::uint32_t start = *(std::upper_bound(places.begin(), places.end(), run_end) - 1);
    if (end > run_end && reach == run.length) return {a.characters(run.left, run_end), 0, true};
    return {a.characters(run.left, std::min(end, run.left + reach)), a.characters(std::max(start, run_end - reach), run_end), false};
}

// What moved stretches, in order, leave of one between two others. `at` is the first of them that was not passed yet.
std::vector<Stretch> without(Stretch rest, const std::vector<Stretch>& moved, std::size_t& at) {
    std::vector<Stretch> found;
    for (; at < moved.size() && moved[at].first < rest.last; ++at) {
        if (moved[at].first > rest.first) found.push_back({rest.first, moved[at].first});
        rest.first = moved[at].last;
    }
    if (rest.first < rest.last) found.push_back(rest);
    return found;
}

std::uint64_t characters(const TokenSide& side, const std::vector<Stretch>& stretches) {
    std::uint64_t sum = 0;
    for (const Stretch& stretch : stretches) sum += side.characters(stretch);
    return sum;
}

std::size_t tokens_of(const std::vector<Stretch>& stretches) {
    std::size_t count = 0;
    for (const Stretch& stretch : stretches) count += stretch.last - stretch.first;
    return count;
}

std::vector<std::uint32_t> listed(const std::vector<Stretch>& stretches) {
    std::vector<std::uint32_t> tokens;
    for (const Stretch& stretch : stretches) {
        for (std::uint32_t token = stretch.first; token < stretch.last; ++token) tokens.push_back(token);
    }
    return tokens;
}

Stretch left_of(const SharedRun& run) { return {run.left, left_end(run)}; }
Stretch right_of(const SharedRun& run) { return {run.right, right_end(run)}; }

void sort_by_place(std::vector<EditSegment>& segments) {
    std::sort(segments.begin(), segments.end(), [](const EditSegment& x, const EditSegment& y) { return x.tokens < y.tokens; });
}

}  // namespace

EditedTokens::EditedTokens(const TokenSide& a, const TokenSide& b) : shared_(shared_tokens(a, b, kept_runs(a, b))) {
    find_gaps(a, b);
    judge_sentences(a, b);
}

void EditedTokens::find_gaps(const TokenSide& a, const TokenSide& b) {
    std::vector<Stretch> lefts, rights;
    for (const SharedRun& run : shared_.moved) {
        lefts.push_back(left_of(run));
        rights.push_back(right_of(run));
    }
    for (const MovedChange& change : shared_.changes) {
        lefts.push_back(change.left);
        rights.push_back(change.right);
    }
    std::sort(lefts.begin(), lefts.end());
    std::sort(rights.begin(), rights.end());
    std::size_t left_at = 0, right_at = 0;
    for (const GapPair& gap : gaps(shared_.kept, a, b)) {
        std::vector<Stretch> left = without(gap.left, lefts, left_at);
        gaps_.push_back({std::move(left), without(gap.right, rights, right_at), kNo});
    }
}

void EditedTokens::judge_sentences(const TokenSide& a, const TokenSide& b) {
    std::size_t first = 0;  // gap of the sentence
    std::uint64_t same = 0;
    for (std::size_t number = 0; number < gaps_.size(); ++number) {
        const Context context = number < shared_.kept.size() ? context_of(a, shared_.kept[number]) : Context{0, 0, false};
        same += context.head;
        if (context.one_sentence) continue;
        judge(first, number + 1, same, a, b);
        first = number + 1;
        same = context.tail;
    }
}

void EditedTokens::judge(std::size_t first, std::size_t last, std::uint64_t same, const TokenSide& a, const TokenSide& b) {
    std::uint64_t was = 0, now = 0;
    for (std::size_t i = first; i < last; ++i) {
        was += characters(a, gaps_[i].left);
        now += characters(b, gaps_[i].right);
    }
    const std::uint64_t longer = std::max(was, now);
    std::int64_t verdict = static_cast<double>(same) >= kRecognisable * static_cast<double>(same + longer) ? kYes : kNo;
    if (verdict == kNo) {
        DoubtfulSentence doubt{same, longer, {}};
        for (std::size_t i = first; i < last; ++i) {
            const std::size_t left = tokens_of(gaps_[i].left), right = tokens_of(gaps_[i].right);
            if (left > 0 && right > 0 && left <= kSimilarTokens && right <= kSimilarTokens)
                doubt.replaced.emplace_back(listed(gaps_[i].left), listed(gaps_[i].right));
        }
        if (!doubt.replaced.empty()) {
            verdict = static_cast<std::int64_t>(doubtful_.size());
            doubtful_.push_back(std::move(doubt));
        }
    }
    for (std::size_t i = first; i < last; ++i) gaps_[i].sentence = verdict;
}

std::pair<std::vector<EditSegment>, std::vector<EditSegment>> EditedTokens::segments(const std::vector<bool>& recognisable) const {
    std::vector<EditSegment> left, right;
    const auto put = [&](EditKind kind, const Stretch& here, const Stretch& there) {
        left.push_back({kind, true, here, there});
        right.push_back({kind, true, there, here});
    };
    for (const SharedRun& run : shared_.moved) put(EditKind::moved, left_of(run), right_of(run));
    for (const MovedChange& change : shared_.changes) put(EditKind::reworded, change.left, change.right);
    for (const SharedRun& run : shared_.kept) put(EditKind::kept, left_of(run), right_of(run));
    for (const Gap& gap : gaps_) {
        const bool is_same = gap.sentence == kYes || (gap.sentence >= 0 && recognisable[static_cast<std::size_t>(gap.sentence)]);
        const bool reworded = is_same && !gap.left.empty() && !gap.right.empty();
        const Stretch whole_left = reworded ? Stretch{gap.left.front().first, gap.left.back().last} : Stretch{};
        const Stretch whole_right = reworded ? Stretch{gap.right.front().first, gap.right.back().last} : Stretch{};
        for (const Stretch& stretch : gap.left) left.push_back({reworded ? EditKind::reworded : EditKind::deleted, reworded, stretch, whole_right});
        for (const Stretch& stretch : gap.right) right.push_back({reworded ? EditKind::reworded : EditKind::inserted, reworded, stretch, whole_left});
    }
    sort_by_place(left);
    sort_by_place(right);
    return {std::move(left), std::move(right)};
}

}  // namespace lookalike
