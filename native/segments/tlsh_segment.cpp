#include "segments/tlsh_segment.hpp"

#include <bit>
#include <cstring>

#include "base/dispatch.hpp"

namespace lookalike::fuzzy {
namespace {

constexpr std::size_t kWords = std::tuple_size_v<TlshCode>;
constexpr std::uint64_t kLowerBits = 0x5555555555555555;
constexpr std::size_t kTask = 1 << 15;  // entries that a thread takes at a time

// Its own inverse.
constexpr std::uint64_t gray(std::uint64_t word) { return word ^ (word >> 1 & kLowerBits); }

inline std::uint64_t extremes(std::uint64_t left, std::uint64_t right) { return (left ^ right) >> 1 & ~(left | right) & kLowerBits; }

inline int word_distance(std::uint64_t left, std::uint64_t right) { return std::popcount(left ^ right) + 5 * std::popcount(extremes(left, right)); }

struct Range {
    std::uint32_t first, end;
    int header;  // what the length and the ratios add to the distance
};

// Word by word, only entries that are not yet too far are kept. Which ones cannot be foreseen, so they are written down
// without a branch.
LOOKALIKE_INLINED void scan_here(const TlshColumns<View>& columns, std::span<const Range> ranges, const TlshEntry& query, int max_distance,
                                 std::vector<Hit>& hits) {
    constexpr std::size_t kBlock = 512;
    const std::size_t size = columns.checksums.size();
    Hit kept[kBlock];
    for (const Range& range : ranges) {
        for (std::size_t first = range.first; first < range.end; first += kBlock) {
            const std::size_t block = std::min(kBlock, range.end - first);
            std::size_t count = 0;
            const std::uint64_t* words = columns.codes.data() + first;
            for (std::size_t i = 0; i < block; ++i) {
                const int distance = range.header + word_distance(words[i], query.code[0]);
                kept[count] = {static_cast<std::uint32_t>(first + i), static_cast<std::uint32_t>(distance)};
                count += distance <= max_distance;
            }
            for (std::size_t word = 1; word < kWords; ++word) {
                const std::size_t before = count;
                count = 0;
                words = columns.codes.data() + word * size;
                for (std::size_t i = 0; i < before; ++i) {
                    const Hit hit = kept[i];
                    const int distance = static_cast<int>(hit.rank) + word_distance(words[hit.entry], query.code[word]);
                    kept[count] = {hit.entry, static_cast<std::uint32_t>(distance)};
                    count += distance <= max_distance;
                }
            }
            for (std::size_t i = 0; i < count; ++i) {
                kept[i].rank += columns.checksums[kept[i].entry] != query.checksum;
                if (static_cast<int>(kept[i].rank) <= max_distance) hits.push_back(kept[i]);
            }
        }
    }
}

void scan(const TlshColumns<View>& columns, std::span<const Range> ranges, const TlshEntry& query, int max_distance, std::vector<Hit>& hits) {
    return widest<scan_here>(columns, ranges, query, max_distance, hits);
}

class TlshWriter {
   public:
    TlshWriter() { columns_.documents.starts = {0}; }

    void add(const TlshEntry& entry, View<std::int64_t> rows) {
        if (columns_.groups.empty() || columns_.groups.back() != entry.group) {
            columns_.groups.push_back(entry.group);
            columns_.group_starts.push_back(static_cast<std::uint32_t>(columns_.checksums.size()));
        }
        for (std::size_t word = 0; word < kWords; ++word) words_[word].push_back(entry.code[word]);
        columns_.checksums.push_back(entry.checksum);
        add_documents(columns_.documents, rows);
    }

    TlshColumns<Owned> finish() {
        columns_.group_starts.push_back(static_cast<std::uint32_t>(columns_.checksums.size()));
        for (const auto& words : words_) columns_.codes.insert(columns_.codes.end(), words.begin(), words.end());
        return std::move(columns_);
    }

   private:
    TlshColumns<Owned> columns_;
    std::array<std::vector<std::uint64_t>, kWords> words_;
};

}  // namespace

TlshEntry to_entry(const tlsh::Record& record) {
    TlshEntry entry{static_cast<std::uint16_t>(record[1] << 8 | record[2]), {}, record[0]};
    for (std::size_t word = 0; word < kWords; ++word) entry.code[word] = gray(load64(record.data() + tlsh::kHeaderSize + 8 * word));
    return entry;
}

tlsh::Record to_record(const TlshEntry& entry) {
    tlsh::Record record{entry.checksum, static_cast<std::uint8_t>(entry.group >> 8), static_cast<std::uint8_t>(entry.group)};
    for (std::size_t word = 0; word < kWords; ++word) {
        const std::uint64_t quarters = gray(entry.code[word]);
        std::memcpy(record.data() + tlsh::kHeaderSize + 8 * word, &quarters, sizeof quarters);
    }
    return record;
}

TlshSegment::TlshSegment(const TlshColumns<View>& columns) : columns_(columns) {
    require(columns.codes.size() == kWords * size(), "codes: expected four words for each checksum");
    check_documents(columns.documents, size());
    require(ascends(columns.groups), "groups: expected ascending numbers");
    check_starts(columns.group_starts, columns.groups.size(), size(), false, "group_starts: expected where each group begins, ascending");
    for (std::size_t group = 0; group < columns.groups.size(); ++group) {
        for (std::size_t at = columns.group_starts[group] + 1; at < columns.group_starts[group + 1]; ++at) {
            int order = 0;
            for (std::size_t word = 0; word < kWords && order == 0; ++word) {
                const std::uint64_t before = columns.codes[word * size() + at - 1], here = columns.codes[word * size() + at];
                order = (before > here) - (before < here);
            }
            if (order == 0) order = columns.checksums[at - 1] < columns.checksums[at] ? -1 : 1;
            require(order < 0, "codes, checksums: expected distinct digests in ascending order");
        }
    }
}

TlshEntry TlshSegment::entry(std::size_t at) const {
    const auto group = std::upper_bound(columns_.group_starts.begin(), columns_.group_starts.end(), at) - columns_.group_starts.begin() - 1;
    TlshEntry entry{
        columns_.groups[std::min(static_cast<std::size_t>(std::max<std::ptrdiff_t>(group, 0)), columns_.groups.size() - 1)], {}, columns_.checksums[at]};
    for (std::size_t word = 0; word < kWords; ++word) entry.code[word] = columns_.codes[word * size() + at];
    return entry;
}

Found TlshSegment::search(const tlsh::Record& query, unsigned max_distance, std::size_t limit, unsigned workers) const {
    constexpr unsigned kFarthest = 1 << 20;  // no two digests are so far apart
    const int most = static_cast<int>(std::min(max_distance, kFarthest));
    std::array<int, 256> ratios;
    for (int other = 0; other < 256; ++other) ratios[other] = tlsh::ratios_distance(query[2], static_cast<std::uint8_t>(other));

    std::vector<Range> ranges;
    std::vector<std::size_t> tasks{0};  // where each begins in the ranges
    std::size_t load = 0;
    const auto take = [&](std::uint32_t first, std::uint32_t end, int header) {
        for (std::uint32_t part; first < end; first = part) {
            part = static_cast<std::uint32_t>(std::min<std::size_t>(end, first + (kTask - load)));
            ranges.push_back({first, part, header});
            load += part - first;
            if (load < kTask) continue;
            tasks.push_back(ranges.size());
            load = 0;
        }
    };
    for (int length = 0; length < 256; ++length) {
        const int far = tlsh::length_distance(query[1], static_cast<std::uint8_t>(length));
        if (far > most) continue;
        const auto begin = columns_.groups.begin(), end = columns_.groups.end();
        for (auto group = std::lower_bound(begin, end, length << 8); group != end && *group >> 8 == length; ++group) {
            const int header = far + ratios[*group & 255];
            const auto place = static_cast<std::size_t>(group - begin);
            const auto all = static_cast<std::uint32_t>(size());
            if (header <= most) take(std::min(columns_.group_starts[place], all), std::min(columns_.group_starts[place + 1], all), header);
        }
    }
    if (load != 0) tasks.push_back(ranges.size());

    const TlshEntry wanted = to_entry(query);
    const std::vector<Hit> hits = gather(tasks.size() - 1, workers, [&](std::size_t task, std::vector<Hit>& found) {
        scan(columns_, std::span(ranges).subspan(tasks[task], tasks[task + 1] - tasks[task]), wanted, most, found);
    });
    return best(columns_.documents, hits, limit);
}

TlshColumns<Owned> build(std::span<const tlsh::Record> records, View<std::int64_t> rows) {
    check_new_rows(rows, records.size());
    std::vector<TlshEntry> entries(records.size());
    std::transform(records.begin(), records.end(), entries.begin(), to_entry);
    TlshWriter writer;
    sort_entries(
        rows, [&](std::uint32_t i) -> const TlshEntry& { return entries[i]; },
        [&](const TlshEntry& entry, View<std::int64_t> equal) { writer.add(entry, equal); });
    return writer.finish();
}

TlshColumns<Owned> merge(std::span<const TlshSegment* const> segments, View<std::int64_t> removed) {
    TlshWriter writer;
    merge_entries(segments, removed, [&](const TlshEntry& entry, View<std::int64_t> rows) { writer.add(entry, rows); });
    return writer.finish();
}

}  // namespace lookalike::fuzzy
