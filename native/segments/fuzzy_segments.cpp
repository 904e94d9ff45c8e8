#include "segments/fuzzy_segments.hpp"

#include <numeric>

#include "base/dispatch.hpp"
#include "base/hash.hpp"
#include "base/parallel.hpp"

namespace lookalike::fuzzy {
namespace {

constexpr std::size_t kMaxDocuments = 0xFFFFFFFF;  // places are 32-bit

void require(bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
}

template <class T>
bool ascends(View<T> values) {
    return std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) == values.end();
}

// Where each of `parts` parts of `size` things begins, and where the last one ends.
template <class T>
void check_starts(View<T> starts, std::size_t parts, std::size_t size, bool may_be_empty, const char* message) {
    require(starts.size() == parts + 1 && starts.front() == 0 && starts.back() == size, message);
    require(may_be_empty ? std::is_sorted(starts.begin(), starts.end()) : ascends(starts), message);
}

void check_documents(const Documents<View>& documents, std::size_t entries) {
    check_starts(documents.starts, entries, documents.rows.size(), false, "starts: expected where the rows of each digest begin, ascending");
    for (std::size_t i = 0; i < entries; ++i) {
        const auto rows = documents_of(documents, i);
        require(!rows.empty() && rows.front() >= 0 && ascends(rows), "rows: expected numbers from 0 on, ascending for each digest");
    }
}

void check_new_rows(View<std::int64_t> rows, std::size_t digests) {
    require(rows.size() == digests, "rows: expected one per digest");
    require(rows.size() <= kMaxDocuments, "rows: a segment holds fewer than 2^32 documents");
    require(rows.empty() || rows.front() >= 0, "rows: expected numbers from 0 on");
    require(ascends(rows), "rows: expected ascending numbers");
}

void add_documents(Documents<Owned>& documents, View<std::int64_t> rows) {
    documents.rows.insert(documents.rows.end(), rows.begin(), rows.end());
    require(documents.rows.size() <= kMaxDocuments, "a segment holds fewer than 2^32 documents: merge fewer segments");
    documents.starts.push_back(static_cast<std::uint32_t>(documents.rows.size()));
}

// Calls add(entry, rows) for the distinct entries of all segments, in order, with the rows that were not removed.
template <class Segment, class Add>
void merge_entries(std::span<const Segment* const> segments, View<std::int64_t> removed, Add&& add) {
    require(std::is_sorted(removed.begin(), removed.end()), "removed: expected ascending row numbers");
    struct Cursor {
        const Segment* segment;
        std::size_t at;
        typename Segment::Entry entry;
    };
    const auto later = [](const Cursor& left, const Cursor& right) { return left.entry > right.entry; };
    std::vector<Cursor> heap;
    for (const Segment* segment : segments) {
        if (segment->size() != 0) heap.push_back({segment, 0, segment->entry(0)});
    }
    std::make_heap(heap.begin(), heap.end(), later);
    for (std::vector<std::int64_t> rows; !heap.empty(); rows.clear()) {
        const typename Segment::Entry entry = heap.front().entry;
        while (!heap.empty() && heap.front().entry == entry) {
            std::pop_heap(heap.begin(), heap.end(), later);
            Cursor& cursor = heap.back();
            const auto seam = static_cast<std::ptrdiff_t>(rows.size());
            for (const std::int64_t row : documents_of(cursor.segment->documents(), cursor.at)) {
                if (!std::binary_search(removed.begin(), removed.end(), row)) rows.push_back(row);
            }
            std::inplace_merge(rows.begin(), rows.begin() + seam, rows.end());
            if (++cursor.at < cursor.segment->size()) {
                cursor.entry = cursor.segment->entry(cursor.at);
                std::push_heap(heap.begin(), heap.end(), later);
            } else {
                heap.pop_back();
            }
        }
        if (!rows.empty()) add(entry, rows);
    }
}

// Calls add(entry, rows) for the distinct ones of new entries, in order.
template <class EntryAt, class Add>
void sort_entries(View<std::int64_t> rows, EntryAt&& entry_at, Add&& add) {
    std::vector<std::uint32_t> order(rows.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t left, std::uint32_t right) { return entry_at(left) < entry_at(right); });
    std::vector<std::int64_t> equal;
    for (std::size_t first = 0, end; first < order.size(); first = end) {
        equal.clear();
        for (end = first; end < order.size() && entry_at(order[end]) == entry_at(order[first]); ++end) equal.push_back(rows[order[end]]);
        add(entry_at(order[first]), equal);
    }
}

// The hits of many tasks, each found by find(task, hits), in the order of the tasks.
template <class Find>
std::vector<Hit> gather(std::size_t tasks, unsigned workers, Find&& find) {
    std::vector<std::vector<Hit>> found(tasks);
    for_each_document(tasks, workers, [&] { return [&](std::size_t task) { find(task, found[task]); }; });
    if (tasks == 1) return std::move(found.front());
    std::vector<Hit> hits;
    for (const auto& part : found) hits.insert(hits.end(), part.begin(), part.end());
    return hits;
}

}  // namespace

Found best(const Documents<View>& documents, std::span<const Hit> hits, std::size_t limit) {
    std::vector<std::size_t> counts;  // documents of each rank
    Found found;
    for (const Hit& hit : hits) {
        if (hit.rank >= counts.size()) counts.resize(hit.rank + 1);
        const std::size_t size = documents_of(documents, hit.entry).size();
        counts[hit.rank] += size;
        found.total += size;
    }
    std::size_t worst = 0;  // the last rank of which a document is wanted
    for (std::size_t reached = 0; worst < counts.size() && (reached += counts[worst]) < limit;) ++worst;

    struct Document {
        std::uint32_t rank;
        std::int64_t row;
        auto operator<=>(const Document&) const = default;
    };
    std::vector<Document> chosen;
    for (const Hit& hit : hits) {
        if (hit.rank > worst) continue;
        const auto rows = documents_of(documents, hit.entry);
        for (const std::int64_t row : rows.first(std::min(rows.size(), limit))) chosen.push_back({hit.rank, row});
    }
    if (chosen.size() > limit) {
        std::nth_element(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(limit), chosen.end());
        chosen.resize(limit);
    }
    std::sort(chosen.begin(), chosen.end());
    for (const Document& document : chosen) {
        found.rows.push_back(document.row);
        found.ranks.push_back(document.rank);
    }
    return found;
}

// TLSH.

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

// ssdeep.

namespace {

using ssdeep::Letters;
using ssdeep::Parts;

// Parts that share a run of 7 letters share, at one of every third place of either, 5 letters of that run. So an entry is
// listed by the 5 letters at every third place, and the query looks for the 5 letters at every place of its own.
constexpr std::size_t kGram = 5;
constexpr std::size_t kStride = ssdeep::kMinCommon - kGram + 1;
constexpr std::size_t kBucket = 8;  // postings, on average

// Calls report(hash) for what two digests must have in common to score more than 0. What has no part long enough for
// a run of 7 letters scores only where it is equal, so it is listed as a whole.
template <class Report>
void for_each_key(const Parts& digest, std::size_t stride, Report&& report) {
    Letters scratch;
    bool reported = false;
    std::uint64_t whole = static_cast<std::uint64_t>(digest.level);
    for (const bool second : {false, true}) {
        const auto letters = ssdeep::shorten_runs(second ? digest.second : digest.first, scratch);
        if (letters.size() < ssdeep::kMinCommon) {
            whole = whole << 3 | letters.size();
            for (const std::uint8_t letter : letters) whole = whole << 6 | letter;
            whole = mix(~whole);
            continue;
        }
        const std::uint64_t level = static_cast<std::uint64_t>(digest.level + second) << 6 * kGram;
        for (std::size_t at = 0; at + kGram <= letters.size(); at += stride) {
            std::uint64_t gram = 0;
            for (std::size_t i = 0; i < kGram; ++i) gram = gram << 6 | letters[at + i];
            report(mix(level | gram));
        }
        reported = true;
    }
    if (!reported) report(whole);
}

// Buckets by the upper bits of a hash.
class Buckets {
   public:
    explicit Buckets(std::size_t postings) : bits_(std::min<unsigned>(std::bit_width(postings / kBucket), 31)) {}
    std::size_t count() const { return std::size_t{1} << bits_; }
    std::size_t operator()(std::uint64_t hash) const { return bits_ == 0 ? 0 : hash >> (64 - bits_); }

   private:
    unsigned bits_;
};

inline std::uint16_t tag_of(std::uint64_t hash) { return static_cast<std::uint16_t>(hash); }

// The order within a bucket.
inline std::uint64_t tagged(std::uint16_t tag, std::uint64_t entry) { return std::uint64_t{tag} << 32 | entry; }

inline std::uint64_t fingerprint(std::size_t bucket, std::uint64_t posting) { return mix(posting ^ bucket * kGolden); }

void fill_postings(SsdeepColumns<Owned>& columns, std::span<const Parts> entries) {
    std::size_t total = 0;
    for (const Parts& entry : entries) for_each_key(entry, kStride, [&](std::uint64_t) { ++total; });
    require(total <= kMaxDocuments, "a segment holds fewer than 2^32 postings: build or merge fewer digests");
    const Buckets bucket_of(total);
    auto& starts = columns.bucket_starts;
    starts.assign(bucket_of.count() + 1, 0);
    for (const Parts& entry : entries) for_each_key(entry, kStride, [&](std::uint64_t hash) { ++starts[bucket_of(hash) + 1]; });
    for (std::size_t bucket = 1; bucket < starts.size(); ++bucket) starts[bucket] += starts[bucket - 1];

    columns.tags.resize(total);
    columns.postings.resize(total);
    std::vector<std::uint32_t> next(starts.begin(), starts.end() - 1);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        for_each_key(entries[i], kStride, [&](std::uint64_t hash) {
            const std::uint32_t place = next[bucket_of(hash)]++;
            columns.tags[place] = tag_of(hash);
            columns.postings[place] = static_cast<std::uint32_t>(i);
        });
    }
    std::vector<std::uint64_t> sorted;
    for (std::size_t bucket = 0; bucket + 1 < starts.size(); ++bucket) {
        sorted.clear();
        for (std::size_t i = starts[bucket]; i < starts[bucket + 1]; ++i) sorted.push_back(tagged(columns.tags[i], columns.postings[i]));
        std::sort(sorted.begin(), sorted.end());
        for (std::size_t i = 0; i < sorted.size(); ++i) {
            columns.tags[starts[bucket] + i] = static_cast<std::uint16_t>(sorted[i] >> 32);
            columns.postings[starts[bucket] + i] = static_cast<std::uint32_t>(sorted[i]);
        }
    }
}

template <template <class> class Column>
Parts entry_at(const SsdeepColumns<Column>& columns, std::size_t at) {
    const auto letters = part_of(View<std::uint8_t>(columns.letters), columns.letter_starts[at], columns.letter_starts[at + 1]);
    const std::size_t size = columns.first_sizes[at];
    const auto first = part_of(letters, 0, std::min(size, std::size_t{ssdeep::kFirstMax}));
    return {columns.levels[at], first, part_of(letters, first.size(), first.size() + std::size_t{ssdeep::kSecondMax})};
}

class SsdeepWriter {
   public:
    SsdeepWriter() {
        columns_.documents.starts = {0};
        columns_.letter_starts = {0};
    }

    void add(const Parts& entry, View<std::int64_t> rows) {
        columns_.levels.push_back(static_cast<std::uint8_t>(entry.level));
        columns_.first_sizes.push_back(static_cast<std::uint8_t>(entry.first.size()));
        columns_.letters.insert(columns_.letters.end(), entry.first.begin(), entry.first.end());
        columns_.letters.insert(columns_.letters.end(), entry.second.begin(), entry.second.end());
        columns_.letter_starts.push_back(columns_.letters.size());
        add_documents(columns_.documents, rows);
    }

    SsdeepColumns<Owned> finish() {
        std::vector<Parts> entries;
        for (std::size_t i = 0; i < columns_.levels.size(); ++i) {
            entries.push_back(entry_at<Owned>(columns_, i));
        }
        fill_postings(columns_, entries);
        return std::move(columns_);
    }

   private:
    SsdeepColumns<Owned> columns_;
};

}  // namespace

SsdeepSegment::SsdeepSegment(const SsdeepColumns<View>& columns) : columns_(columns) {
    check_entries();
    check_documents(columns.documents, size());
    check_postings();
}

ssdeep::Parts SsdeepSegment::entry(std::size_t at) const { return entry_at<View>(columns_, at); }

void SsdeepSegment::check_entries() const {
    const auto& [documents, levels, first_sizes, starts, letters, bucket_starts, tags, postings] = columns_;
    require(first_sizes.size() == size(), "first_sizes: expected one for each level");
    check_starts(starts, size(), letters.size(), true, "letter_starts: expected where the letters of each digest begin, ascending");
    require(std::all_of(letters.begin(), letters.end(), [](std::uint8_t letter) { return letter < 64; }), "letters: expected 0 to 63");
    for (std::size_t i = 0; i < size(); ++i) {
        const std::uint64_t count = starts[i + 1] - starts[i];
        require(levels[i] < ssdeep::kLevels, "levels: expected 0 to 30");
        require(first_sizes[i] <= ssdeep::kFirstMax && first_sizes[i] <= count && count - first_sizes[i] <= ssdeep::kSecondMax,
                "first_sizes: expected up to 64 letters, and up to 32 behind them");
        require(i == 0 || entry(i - 1) < entry(i), "levels, letters: expected distinct digests in ascending order");
    }
}

// The postings are those of the entries where there are as many, and the sums of their fingerprints are equal.
void SsdeepSegment::check_postings() const {
    const auto& [documents, levels, first_sizes, letter_starts, letters, starts, tags, postings] = columns_;
    const Buckets bucket_of(postings.size());
    require(tags.size() == postings.size(), "tags: expected one per posting");
    check_starts(starts, bucket_of.count(), postings.size(), true, "bucket_starts: expected where each bucket begins, ascending");
    std::size_t missing = postings.size();
    std::uint64_t sum = 0;
    for (std::size_t bucket = 0; bucket < bucket_of.count(); ++bucket) {
        std::uint64_t before = 0;
        for (std::size_t i = starts[bucket]; i < starts[bucket + 1]; ++i) {
            const std::uint64_t here = tagged(tags[i], postings[i]);
            require(postings[i] < size() && before <= here, "postings: expected numbers of digests, ascending by tag");
            sum += fingerprint(bucket, here);
            before = here;
        }
    }
    for (std::size_t i = 0; i < size(); ++i) {
        for_each_key(entry(i), kStride, [&](std::uint64_t hash) {
            --missing;
            sum -= fingerprint(bucket_of(hash), tagged(tag_of(hash), i));
        });
    }
    require(missing == 0 && sum == 0, "postings: they are not those of the digests");
}

// Entries that may score more than 0, each once.
std::vector<std::uint32_t> SsdeepSegment::candidates(const Parts& query) const {
    std::vector<View<std::uint32_t>> lists;
    std::size_t total = 0;
    const Buckets bucket_of(columns_.postings.size());
    for_each_key(query, 1, [&](std::uint64_t hash) {
        const std::uint32_t* starts = columns_.bucket_starts.data() + bucket_of(hash);
        const Within bucket(starts[0], starts[1], columns_.tags.size());
        const auto tags = columns_.tags.begin();
        const auto [first, last] =
            std::equal_range(tags + static_cast<std::ptrdiff_t>(bucket.begin), tags + static_cast<std::ptrdiff_t>(bucket.end), tag_of(hash));
        lists.push_back(part_of(columns_.postings, static_cast<std::size_t>(first - tags), static_cast<std::size_t>(last - tags)));
        total += lists.back().size();
    });
    std::vector<std::uint32_t> found;
    constexpr std::size_t kSparse = 2048;  // sorting a posting costs as much as clearing and reading the bits of so many entries
    if (total < size() / kSparse) {
        for (const auto& list : lists) found.insert(found.end(), list.begin(), list.end());
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
        std::erase_if(found, [&](std::uint32_t entry) { return entry >= size(); });
        return found;
    }
    std::vector<std::uint64_t> marked((size() + 63) / 64);
    for (const auto& list : lists) {
        for (const std::uint32_t entry : list) {
            if (entry < size()) marked[entry / 64] |= std::uint64_t{1} << entry % 64;
        }
    }
    for (std::size_t word = 0; word < marked.size(); ++word) {
        for (std::uint64_t bits = marked[word]; bits != 0; bits &= bits - 1) {
            found.push_back(static_cast<std::uint32_t>(64 * word + static_cast<std::size_t>(std::countr_zero(bits))));
        }
    }
    return found;
}

Found SsdeepSegment::search(const Parts& query, int min_score, std::size_t limit, unsigned workers) const {
    constexpr std::size_t kBlock = 1024;  // candidates that a thread takes at a time
    const std::vector<std::uint32_t> entries = candidates(query);
    const ssdeep::Scorer scorer(query);
    const std::vector<Hit> hits = gather((entries.size() + kBlock - 1) / kBlock, workers, [&](std::size_t block, std::vector<Hit>& found) {
        for (std::size_t i = block * kBlock; i < std::min((block + 1) * kBlock, entries.size()); ++i) {
            const int score = scorer.score(entry(entries[i]));
            if (score >= min_score) found.push_back({entries[i], static_cast<std::uint32_t>(100 - score)});
        }
    });
    return best(columns_.documents, hits, limit);
}

SsdeepColumns<Owned> build(std::span<const ssdeep::Digest> digests, View<std::int64_t> rows) {
    check_new_rows(rows, digests.size());
    SsdeepWriter writer;
    sort_entries(rows, [&](std::uint32_t i) -> Parts { return digests[i]; }, [&](const Parts& entry, View<std::int64_t> equal) { writer.add(entry, equal); });
    return writer.finish();
}

SsdeepColumns<Owned> merge(std::span<const SsdeepSegment* const> segments, View<std::int64_t> removed) {
    SsdeepWriter writer;
    merge_entries(segments, removed, [&](const Parts& entry, View<std::int64_t> rows) { writer.add(entry, rows); });
    return writer.finish();
}

}  // namespace lookalike::fuzzy
