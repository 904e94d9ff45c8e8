// Segments of band keys built and merged; bands.cpp checks and searches them.
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <string>

#include "segments/bands.hpp"

namespace lookalike {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

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

// Entries of one band, each a key in the upper half and its group in the lower one, groups ascending: sorted by key, then by group. A digit at a time,
// the lowest first, which leaves equal ones in their order: no branch depends on a key, where comparing guesses wrong at every other one.
class KeySorter {
   public:
    std::span<const std::uint64_t> sort(std::span<const std::uint32_t> keys) {
        entries_.resize(keys.size());
        for (std::size_t group = 0; group < keys.size(); ++group) entries_[group] = std::uint64_t{keys[group]} << 32 | group;
        if (keys.size() < kDigits / 2) {  // fewer than it would take to count digits
            std::ranges::sort(entries_);
        } else {
            sort_by_digits();
        }
        return entries_;
    }

   private:
    static constexpr std::size_t kPlaces = 3, kBits = 11, kDigits = std::size_t{1} << kBits;
    static std::size_t digit(std::uint64_t entry, std::size_t place) { return entry >> (32 + place * kBits) & (kDigits - 1); }

    void sort_by_digits() {
        sorted_.resize(entries_.size());
        for (std::array<std::uint32_t, kDigits>& each : starts_) each.fill(0);
        for (const std::uint64_t entry : entries_) {
            for (std::size_t place = 0; place < kPlaces; ++place) ++starts_[place][digit(entry, place)];
        }
        for (std::size_t place = 0; place < kPlaces; ++place) {
            std::array<std::uint32_t, kDigits>& starts = starts_[place];
            std::exclusive_scan(starts.begin(), starts.end(), starts.begin(), std::uint32_t{0});
            for (const std::uint64_t entry : entries_) sorted_[starts[digit(entry, place)]++] = entry;
            entries_.swap(sorted_);
        }
    }

    Buffer<std::uint64_t> entries_, sorted_;
    std::array<std::array<std::uint32_t, kDigits>, kPlaces> starts_;
};

// The columns of one band from the keys of its groups, in the order of the groups.
void build_band(std::span<const std::uint32_t> keys, std::size_t band, KeySorter& sorter, BuiltBands& out) {
    const std::size_t groups = keys.size();
    const unsigned bits = directory_bits(groups), rest_bits = 32 - bits;
    const std::span starts = std::span(out.directory).subspan(band * ((std::size_t{1} << bits) + 1), (std::size_t{1} << bits) + 1);
    for (const std::uint32_t key : keys) ++starts[static_cast<std::size_t>(std::uint64_t{key} >> rest_bits) + 1];
    std::inclusive_scan(starts.begin(), starts.end(), starts.begin());
    const std::span<const std::uint64_t> entries = sorter.sort(keys);

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
    out.directory.assign(bands * ((std::size_t{1} << bits) + 1), 0);
    if (bits >= 16) {
        out.short_rests.resize(bands * groups);
    } else {
        out.long_rests.resize(bands * groups);
    }
    out.groups.resize(bands * groups);
    constexpr std::size_t kTogether = 8;  // bands taken from a document's keys at once: a cache line is read twice, not sixteen times
    Buffer<std::uint32_t> columns(std::min(kTogether, bands) * groups);
    KeySorter sorter;
    for (std::size_t first = 0; first < bands; first += kTogether) {
        const std::size_t count = std::min(kTogether, bands - first);
        for (std::size_t group = 0; group < groups; ++group) {
            const std::uint32_t* keys = grouping.keys(firsts[group]).data() + first;
            for (std::size_t b = 0; b < count; ++b) columns[b * groups + group] = keys[b];
        }
        for (std::size_t b = 0; b < count; ++b) build_band(std::span(columns).subspan(b * groups, groups), first + b, sorter, out);
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
    out.row_offsets.assign(grouping.firsts().size() + 1, 0);
    for (const std::uint32_t document : documents) ++out.row_offsets[group_of[document] + 1];
    begin_writing(out.row_offsets);
    out.rows.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) out.rows[out.row_offsets[group_of[documents[i]] + 1]++] = rows[i];
    return out;
}

}  // namespace

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
    Buffer<std::uint32_t> keys(digests.size() * bands, 0);
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

}  // namespace lookalike
