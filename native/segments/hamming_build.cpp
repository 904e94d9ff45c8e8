// Segments of fingerprints built, opened and checked; hamming.cpp searches them.
#include <limits>
#include <stdexcept>

#include "base/parallel.hpp"
#include "segments/hamming.hpp"

namespace lookalike {
namespace {

constexpr std::size_t kNarrowBlocksAbove = 8'000'000;  // from here on three wider blocks of 64 bits need fewer bytes and probes
constexpr std::size_t kTablesFrom = 4096;              // below, reading all codes is faster than probing, and 1 MB of directories saved

std::vector<unsigned> block_widths(unsigned bits, std::size_t size) {
    if (size < kTablesFrom) return {};
    if (bits == 32) return {16, 16};
    if (bits == 128) return std::vector<unsigned>(8, 16);
    if (size > kNarrowBlocksAbove) return {22, 21, 21};
    return {16, 16, 16, 16};
}

struct Record64 {
    std::uint64_t high;
    std::int64_t id;
    auto operator<=>(const Record64&) const = default;
    Code code() const { return {high, 0}; }
};

struct Record128 {
    std::uint64_t high, low;
    std::int64_t id;
    auto operator<=>(const Record128&) const = default;
    Code code() const { return {high, low}; }
};

// Threads that build a segment: all there are for a large one, which takes a second, and none but this for others.
unsigned workers_for(std::size_t size) {
    constexpr std::size_t kLarge = 1'000'000;
    return size < kLarge ? 1 : std::clamp(std::thread::hardware_concurrency(), 1u, 8u);
}

// Records by code, then by id: first into buckets by their top bits, then each bucket in the cache.
template <class Record, class Make>
Buffer<Record> sorted_records(std::size_t size, Make&& make) {
    constexpr std::size_t kWorthBuckets = 1 << 14, kInBucket = 128;
    Buffer<Record> records(size);
    if (size < kWorthBuckets) {
        for (std::size_t i = 0; i < size; ++i) records[i] = make(i);
        std::sort(records.begin(), records.end());
        return records;
    }
    const unsigned width = std::min(16u, static_cast<unsigned>(std::bit_width(size / kInBucket)));
    std::vector<std::size_t> next((std::size_t{1} << width) + 1, 0);
    for (std::size_t i = 0; i < size; ++i) ++next[(make(i).high >> (64 - width)) + 1];
    for (std::size_t b = 1; b < next.size(); ++b) next[b] += next[b - 1];
    for (std::size_t i = 0; i < size; ++i) {
        const Record record = make(i);
        records[next[record.high >> (64 - width)]++] = record;
    }
    // next[b] is now where bucket b ends.
    for_each_document(next.size() - 1, workers_for(size), [&] {
        return [&](std::size_t b) {
            const auto begin = static_cast<std::ptrdiff_t>(b ? next[b - 1] : 0);
            std::sort(records.begin() + begin, records.begin() + static_cast<std::ptrdiff_t>(next[b]));
        };
    });
    return records;
}

void expect(bool holds, const char* what) {
    if (!holds) refuse(std::string("fingerprint segment: ") + what);
}

}  // namespace

HammingSegment HammingSegment::build(std::span<const std::uint64_t> words, std::span<const std::int64_t> ids, unsigned bits) {
    if (ids.size() >= std::numeric_limits<std::uint32_t>::max()) throw std::length_error("a segment holds at most 4 Gi entries");
    HammingSegment segment(bits);
    Buffer<std::uint64_t> high, low, large;
    Buffer<std::uint32_t> repeated, extra, small;
    const bool narrow = std::all_of(ids.begin(), ids.end(), [](std::int64_t id) { return id >= 0 && id <= std::numeric_limits<std::uint32_t>::max(); });
    const auto fill = [&](const auto& records) {
        high.reserve(records.size());
        if (bits == 128) low.reserve(records.size());
        narrow ? small.reserve(records.size()) : large.reserve(records.size());
        std::uint32_t more = 0;
        for (std::size_t i = 0; i < records.size(); ++i) {
            const Code code = records[i].code();
            if (i && code == records[i - 1].code()) {
                ++more;
                const auto entry = static_cast<std::uint32_t>(high.size() - 1);
                if (repeated.empty() || repeated.back() != entry) {
                    repeated.push_back(entry);
                    extra.push_back(more);
                }
                extra.back() = more;
            } else {
                high.push_back(code.high);
                if (bits == 128) low.push_back(code.low);
            }
            narrow ? small.push_back(static_cast<std::uint32_t>(records[i].id)) : large.push_back(static_cast<std::uint64_t>(records[i].id));
        }
    };
    if (bits == 128) {
        fill(sorted_records<Record128>(ids.size(), [&](std::size_t i) { return Record128{words[2 * i + 1], words[2 * i], ids[i]}; }));
    } else {
        const int shift = bits == 32 ? 32 : 0;
        fill(sorted_records<Record64>(ids.size(), [&](std::size_t i) { return Record64{words[i] << shift, ids[i]}; }));
    }
    if (high.size() < high.capacity() / 2) high.shrink_to_fit();  // many copies
    segment.high_ = std::move(high);
    segment.low_ = std::move(low);
    segment.small_ = std::move(small);
    segment.large_ = std::move(large);
    segment.repeated_ = std::move(repeated);
    segment.extra_ = std::move(extra);
    segment.build_tables();
    segment.find_scans();
    return segment;
}

void HammingSegment::build_tables() {
    unsigned start = 0;
    for (const unsigned width : block_widths(bits_, size())) {
        tables_.push_back(Table{start, width, {}, {}, {}});
        start += width;
    }
    for_each_document(tables_.size(), workers_for(size()), [&] { return [&](std::size_t t) { fill_table(tables_[t]); }; });
}

// Entries are first spread over parts by the top bits of their block, so that each part is put in order inside the cache.
void HammingSegment::fill_table(Table& table) {
    Buffer<std::uint32_t> directory((std::size_t{1} << table.width) + 1, 0);
    const auto bucket_of = [&](std::size_t i) { return bits_at(code(i), table.start, table.width, bits_); };
    if (table.start == 0) {
        for (std::size_t i = 0; i < size(); ++i) ++directory[bucket_of(i) + 1];
        for (std::size_t b = 1; b < directory.size(); ++b) directory[b] += directory[b - 1];
        table.directory = std::move(directory);
        return;
    }
    struct Item {
        std::uint32_t bucket, entry, filter;
    };
    constexpr unsigned kPartBits = 8;
    const unsigned shift = table.width - kPartBits;
    std::vector<std::uint32_t> part_ends((1 << kPartBits) + 1, 0);
    for (std::size_t i = 0; i < size(); ++i) ++part_ends[(bucket_of(i) >> shift) + 1];
    for (std::size_t p = 1; p < part_ends.size(); ++p) part_ends[p] += part_ends[p - 1];
    Buffer<Item> items(size());
    for (std::size_t i = 0; i < size(); ++i) {
        const std::uint32_t bucket = bucket_of(i);
        items[part_ends[bucket >> shift]++] = {bucket, static_cast<std::uint32_t>(i), bits_at(code(i), table.start + table.width, 32, bits_)};
    }
    Buffer<std::uint32_t> entries(size()), filters(size());
    for (std::size_t part = 0, begin = 0; part + 1 < part_ends.size(); begin = part_ends[part++]) {
        const std::span<const Item> here(items.data() + begin, part_ends[part] - begin);
        std::uint32_t* counts = directory.data() + (part << shift);
        for (const Item& item : here) ++counts[item.bucket - (part << shift) + 1];
        // The first count of a part is where the part begins: it was the end of the part before.
        for (std::size_t b = 0; b < std::size_t{1} << shift; ++b) counts[b + 1] += counts[b];
        std::vector<std::uint32_t> next(counts, counts + (std::size_t{1} << shift));
        for (const Item& item : here) {
            const std::uint32_t place = next[item.bucket - (part << shift)]++;
            entries[place] = item.entry;
            filters[place] = item.filter;
        }
    }
    table.directory = std::move(directory);
    table.entries = std::move(entries);
    table.filters = std::move(filters);
}

HammingSegment HammingSegment::open(unsigned bits, std::map<std::string, Column32> narrow, std::map<std::string, Column64> wide) {
    HammingSegment segment(bits);
    const auto take = [](auto& columns, const std::string& name) {
        const auto found = columns.find(name);
        expect(found != columns.end(), ("the column " + name + " is missing").c_str());
        auto column = std::move(found->second);
        columns.erase(found);
        return column;
    };
    segment.high_ = take(wide, "codes");
    if (bits == 128) segment.low_ = take(wide, "low");
    if (wide.contains("ids64")) {
        segment.large_ = take(wide, "ids64");
    } else {
        segment.small_ = take(narrow, "ids32");
    }
    segment.repeated_ = take(narrow, "repeated");
    segment.extra_ = take(narrow, "extra");
    expect(segment.size() < std::numeric_limits<std::uint32_t>::max(), "too many codes");
    unsigned start = 0;
    for (const unsigned width : block_widths(bits, segment.size())) {
        const std::string number = std::to_string(segment.tables_.size());
        Table table{start, width, take(narrow, "directory" + number), {}, {}};
        if (start) {
            table.entries = take(narrow, "entries" + number);
            table.filters = take(narrow, "filters" + number);
        }
        segment.tables_.push_back(std::move(table));
        start += width;
    }
    expect(narrow.empty() && wide.empty(), "there are columns that do not belong here");
    segment.check();
    segment.find_scans();
    return segment;
}

void HammingSegment::check() const {
    expect(bits_ != 128 || low_.size() == size(), "the halves of the codes differ in number");
    for (std::size_t i = 1; i < size(); ++i) expect(code(i - 1) < code(i), "the codes are not in order");
    expect(bits_ != 32 || std::all_of(high_.view().begin(), high_.view().end(), [](std::uint64_t code) { return code << 32 == 0; }),
           "a code has more than 32 bits");
    expect(extra_.size() == repeated_.size(), "the entries with several ids do not fit");
    for (std::size_t i = 0; i < repeated_.size(); ++i) {
        expect(repeated_[i] < size() && (i == 0 || repeated_[i - 1] < repeated_[i]), "the entries with several ids are not in order");
        expect(i == 0 ? extra_[i] > 0 : extra_[i - 1] < extra_[i], "the entries with several ids have none");
    }
    expect(ids() == size() + (extra_.size() ? extra_[extra_.size() - 1] : 0), "the number of ids is wrong");
    for (const Table& table : tables_) {
        expect(table.directory.size() == (std::size_t{1} << table.width) + 1, "a directory has the wrong size");
        expect(table.directory[0] == 0 && table.directory[table.directory.size() - 1] == size(), "a directory does not cover the entries");
        bool ascends = true;
        for (std::size_t b = 1; b < table.directory.size(); ++b) ascends &= table.directory[b - 1] <= table.directory[b];
        expect(ascends, "a directory is not in order");
        if (table.start == 0) continue;
        expect(table.entries.size() == size() && table.filters.size() == size(), "a table has the wrong size");
        bool within = true;
        for (const std::uint32_t entry : table.entries.view()) within &= entry < size();
        expect(within, "a table names entries that do not exist");
    }
}

std::size_t HammingSegment::bytes() const {
    std::size_t total = 0;
    columns([&](const std::string&, auto column) { total += column.size_bytes(); }, [&](const std::string&, auto column) { total += column.size_bytes(); });
    return total;
}

}  // namespace lookalike
