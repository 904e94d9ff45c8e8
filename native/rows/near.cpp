#include "rows/near.hpp"

#include <algorithm>

#include "sketch/verify.hpp"

namespace lookalike {
namespace {

std::span<const std::uint8_t> bytes_of(const std::string& text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

// The groups of a tail that share a key with the query, with at most `most` rows each. Returns how many there are.
std::size_t tail_groups(const Tail& tail, std::span<const std::uint32_t> keys, std::size_t most, std::vector<NearGroup>& found) {
    const std::size_t before = found.size();
    for (std::size_t i = 0; i < tail.rows.size(); ++i) {
        const std::uint32_t* const own = tail.keys.data() + i * keys.size();
        std::uint16_t shared = 0;
        for (std::size_t band = 0; band < keys.size(); ++band) shared = static_cast<std::uint16_t>(shared + (own[band] == keys[band]));
        if (shared == 0) continue;
        const auto same = std::find_if(found.begin() + static_cast<std::ptrdiff_t>(before), found.end(),
                                       [&](const NearGroup& group) { return group.digest == tail.numbers[i]; });
        if (same == found.end()) {
            found.push_back({shared, tail.numbers[i], 1, {tail.rows[i]}});
        } else {
            ++same->size;
            if (same->rows.size() < most) same->rows.push_back(tail.rows[i]);
        }
    }
    return found.size() - before;
}

}  // namespace

StoredFound NearSearcher::run(std::span<const std::uint8_t> utf8, const NearState& state, std::shared_ptr<const Tail>& tail, StoredRows& stored,
                              double threshold, std::size_t limit) {
    return search_stored(state.known, tail, stored, SearchedBy::kNear, options_.bands,
                         [&](const Tail& now) { return search(utf8, state, now, stored, threshold, limit); });
}

StoredFound NearSearcher::search(std::span<const std::uint8_t> utf8, const NearState& state, const Tail& tail, StoredRows& stored, double threshold,
                                 std::size_t limit) {
    features_.clear();
    hasher_.start(values_.data());
    shingler_.run(utf8, [&](const std::uint64_t* plain, const std::uint64_t* secret, std::size_t count) {
        hasher_.add(plain, count);
        features_.insert(features_.end(), secret, secret + count);
    });
    hasher_.finish();
    band_keys(values_, options_.size, options_.bands, options_.rows, keys_.data());
    groups_.clear();
    std::size_t candidates = 0;
    for (const BandTables* tables : state.parts)
        candidates += near_groups(*tables, keys_.data(), options_.most_candidates, limit, state.known.gone(tail), groups_);
    candidates += tail_groups(tail, keys_, limit, groups_);
    if (groups_.empty()) return {StoredFound::Answer::kFound, candidates, 0, {}};
    if (state.parts.size() > 1 || !tail.rows.empty())
        std::ranges::sort(groups_, [](const NearGroup& a, const NearGroup& b) { return a.shared != b.shared ? a.shared > b.shared : a.rows[0] < b.rows[0]; });
    if (groups_.size() > options_.most_candidates) groups_.resize(options_.most_candidates);
    return verified(state.known, stored, threshold, limit, candidates);
}

StoredFound NearSearcher::verified(const KnownState& known, StoredRows& stored, double threshold, std::size_t limit, std::size_t candidates) {
    const StoredFound unfit = StoredFound::unfit();
    std::size_t held = 0;
    for (const NearGroup& group : groups_) held += group.rows.size();
    if (held > kMostRows) return unfit;
    FeatureTable table(features_);
    StoredFound found{StoredFound::Answer::kFound, candidates, 0, {}};
    for (const NearGroup& group : groups_) {
        const std::size_t first = found.matches.size();
        for (const std::int64_t row : group.rows) {
            std::optional<StoredMatch> read = stored.read(known, row);
            if (!read || !read->text) return unfit;
            // Copies are compared once. Digests say which documents are copies, and digests can be forged: so the texts say it.
            const auto same = std::find_if(found.matches.begin() + static_cast<std::ptrdiff_t>(first), found.matches.end(),
                                           [&](const StoredMatch& other) { return other.text == read->text; });
            if (same != found.matches.end()) {
                read->score = same->score;
            } else {
                table.start_text();
                verifier_.run(bytes_of(*read->text),
                              [&](const std::uint64_t*, const std::uint64_t* features, std::size_t count) { table.add(features, count); });
                const Overlap overlap = table.overlap();
                const std::size_t both = table.query_size() + overlap.size - overlap.common;
                read->score = both == 0 ? 1.0 : static_cast<double>(overlap.common) / static_cast<double>(both);
            }
            // Documents of one group that are not equally alike: somebody forged a digest.
            if (found.matches.size() > first && read->score != found.matches[first].score) return unfit;
            found.matches.push_back(std::move(*read));
        }
        if (found.matches[first].score >= threshold) {
            found.total += group.size;
        } else if (group.size != group.rows.size()) {
            return unfit;  // those that were not read may have been forged
        } else {
            found.matches.erase(found.matches.begin() + static_cast<std::ptrdiff_t>(first), found.matches.end());
        }
    }
    const auto better = [](const StoredMatch& a, const StoredMatch& b) { return a.score != b.score ? a.score > b.score : a.row < b.row; };
    std::ranges::sort(found.matches, better);
    if (found.matches.size() > limit) found.matches.erase(found.matches.begin() + static_cast<std::ptrdiff_t>(limit), found.matches.end());
    return found;
}

}  // namespace lookalike
