#include "segments/hamming_index.hpp"

#include <algorithm>
#include <numeric>

namespace lookalike {

void sort_matches(std::vector<Match>& matches, std::size_t first) {
    std::sort(matches.begin() + static_cast<std::ptrdiff_t>(first), matches.end(),
              [](const Match& a, const Match& b) { return a.distance != b.distance ? a.distance < b.distance : a.id < b.id; });
}

void HammingIndex::sort_pairs(std::vector<Pair>& pairs) {
    std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.left != b.left ? a.left < b.left : a.right < b.right; });
}

std::size_t HammingIndex::bytes() const {
    std::size_t total = tail_.capacity() * sizeof(Entry);
    for (const auto& part : parts_) total += part->segment.bytes() + part->removed.size() / 8;
    return total;
}

std::unique_ptr<HammingIndex::Part> HammingIndex::build(const std::vector<Entry>& entries) const {
    std::vector<std::uint64_t> words;
    std::vector<std::int64_t> ids;
    words.reserve(entries.size() * (bits_ == 128 ? 2 : 1));
    ids.reserve(entries.size());
    for (const Entry& entry : entries) {
        push_words(entry.code, bits_, words);
        ids.push_back(entry.id);
    }
    return std::make_unique<Part>(Part{HammingSegment::build(words, ids, bits_)});
}

void HammingIndex::append(const Part& part, std::vector<Entry>& out) const {
    for (std::size_t entry = 0; entry < part.segment.size(); ++entry) {
        const Within places = part.segment.ids_of(entry);
        for (std::size_t place = places.begin; place < places.end; ++place) {
            if (part.live(place)) out.push_back({part.segment.code(entry), part.segment.id(place)});
        }
    }
}

void HammingIndex::add(std::span<const std::uint64_t> words, std::span<const std::int64_t> ids) {
    live_ += ids.size();
    if (ids.size() > kMaxTail) {  // a segment of its own, with no way through the tail
        parts_.push_back(std::make_unique<Part>(Part{HammingSegment::build(words, ids, bits_)}));
        return merge_parts();
    }
    tail_.reserve(std::max(tail_.capacity(), std::min(kMaxTail, tail_.size() + ids.size())));
    for (std::size_t i = 0; i < ids.size(); ++i) tail_.push_back({code_at(words, i, bits_), ids[i]});
    if (tail_.size() > kMaxTail) seal_tail();
}

void HammingIndex::seal_tail() {
    parts_.push_back(build(tail_));
    tail_ = {};
    merge_parts();
}

void HammingIndex::merge_parts() {
    const auto is_due = [&] {
        const std::size_t last = parts_.back()->segment.ids(), before = parts_[parts_.size() - 2]->segment.ids();
        return before < kMergeRatio * last && before + last <= kMostMerged;
    };
    while (parts_.size() > 1 && is_due()) {
        std::vector<Entry> entries;
        entries.reserve(parts_[parts_.size() - 2]->segment.ids() + parts_.back()->segment.ids());
        for (int i = 0; i < 2; ++i) {
            append(*parts_.back(), entries);
            parts_.pop_back();
        }
        parts_.push_back(build(entries));
    }
}

std::size_t HammingIndex::remove(const std::unordered_set<std::int64_t>& ids) {
    std::size_t count = std::erase_if(tail_, [&](const Entry& entry) { return ids.contains(entry.id); });
    for (const auto& part : parts_) {
        for (std::size_t place = 0; place < part->segment.ids(); ++place) {
            if (!ids.contains(part->segment.id(place)) || !part->live(place)) continue;
            if (part->removed.empty()) part->removed.assign(part->segment.ids(), false);
            part->removed[place] = true;
            ++count;
        }
    }
    live_ -= count;
    return count;
}

void HammingIndex::search(const Code& query, unsigned k, std::vector<Hit>& scratch, std::vector<Match>& matches) const {
    const std::size_t before = matches.size();
    for (const auto& part : parts_) {
        scratch.clear();
        part->segment.search(query, k, scratch);
        for (const Hit& hit : scratch) {
            const Within places = part->segment.ids_of(hit.entry);
            for (std::size_t place = places.begin; place < places.end; ++place) {
                if (part->live(place)) matches.push_back({part->segment.id(place), hit.distance});
            }
        }
    }
    search_tail(query, k, matches);
    sort_matches(matches, before);
}

void HammingIndex::search_together(std::span<const Code> queries, unsigned k, std::vector<NumberedHit>& scratch, std::span<std::vector<Match>> matches) const {
    for (const auto& part : parts_) {
        scratch.clear();
        part->segment.search_together(queries, k, scratch);
        part->segment.for_ids(scratch, [&](std::uint32_t number, std::size_t place, std::uint32_t distance) {
            if (part->live(place)) matches[number].push_back({part->segment.id(place), distance});
        });
    }
    for (std::size_t number = 0; number < queries.size(); ++number) {
        search_tail(queries[number], k, matches[number]);
        sort_matches(matches[number], 0);
    }
}

bool HammingIndex::is_short_search(unsigned k) const {
    constexpr std::size_t kShortTail = 4096, kFewParts = 8;
    return tail_.size() <= kShortTail && parts_.size() <= kFewParts &&
           std::ranges::all_of(parts_, [&](const auto& part) { return part->segment.reads_few_buckets(k); });
}

void HammingIndex::search_tail(const Code& query, unsigned k, std::vector<Match>& matches) const {
    for (const Entry& entry : tail_) {
        const unsigned found = distance(entry.code, query);
        if (found <= k) matches.push_back({entry.id, found});
    }
}

void HammingIndex::prefetch_directories(const Code& query, unsigned k) const {
    for (const auto& part : parts_) part->segment.prefetch_directories(query, k);
}

void HammingIndex::prefetch_buckets(const Code& query, unsigned k) const {
    for (const auto& part : parts_) part->segment.prefetch_buckets(query, k);
}

std::unique_ptr<HammingIndex::Part> HammingIndex::merged() const {
    if (parts_.size() == 1 && tail_.empty() && parts_[0]->removed.empty()) return nullptr;
    std::vector<Entry> all;
    all.reserve(live_);
    for (const auto& part : parts_) append(*part, all);
    all.insert(all.end(), tail_.begin(), tail_.end());
    return build(all);
}

HammingIndex::Groups HammingIndex::groups(unsigned k, std::size_t limit) const {
    const std::unique_ptr<Part> made = merged();
    const HammingSegment& segment = (made ? *made : *parts_[0]).segment;
    std::vector<std::vector<std::int64_t>> members(segment.size());
    for (std::size_t entry = 0; entry < segment.size(); ++entry) {
        const Within places = segment.ids_of(entry);
        for (std::size_t i = places.begin; i < places.end; ++i) members[entry].push_back(segment.id(i));
        std::sort(members[entry].begin(), members[entry].end());
    }
    std::vector<std::uint32_t> order(segment.size());
    std::iota(order.begin(), order.end(), 0U);
    // The same id may have several fingerprints: then the codes decide.
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return members[a][0] < members[b][0]; });
    Groups out;
    std::vector<std::int64_t> number(segment.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        number[order[i]] = static_cast<std::int64_t>(i);
        out.ids.insert(out.ids.end(), members[order[i]].begin(), members[order[i]].end());
        out.offsets.push_back(static_cast<std::int64_t>(out.ids.size()));
    }
    segment.pairs(k, [&](std::uint32_t a, std::uint32_t b, unsigned found) {
        out.pairs.push_back({std::min(number[a], number[b]), std::max(number[a], number[b]), found});
        return out.pairs.size() <= limit;
    });
    sort_pairs(out.pairs);
    return out;
}

std::vector<HammingIndex::Pair> HammingIndex::pairs(unsigned k, std::size_t limit) const {
    const std::unique_ptr<Part> made = merged();
    const Part& part = made ? *made : *parts_[0];
    std::vector<Pair> out;
    const auto report = [&](std::int64_t a, std::int64_t b, std::uint32_t found) {
        if (out.size() <= limit) out.push_back({std::min(a, b), std::max(a, b), found});
    };
    for (std::size_t entry = 0; entry < part.segment.size() && out.size() <= limit; ++entry) {
        const Within places = part.segment.ids_of(entry);
        for (std::size_t i = places.begin; i < places.end && out.size() <= limit; ++i) {
            for (std::size_t j = i + 1; j < places.end && out.size() <= limit; ++j) report(part.segment.id(i), part.segment.id(j), 0);
        }
    }
    part.segment.pairs(k, [&](std::uint32_t a, std::uint32_t b, unsigned found) {
        const Within left = part.segment.ids_of(a), right = part.segment.ids_of(b);
        for (std::size_t i = left.begin; i < left.end && out.size() <= limit; ++i) {
            for (std::size_t j = right.begin; j < right.end && out.size() <= limit; ++j) report(part.segment.id(i), part.segment.id(j), found);
        }
        return out.size() <= limit;
    });
    sort_pairs(out);
    return out;
}

}  // namespace lookalike
