#include "rows/simhash.hpp"

#include <algorithm>
#include <cstring>

#include "sketch/text_simhash.hpp"

namespace lookalike {
namespace {

constexpr std::size_t kKeys = 4;  // of 128 bits, as a tail has them

Code tail_code(const Tail& tail, std::size_t i, unsigned bits) {
    if (bits < 128) return code_at(tail.numbers, i, bits);
    std::uint64_t halves[2];  // the low one first
    std::memcpy(halves, tail.keys.data() + kKeys * i, sizeof halves);
    return code_at(halves, 0, bits);
}

}  // namespace

StoredFound SimhashSearcher::run(const TextView& text, const SimhashState& state, std::shared_ptr<const Tail>& tail, StoredRows& stored, unsigned k,
                                 std::size_t limit) {
    std::uint64_t words[2] = {};
    text_simhash(shingler_, text, bits_, unique_, features_, words);
    const Code query = code_at(words, 0, bits_);
    return search_stored(state.known, tail, stored, SearchedBy::kSimhash, bits_ == 128 ? kKeys : 0,
                         [&](const Tail& now) { return search(query, state, now, stored, k, limit); });
}

StoredFound SimhashSearcher::search(const Code& query, const SimhashState& state, const Tail& tail, StoredRows& stored, unsigned k, std::size_t limit) {
    matches_.clear();
    const GoneRows gone = state.known.gone(tail);
    for (const HammingSegment* segment : state.parts) {
        hits_.clear();
        segment->search_together({&query, 1}, k, hits_);
        segment->for_ids(hits_, [&](std::uint32_t, std::size_t place, std::uint32_t distance) {
            if (const std::int64_t row = segment->id(place); !gone.has(row)) matches_.push_back({row, distance});
        });
    }
    for (std::size_t i = 0; i < tail.rows.size(); ++i) {
        if (const unsigned found = distance(query, tail_code(tail, i, bits_)); found <= k) matches_.push_back({tail.rows[i], found});
    }
    StoredFound found{StoredFound::Answer::kFound, matches_.size(), matches_.size(), {}};
    sort_matches(matches_, 0);
    if (matches_.size() > limit) matches_.erase(matches_.begin() + static_cast<std::ptrdiff_t>(limit), matches_.end());
    if (matches_.size() > kMostRows) return StoredFound::unfit();
    found.matches.reserve(matches_.size());
    for (const Match& match : matches_) {
        std::optional<StoredMatch> read = stored.read(state.known, match.id);
        if (!read) return StoredFound::unfit();
        read->score = match.distance;
        found.matches.push_back(std::move(*read));
    }
    return found;
}

}  // namespace lookalike
