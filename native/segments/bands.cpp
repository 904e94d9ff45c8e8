#include "segments/bands.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

namespace lookalike {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

std::uint32_t band_key(const std::uint32_t* values, std::size_t rows, std::uint64_t state) {
    for (std::size_t i = 0; i < rows; ++i) state = mix((state ^ values[i]) + kGolden);
    return std::max<std::uint32_t>(static_cast<std::uint32_t>(state >> 32), 1);
}

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

void require(bool holds, const char* what) {
    if (!holds) refuse(what);
}

// Tells equal documents: gives each distinct pair of a digest and keys the next number.
class Grouping {
   public:
    Grouping(std::span<const std::uint64_t> digests, std::span<const std::uint32_t> keys, std::size_t bands)
        : digests_(digests), keys_(keys), bands_(bands), slots_(std::bit_ceil(2 * digests.size() + 1), kNone) {}

    std::uint32_t number(std::size_t document) {
        // The keys are hashed too: if digests are not what they should be, equal ones must not pile up.
        std::uint64_t state = digests_[document];
        for (const std::uint32_t key : keys(document)) state = absorb(state, key);
        for (std::size_t i = mix(state);; ++i) {
            std::uint32_t& slot = slots_[i & (slots_.size() - 1)];
            if (slot == kNone) {
                slot = static_cast<std::uint32_t>(firsts_.size());
                firsts_.push_back(document);
                return slot;
            }
            const std::size_t first = firsts_[slot];
            if (digests_[first] == digests_[document] && std::ranges::equal(keys(first), keys(document))) return slot;
        }
    }

    std::span<const std::uint32_t> keys(std::size_t document) const { return keys_.subspan(document * bands_, bands_); }
    const std::vector<std::size_t>& firsts() const { return firsts_; }  // of each group its first document

   private:
    std::span<const std::uint64_t> digests_;
    std::span<const std::uint32_t> keys_;
    std::size_t bands_;
    std::vector<std::uint32_t> slots_;
    std::vector<std::size_t> firsts_;
};

// Counts in starts[1 …] become the places where writing begins: each write then advances its own, and in the end
// starts[i] is where i begins.
void begin_writing(std::span<std::uint32_t> starts) { std::exclusive_scan(starts.begin() + 1, starts.end(), starts.begin() + 1, std::uint32_t{0}); }

// The columns of one band from the keys of its groups, in the order of the groups.
void build_band(std::span<const std::uint32_t> keys, std::size_t band, std::vector<std::uint64_t>& entries, BuiltBands& out) {
    const std::size_t groups = keys.size();
    const unsigned bits = directory_bits(groups), rest_bits = 32 - bits;
    const std::span starts = std::span(out.directory).subspan(band * ((std::size_t{1} << bits) + 1), (std::size_t{1} << bits) + 1);
    const auto bucket_of = [&](std::uint32_t key) { return static_cast<std::size_t>(std::uint64_t{key} >> rest_bits); };
    for (const std::uint32_t key : keys) ++starts[bucket_of(key) + 1];
    begin_writing(starts);
    entries.resize(groups);
    for (std::size_t group = 0; group < groups; ++group) {
        entries[starts[bucket_of(keys[group]) + 1]++] = std::uint64_t{keys[group]} << 32 | group;
    }
    for (std::size_t b = 0; b + 1 < starts.size(); ++b) std::sort(entries.begin() + starts[b], entries.begin() + starts[b + 1]);

    const std::uint64_t mask = (std::uint64_t{1} << rest_bits) - 1;
    for (std::size_t i = 0; i < groups; ++i) {
        const std::uint64_t rest = entries[i] >> 32 & mask;
        if (rest_bits <= 16) {
            out.short_rests[band * groups + i] = static_cast<std::uint16_t>(rest);
        } else {
            out.long_rests[band * groups + i] = static_cast<std::uint32_t>(rest);
        }
        out.groups[band * groups + i] = static_cast<std::uint32_t>(entries[i]);
    }
}

void build_tables(const Grouping& grouping, std::size_t bands, BuiltBands& out) {
    const std::vector<std::size_t>& firsts = grouping.firsts();
    const std::size_t groups = firsts.size();
    const unsigned bits = directory_bits(groups);
    out.shape = {bands, groups};
    out.directory.resize(bands * ((std::size_t{1} << bits) + 1));
    if (bits >= 16) {
        out.short_rests.resize(bands * groups);
    } else {
        out.long_rests.resize(bands * groups);
    }
    out.groups.resize(bands * groups);
    constexpr std::size_t kTogether = 8;  // bands taken from a document's keys at once: a cache line is read twice, not sixteen times
    std::vector<std::uint32_t> columns(std::min(kTogether, bands) * groups);
    std::vector<std::uint64_t> entries;
    for (std::size_t first = 0; first < bands; first += kTogether) {
        const std::size_t count = std::min(kTogether, bands - first);
        for (std::size_t group = 0; group < groups; ++group) {
            const std::uint32_t* keys = grouping.keys(firsts[group]).data() + first;
            for (std::size_t b = 0; b < count; ++b) columns[b * groups + group] = keys[b];
        }
        for (std::size_t b = 0; b < count; ++b) build_band(std::span(columns).subspan(b * groups, groups), first + b, entries, out);
    }
}

// Rows in ascending order; row i belongs to document documents[i], and several may belong to the same.
BuiltBands assemble(std::span<const std::int64_t> rows, std::span<const std::uint32_t> documents, std::span<const std::uint64_t> digests,
                    std::span<const std::uint32_t> keys, std::size_t bands) {
    Grouping grouping(digests, keys, bands);
    std::vector<std::uint32_t> group_of(digests.size(), kNone);
    for (const std::uint32_t document : documents) {
        if (group_of[document] == kNone) group_of[document] = grouping.number(document);
    }
    BuiltBands out;
    build_tables(grouping, bands, out);
    for (const std::size_t first : grouping.firsts()) out.digests.push_back(digests[first]);
    out.row_offsets.resize(grouping.firsts().size() + 1);
    for (const std::uint32_t document : documents) ++out.row_offsets[group_of[document] + 1];
    begin_writing(out.row_offsets);
    out.rows.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) out.rows[out.row_offsets[group_of[documents[i]] + 1]++] = rows[i];
    return out;
}

}  // namespace

void band_keys(std::span<const std::uint32_t> values, std::size_t size, std::size_t bands, std::size_t rows, std::uint32_t* keys) {
    constexpr std::uint32_t kEmpty = 0xFFFFFFFFU;
    for (std::size_t first = 0; first < values.size(); first += size, keys += bands) {
        const std::span sketch = values.subspan(first, size);
        if (std::ranges::all_of(sketch, [](std::uint32_t value) { return value == kEmpty; })) {
            std::fill(keys, keys + bands, 0);
        } else {
            for (std::size_t band = 0; band < bands; ++band) keys[band] = band_key(sketch.data() + band * rows, rows, band);
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

BuiltBands build_bands(std::span<const std::int64_t> rows, std::span<const std::uint64_t> digests, std::span<const std::uint32_t> keys, std::size_t bands) {
    std::vector<std::uint32_t> documents(rows.size());
    std::iota(documents.begin(), documents.end(), 0);
    return assemble(rows, documents, digests, keys, bands);
}

BuiltBands merge_bands(const std::vector<const BandTables*>& segments, std::span<const std::int64_t> removed) {
    const std::size_t bands = segments.at(0)->bands();
    struct Entry {
        std::int64_t row;
        std::uint32_t document;  // here: a group of a segment
    };
    std::vector<Entry> entries;
    std::vector<std::uint64_t> digests;
    for (const BandTables* segment : segments) {
        if (digests.size() + segment->groups() > kMaxBandDocuments) refuse("the segments have more documents than one can hold");
        for (std::size_t group = 0; group < segment->groups(); ++group) {
            for (const std::int64_t row : segment->rows(group)) {
                if (!std::ranges::binary_search(removed, row)) entries.push_back({row, static_cast<std::uint32_t>(digests.size() + group)});
            }
        }
        digests.insert(digests.end(), segment->digests().begin(), segment->digests().end());
    }
    if (entries.size() > kMaxBandDocuments) refuse("the segments have more documents than one can hold");
    std::vector<std::uint32_t> keys(digests.size() * bands);
    std::size_t base = 0;
    for (const BandTables* segment : segments) {
        segment->for_each_key([&](std::size_t band, std::uint32_t key, std::uint32_t group) { keys[(base + group) * bands + band] = key; });
        base += segment->groups();
    }
    std::ranges::sort(entries, {}, &Entry::row);
    const auto twice = std::ranges::adjacent_find(entries, {}, &Entry::row);
    if (twice != entries.end()) refuse("row " + std::to_string(twice->row) + " is there twice");
    std::vector<std::int64_t> rows;
    std::vector<std::uint32_t> documents;
    rows.reserve(entries.size());
    documents.reserve(entries.size());
    for (const Entry& entry : entries) {
        rows.push_back(entry.row);
        documents.push_back(entry.document);
    }
    return assemble(rows, documents, digests, keys, bands);
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

}  // namespace lookalike
