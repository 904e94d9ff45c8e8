#include "segments/bands.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace lookalike {
namespace {

// The keys of so many bands from one on, side by side: the hash of one waits for its own steps. Vectors of them took longer, since values lie apart.
template <std::size_t kBands>
void keys_of(const std::uint32_t* values, std::size_t rows, std::size_t first, std::uint32_t* keys) {
    std::array<std::uint64_t, kBands> states;
    for (std::size_t b = 0; b < kBands; ++b) states[b] = first + b;
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t b = 0; b < kBands; ++b) states[b] = mix((states[b] ^ values[(first + b) * rows + i]) + kGolden);
    }
    for (std::size_t b = 0; b < kBands; ++b) keys[first + b] = std::max<std::uint32_t>(static_cast<std::uint32_t>(states[b] >> 32), 1);
}

void keys_of_sketch(const std::uint32_t* values, std::size_t bands, std::size_t rows, std::uint32_t* keys) {
    constexpr std::size_t kTogether = 8;
    if (bands < kTogether) {
        for (std::size_t band = 0; band < bands; ++band) keys_of<1>(values, rows, band, keys);
        return;
    }
    for (std::size_t first = 0; first < bands; first += kTogether) keys_of<kTogether>(values, rows, std::min(first, bands - kTogether), keys);
}

}  // namespace

void band_keys(std::span<const std::uint32_t> values, std::size_t size, std::size_t bands, std::size_t rows, std::uint32_t* keys) {
    constexpr std::uint32_t kEmpty = 0xFFFFFFFFU;
    for (std::size_t first = 0; first < values.size(); first += size, keys += bands) {
        const std::span sketch = values.subspan(first, size);
        if (std::ranges::all_of(sketch, [](std::uint32_t value) { return value == kEmpty; })) {
            std::fill(keys, keys + bands, 0);
        } else {
            keys_of_sketch(sketch.data(), bands, rows, keys);
        }
    }
}

BandTables::BandTables(const BandViews& columns) : columns_(columns) {
    require(columns.shape.size() == 2, "shape: expected the number of bands and the number of groups");
    require(columns.shape[0] >= 1 && columns.shape[0] <= kMaxBands, "shape: expected 1 to 65535 bands");
    require(columns.shape[1] <= kMaxBandDocuments, "shape: more groups than a segment holds");
    bands_ = columns.shape[0];
    groups_ = columns.shape[1];
    buckets_ = std::size_t{1} << directory_bits(groups_);
    rest_bits_ = 32 - directory_bits(groups_);
    check_sizes();
    check_rows();
    check_bands();
}

void BandTables::check_sizes() const {
    const auto expect = [](std::size_t found, std::size_t wanted, const char* name) {
        if (found != wanted) refuse(std::string(name) + ": expected " + std::to_string(wanted) + " values, found " + std::to_string(found));
    };
    const std::size_t entries = bands_ * groups_;
    expect(columns_.directory.size(), bands_ * (buckets_ + 1), "directory");
    expect(columns_.short_rests.size(), is_short() ? entries : 0, "rests16");
    expect(columns_.long_rests.size(), is_short() ? 0 : entries, "rests32");
    expect(columns_.groups.size(), entries, "groups");
    expect(columns_.digests.size(), groups_, "digests");
    expect(columns_.row_offsets.size(), groups_ + 1, "row_offsets");
    require(columns_.rows.size() <= kMaxBandDocuments, "rows: more than a segment holds");
}

void BandTables::check_rows() const {
    const auto& offsets = columns_.row_offsets;
    require(offsets.front() == 0 && offsets.back() == columns_.rows.size(), "row_offsets: they do not cover the rows");
    for (std::size_t group = 0; group < groups_; ++group) {
        require(offsets[group] < offsets[group + 1] && offsets[group + 1] <= columns_.rows.size(), "row_offsets: every group has rows, within the section");
    }
    std::vector<std::int64_t> firsts, others;  // of each group: its smallest row, and the rest
    for (std::size_t group = 0; group < groups_; ++group) {
        const std::span own = rows(group);
        require(!own.empty() && own.front() > (firsts.empty() ? -1 : firsts.back()), "rows: groups must ascend by their smallest row, from 0 on");
        require(std::ranges::adjacent_find(own, std::ranges::greater_equal()) == own.end(), "rows: those of a group must ascend");
        firsts.push_back(own.front());
        others.insert(others.end(), own.begin() + 1, own.end());
    }
    if (!std::ranges::is_sorted(others)) std::ranges::sort(others);
    std::vector<std::int64_t> all(columns_.rows.size());
    std::ranges::merge(firsts, others, all.begin());
    require(std::ranges::adjacent_find(all) == all.end(), "rows: a row belongs to one group");
}

void BandTables::check_bands() const {
    std::vector<bool> seen;
    for (std::size_t band = 0; band < bands_; ++band) {
        const std::span starts = columns_.directory.subspan(band * (buckets_ + 1), buckets_ + 1);
        require(starts.front() == 0 && starts.back() == groups_ && std::ranges::is_sorted(starts), "directory: it does not cover the groups");
        seen.assign(groups_, false);
        for (std::size_t b = 0; b < buckets_; ++b) {
            std::uint64_t before = 0;  // key and group of the previous entry, and one more
            const Within part(starts[b], starts[b + 1], groups_);
            for (std::size_t i = band * groups_ + part.begin; i < band * groups_ + part.end; ++i) {
                const std::uint32_t group = columns_.groups[i];
                require(group < groups_ && !seen[group], "groups: every band has every group once");
                seen[group] = true;
                const std::uint64_t entry = rest(i) << 32 | group;
                require(entry >= before && rest(i) >> rest_bits_ == 0, "rests: the keys of a bucket must ascend, equal ones by group");
                before = entry + 1;
            }
        }
    }
}

void BandTables::prefetch_rests(const Bucket& bucket) const {
    if (bucket.begin == bucket.end) return;
    if (is_short()) {
        __builtin_prefetch(&columns_.short_rests[bucket.begin]);
    } else {
        __builtin_prefetch(&columns_.long_rests[bucket.begin]);
    }
    __builtin_prefetch(&columns_.groups[bucket.begin]);
}

std::span<const std::uint32_t> BandTables::having(const Bucket& bucket, std::uint32_t key) const {
    const std::uint64_t wanted = key & ((std::uint64_t{1} << rest_bits_) - 1);
    const auto find = [&](const auto* rests) {
        const auto found = std::equal_range(rests + bucket.begin, rests + bucket.end, wanted);
        return columns_.groups.subspan(static_cast<std::size_t>(found.first - rests), static_cast<std::size_t>(found.second - found.first));
    };
    return is_short() ? find(columns_.short_rests.data()) : find(columns_.long_rests.data());
}

void Tally::start(std::size_t occurrences, std::size_t groups) {
    counted_.clear();
    std::size_t size = std::bit_ceil(2 * occurrences + 2);  // two at least, so that the shift is below 32
    direct_ = size >= groups;
    if (direct_) size = groups;
    shift_ = 32 - static_cast<unsigned>(std::bit_width(size) - 1);
    slots_.assign(size, 0);
}

std::size_t Tally::find(std::uint32_t group) const {
    if (direct_) return group;
    std::size_t slot = static_cast<std::uint32_t>(group * 0x9E3779B1U) >> shift_;
    while (slots_[slot] && counted_[slots_[slot] - 1].group != group) slot = (slot + 1) & (slots_.size() - 1);
    return slot;
}

void Tally::add(std::uint32_t group) {
    std::uint32_t& slot = slots_[find(group)];
    if (slot) {
        ++counted_[slot - 1].shared;
    } else {
        counted_.push_back({group, 1});
        slot = static_cast<std::uint32_t>(counted_.size());
    }
}

void BandSearcher::look_up(const std::uint32_t* keys) {
    // In three rounds, so that the bands' cache misses overlap.
    for (std::size_t band = 0; band < buckets_.size(); ++band) tables_.prefetch_directory(band, keys[band]);
    for (std::size_t band = 0; band < buckets_.size(); ++band) {
        buckets_[band] = tables_.bucket(band, keys[band]);
        tables_.prefetch_rests(buckets_[band]);
    }
    runs_.clear();
    for (std::size_t band = 0; band < buckets_.size(); ++band) {
        const std::span run = tables_.having(buckets_[band], keys[band]);
        if (!run.empty()) runs_.push_back(run);
    }
}

std::span<const Candidate> BandSearcher::run(const std::uint32_t* keys, std::size_t limit) {
    // A run this many times longer than all others together is not counted: it is searched for each of the others' groups.
    constexpr std::size_t kMuchLonger = 8;
    look_up(keys);
    total_ = 0;
    if (runs_.empty()) return {};
    limit = std::min(limit, tables_.groups());
    std::size_t occurrences = 0;
    for (const auto& run : runs_) occurrences += run.size();
    std::ranges::iter_swap(std::ranges::max_element(runs_, {}, &std::span<const std::uint32_t>::size), runs_.end() - 1);
    std::span<const std::uint32_t> hot;
    if (runs_.back().size() > kMuchLonger * (occurrences - runs_.back().size())) {
        hot = runs_.back();
        occurrences -= hot.size();
        runs_.pop_back();
    }
    tally_.start(occurrences, tables_.groups());
    for (const auto& run : runs_) {
        for (const std::uint32_t group : run) {
            if (group < tables_.groups()) tally_.add(group);
        }
    }
    std::vector<Candidate>& found = tally_.counted();
    total_ = found.size() + hot.size();
    for (Candidate& candidate : found) {
        if (std::ranges::binary_search(hot, candidate.group)) {
            ++candidate.shared;
            --total_;
        }
    }
    // The others of the long run share one band and ascend: more than the limit cannot be wanted.
    const std::size_t counted = found.size();
    for (std::size_t i = 0; i < hot.size() && found.size() < counted + limit; ++i) {
        const std::uint32_t group = hot[i];
        if (group < tables_.groups() && !tally_.has(group)) found.push_back({group, 1});
    }
    if (found.size() > limit) {
        std::nth_element(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(limit), found.end());
        found.resize(limit);
    }
    std::sort(found.begin(), found.end());
    return found;
}

std::size_t GoneRows::count(std::span<const std::int64_t> rows) const {
    const auto among = [](std::span<const std::int64_t> all) { return [all](std::int64_t row) { return std::ranges::binary_search(all, row); }; };
    if (rows.size() <= known.size() + since.size()) return static_cast<std::size_t>(std::ranges::count_if(rows, [&](std::int64_t row) { return has(row); }));
    const auto early = std::ranges::count_if(known, among(rows));
    const auto late = std::ranges::count_if(since, [&](std::int64_t row) { return among(rows)(row) && !among(known)(row); });
    return static_cast<std::size_t>(early + late);
}

std::size_t near_groups(const BandTables& tables, const std::uint32_t* keys, std::size_t limit, std::size_t most, const GoneRows& gone,
                        std::vector<NearGroup>& found) {
    BandSearcher searcher(tables);
    for (const Candidate& candidate : searcher.run(keys, limit)) {
        const std::span own = tables.rows(candidate.group);
        NearGroup one{candidate.shared, tables.digests()[candidate.group], own.size() - gone.count(own), {}};
        const std::size_t wanted = std::min(most, one.size);
        for (auto row = own.begin(); row != own.end() && one.rows.size() < wanted; ++row) {
            if (!gone.has(*row)) one.rows.push_back(*row);
        }
        if (!one.rows.empty()) found.push_back(std::move(one));
    }
    return searcher.total();
}

}  // namespace lookalike
