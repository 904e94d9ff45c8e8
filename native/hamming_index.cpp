#include "hamming_index.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace lookalike {
namespace {

// Sorts by the code, then by the id: first into 65,536 buckets by the top 16 bits, then each bucket in the cache.
template <class Entry>
void sort_entries(std::vector<Entry>& entries) {
    constexpr std::size_t kWorthBuckets = 1 << 14;
    if (entries.size() < kWorthBuckets) return std::sort(entries.begin(), entries.end());
    std::vector<std::size_t> ends(65537, 0);
    for (const Entry& entry : entries) ++ends[(entry.code.high >> 48) + 1];
    for (std::size_t b = 1; b < ends.size(); ++b) ends[b] += ends[b - 1];
    std::vector<Entry> sorted(entries.size());
    std::vector<std::size_t> next(ends.begin(), ends.end() - 1);
    for (const Entry& entry : entries) sorted[next[entry.code.high >> 48]++] = entry;
    for (std::size_t b = 0; b + 1 < ends.size(); ++b) {
        std::sort(sorted.begin() + static_cast<std::ptrdiff_t>(ends[b]), sorted.begin() + static_cast<std::ptrdiff_t>(ends[b + 1]));
    }
    entries.swap(sorted);
}

}  // namespace

std::size_t HammingIndex::bytes() const {
    std::size_t total = tail_.capacity() * sizeof(Entry);
    for (const auto& part : parts_) {
        total += part->segment.bytes() + (part->first.size() + part->small.size()) * 4 + part->large.size() * 8 + part->removed.size() / 8;
    }
    return total;
}

std::unique_ptr<HammingIndex::Part> HammingIndex::build(std::vector<Entry> entries) const {
    if (entries.size() >= std::numeric_limits<std::uint32_t>::max()) throw std::length_error("a segment holds at most 4 Gi entries");
    sort_entries(entries);
    std::vector<Code> codes;
    codes.reserve(entries.size());
    std::vector<std::uint32_t> first;
    bool small = true;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (i == 0 || entries[i].code != entries[i - 1].code) {
            codes.push_back(entries[i].code);
            first.push_back(static_cast<std::uint32_t>(i));
        }
        small = small && entries[i].id >= 0 && entries[i].id <= std::numeric_limits<std::uint32_t>::max();
    }
    first.push_back(static_cast<std::uint32_t>(entries.size()));
    if (codes.size() == entries.size()) std::vector<std::uint32_t>().swap(first);
    auto part = std::make_unique<Part>(Part{HammingSegment(std::move(codes), bits_), std::move(first), {}, {}, {}});
    if (small) {
        part->small.reserve(entries.size());
        for (const Entry& entry : entries) part->small.push_back(static_cast<std::uint32_t>(entry.id));
    } else {
        part->large.reserve(entries.size());
        for (const Entry& entry : entries) part->large.push_back(entry.id);
    }
    return part;
}

void HammingIndex::append(const Part& part, std::vector<Entry>& out) const {
    for (std::size_t entry = 0; entry < part.segment.size(); ++entry) {
        for (std::size_t place = part.begin(entry); place < part.begin(entry + 1); ++place) {
            if (part.live(place)) out.push_back({part.segment.code(entry), part.id(place)});
        }
    }
}

void HammingIndex::add(std::span<const Code> codes, std::span<const std::int64_t> ids) {
    tail_.reserve(std::max(tail_.capacity(), std::min(kMaxTail, tail_.size() + codes.size())));
    for (std::size_t i = 0; i < codes.size(); ++i) tail_.push_back({codes[i], ids[i]});
    live_ += codes.size();
    if (tail_.size() > kMaxTail) seal_tail();
}

void HammingIndex::seal_tail() {
    parts_.push_back(build(std::move(tail_)));
    tail_ = {};
    merge_parts();
}

void HammingIndex::merge_parts() {
    while (parts_.size() > 1 && parts_[parts_.size() - 2]->ids() < kMergeRatio * parts_.back()->ids()) {
        std::vector<Entry> entries;
        entries.reserve(parts_[parts_.size() - 2]->ids() + parts_.back()->ids());
        for (int i = 0; i < 2; ++i) {
            append(*parts_.back(), entries);
            parts_.pop_back();
        }
        parts_.push_back(build(std::move(entries)));
    }
}

std::size_t HammingIndex::remove(const std::unordered_set<std::int64_t>& ids) {
    std::size_t count = std::erase_if(tail_, [&](const Entry& entry) { return ids.contains(entry.id); });
    for (const auto& part : parts_) {
        for (std::size_t place = 0; place < part->ids(); ++place) {
            if (!ids.contains(part->id(place)) || !part->live(place)) continue;
            if (part->removed.empty()) part->removed.assign(part->ids(), false);
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
            for (std::size_t place = part->begin(hit.entry); place < part->begin(hit.entry + 1); ++place) {
                if (part->live(place)) matches.push_back({part->id(place), hit.distance});
            }
        }
    }
    for (const Entry& entry : tail_) {
        const unsigned found = distance(entry.code, query);
        if (found <= k) matches.push_back({entry.id, found});
    }
    std::sort(matches.begin() + static_cast<std::ptrdiff_t>(before), matches.end(),
              [](const Match& a, const Match& b) { return a.distance != b.distance ? a.distance < b.distance : a.id < b.id; });
}

void HammingIndex::prefetch(const Code& query, unsigned k) const {
    for (const auto& part : parts_) part->segment.prefetch(query, k);
}

std::vector<HammingIndex::Pair> HammingIndex::pairs(unsigned k, std::size_t limit) const {
    std::vector<Entry> all;
    all.reserve(live_);
    for (const auto& part : parts_) append(*part, all);
    all.insert(all.end(), tail_.begin(), tail_.end());
    const bool whole = parts_.size() == 1 && tail_.empty() && parts_[0]->removed.empty();
    const std::unique_ptr<Part> merged = whole ? nullptr : build(std::move(all));
    const Part& part = whole ? *parts_[0] : *merged;
    std::vector<Pair> out;
    const auto report = [&](std::int64_t a, std::int64_t b, std::uint32_t found) {
        if (out.size() <= limit) out.push_back({std::min(a, b), std::max(a, b), found});
    };
    for (std::size_t entry = 0; entry < part.segment.size() && out.size() <= limit; ++entry) {
        for (std::size_t i = part.begin(entry); i < part.begin(entry + 1) && out.size() <= limit; ++i) {
            for (std::size_t j = i + 1; j < part.begin(entry + 1) && out.size() <= limit; ++j) report(part.id(i), part.id(j), 0);
        }
    }
    part.segment.pairs(k, [&](std::uint32_t a, std::uint32_t b, unsigned found) {
        for (std::size_t i = part.begin(a); i < part.begin(a + 1) && out.size() <= limit; ++i) {
            for (std::size_t j = part.begin(b); j < part.begin(b + 1) && out.size() <= limit; ++j) report(part.id(i), part.id(j), found);
        }
        return out.size() <= limit;
    });
    std::sort(out.begin(), out.end(), [](const Pair& a, const Pair& b) { return a.left != b.left ? a.left < b.left : a.right < b.right; });
    return out;
}

}  // namespace lookalike
