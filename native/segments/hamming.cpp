#include "segments/hamming.hpp"

#include <array>
#include <limits>
#include <stdexcept>

#include "base/dispatch.hpp"
#include "base/parallel.hpp"

namespace lookalike {
namespace {

constexpr unsigned kMaxRadius = 4;                     // k = 16 over four blocks
constexpr std::size_t kNarrowBlocksAbove = 8'000'000;  // from here on three wider blocks of 64 bits need fewer bytes and probes
constexpr std::size_t kTablesFrom = 4096;              // below, reading all codes is faster than probing, and 1 MB of directories saved

// `count` bits (up to 32) from bit `start` on, counted from the top, going on at the top after the last bit.
std::uint32_t bits_at(const Code& code, unsigned start, unsigned count, unsigned bits) {
    if (bits <= 64) {
        const std::uint64_t word = bits == 64 ? code.high : code.high | code.high >> 32;
        return static_cast<std::uint32_t>(std::rotl(word, static_cast<int>(start % 64)) >> (64 - count));
    }
    start %= 128;
    const std::uint64_t first = start < 64 ? code.high : code.low, second = start < 64 ? code.low : code.high;
    const unsigned shift = start % 64;
    const std::uint64_t window = shift == 0 ? first : first << shift | second >> (64 - shift);
    return static_cast<std::uint32_t>(window >> (64 - count));
}

std::vector<unsigned> block_widths(unsigned bits, std::size_t size) {
    if (size < kTablesFrom) return {};
    if (bits == 32) return {16, 16};
    if (bits == 128) return std::vector<unsigned>(8, 16);
    if (size > kNarrowBlocksAbove) return {22, 21, 21};
    return {16, 16, 16, 16};
}

LOOKALIKE_INLINED void scan_here(const std::uint64_t* high, const std::uint64_t* low, std::size_t first, std::size_t end, const Code& query, unsigned k,
                                 std::vector<Hit>& hits) {
    for (std::size_t i = first; i < end; ++i) {
        const int found = std::popcount(high[i] ^ query.high) + (low ? std::popcount(low[i] ^ query.low) : 0);
        if (found <= static_cast<int>(k)) hits.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(found)});
    }
}

void scan(const std::uint64_t* high, const std::uint64_t* low, std::size_t first, std::size_t end, const Code& query, unsigned k, std::vector<Hit>& hits) {
    return widest<scan_here>(high, low, first, end, query, k, hits);
}

// Buckets are probed in groups: while one group is read, the directory entries of the next are on their way from memory.
constexpr std::size_t kGroup = 16;

template <class Read>
[[gnu::always_inline]] inline void probe_groups(const std::uint32_t* directory, std::uint32_t bucket, std::span<const std::uint32_t> masks, const void* column,
                                                std::size_t width, std::uint32_t size, Read&& read) {
    std::uint32_t begins[kGroup], ends[kGroup];
    for (std::size_t first = 0; first < masks.size(); first += kGroup) {
        const std::size_t count = std::min(kGroup, masks.size() - first);
        for (std::size_t g = 0; g < count; ++g) {
            const std::uint32_t probed = bucket ^ masks[first + g];
            begins[g] = std::min(directory[probed], size);
            ends[g] = std::min(directory[probed + 1], size);
            __builtin_prefetch(static_cast<const char*>(column) + begins[g] * width);
        }
        for (std::size_t next = first + kGroup; next < std::min(first + 2 * kGroup, masks.size()); ++next) {
            __builtin_prefetch(directory + (bucket ^ masks[next]));
        }
        for (std::size_t g = 0; g < count; ++g) read(begins[g], ends[g]);
    }
}

// The first table's entries are the codes themselves.
LOOKALIKE_INLINED void probe_codes_here(const std::uint32_t* directory, std::uint32_t bucket, std::span<const std::uint32_t> masks, const std::uint64_t* high,
                                        const std::uint64_t* low, std::uint32_t size, const Code& query, unsigned k, std::vector<Hit>& hits) {
    probe_groups(directory, bucket, masks, high, sizeof *high, size, [&](std::uint32_t begin, std::uint32_t end) {
        for (std::uint32_t i = begin; i < end; ++i) {
            const int found = std::popcount(high[i] ^ query.high) + (low ? std::popcount(low[i] ^ query.low) : 0);
            if (found <= static_cast<int>(k)) hits.push_back({i, static_cast<std::uint32_t>(found)});
        }
    });
}

void probe_codes(const std::uint32_t* directory, std::uint32_t bucket, std::span<const std::uint32_t> masks, const std::uint64_t* high,
                 const std::uint64_t* low, std::uint32_t size, const Code& query, unsigned k, std::vector<Hit>& hits) {
    return widest<probe_codes_here>(directory, bucket, masks, high, low, size, query, k, hits);
}

// Places whose filter is within k of the query's.
LOOKALIKE_INLINED void probe_filters_here(const std::uint32_t* directory, std::uint32_t bucket, std::span<const std::uint32_t> masks,
                                          const std::uint32_t* filters, std::uint32_t size, std::uint32_t filter, unsigned k,
                                          std::vector<std::uint32_t>& places) {
    probe_groups(directory, bucket, masks, filters, sizeof *filters, size, [&](std::uint32_t begin, std::uint32_t end) {
        constexpr std::uint32_t kSmall = 16;
        if (begin >= end) return;
        if (end - begin <= kSmall) {
            for (std::uint32_t i = begin; i < end; ++i) {
                if (static_cast<unsigned>(std::popcount(filters[i] ^ filter)) <= k) places.push_back(i);
            }
            return;
        }
        // A hot bucket is read in blocks, without a branch: few entries pass, and none is worth a misprediction.
        constexpr std::uint32_t kBlock = 512;
        std::uint32_t passed[kBlock];
        for (std::uint32_t first = begin; first < end; first += kBlock) {
            const std::uint32_t block = std::min(kBlock, end - first);
            std::size_t count = 0;
            for (std::uint32_t i = 0; i < block; ++i) {
                passed[count] = first + i;
                count += static_cast<unsigned>(std::popcount(filters[first + i] ^ filter)) <= k;
            }
            places.insert(places.end(), passed, passed + count);
        }
    });
}

void probe_filters(const std::uint32_t* directory, std::uint32_t bucket, std::span<const std::uint32_t> masks, const std::uint32_t* filters, std::uint32_t size,
                   std::uint32_t filter, unsigned k, std::vector<std::uint32_t>& places) {
    return widest<probe_filters_here>(directory, bucket, masks, filters, size, filter, k, places);
}

struct Places {
    std::uint32_t left, right;
};

// Hands every pair of places in a bucket and in the one that differs from it by the mask to close(left, right), once.
template <class Close>
[[gnu::always_inline]] inline void join_buckets(const std::uint32_t* directory, std::uint32_t first, std::uint32_t end, std::uint32_t mask, std::uint32_t size,
                                                std::vector<Places>& out, Close&& close) {
    for (std::uint32_t bucket = first; bucket < end; ++bucket) {
        const std::uint32_t other = bucket ^ mask;
        if (other < bucket) continue;
        const std::uint32_t left_end = std::min(directory[bucket + 1], size), right_begin = directory[other];
        const std::uint32_t right_end = std::min(directory[other + 1], size);
        for (std::uint32_t left = directory[bucket]; left < left_end; ++left) {
            for (std::uint32_t right = mask ? right_begin : left + 1; right < right_end; ++right) {
                if (close(left, right)) out.push_back({left, right});
            }
        }
    }
}

LOOKALIKE_INLINED void join_codes_here(const std::uint32_t* directory, std::uint32_t first, std::uint32_t end, std::uint32_t mask, const std::uint64_t* high,
                                       const std::uint64_t* low, std::uint32_t size, unsigned k, std::vector<Places>& out) {
    join_buckets(directory, first, end, mask, size, out, [&](std::uint32_t a, std::uint32_t b) {
        return std::popcount(high[a] ^ high[b]) + (low ? std::popcount(low[a] ^ low[b]) : 0) <= static_cast<int>(k);
    });
}

void join_codes(const std::uint32_t* directory, std::uint32_t first, std::uint32_t end, std::uint32_t mask, const std::uint64_t* high, const std::uint64_t* low,
                std::uint32_t size, unsigned k, std::vector<Places>& out) {
    return widest<join_codes_here>(directory, first, end, mask, high, low, size, k, out);
}

LOOKALIKE_INLINED void join_filters_here(const std::uint32_t* directory, std::uint32_t first, std::uint32_t end, std::uint32_t mask,
                                         const std::uint32_t* filters, std::uint32_t size, unsigned k, std::vector<Places>& out) {
    join_buckets(directory, first, end, mask, size, out,
                 [&](std::uint32_t a, std::uint32_t b) { return static_cast<unsigned>(std::popcount(filters[a] ^ filters[b])) <= k; });
}

void join_filters(const std::uint32_t* directory, std::uint32_t first, std::uint32_t end, std::uint32_t mask, const std::uint32_t* filters, std::uint32_t size,
                  unsigned k, std::vector<Places>& out) {
    return widest<join_filters_here>(directory, first, end, mask, filters, size, k, out);
}

void add_masks(unsigned width, unsigned left, unsigned from, std::uint32_t mask, std::vector<std::uint32_t>& masks) {
    if (left == 0) return masks.push_back(mask);
    for (unsigned bit = from; bit + left <= width; ++bit) add_masks(width, left - 1, bit + 1, mask | 1u << bit, masks);
}

struct Masks {
    explicit Masks(unsigned width) {
        for (unsigned radius = 0; radius <= kMaxRadius; ++radius) {
            add_masks(width, radius, 0, 0, all);
            ends[radius] = all.size();
        }
    }
    std::vector<std::uint32_t> all;
    std::array<std::size_t, kMaxRadius + 1> ends;  // how many patterns have at most so many bits
};

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

void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(std::string("fingerprint segment: ") + what);
}

}  // namespace

std::span<const std::uint32_t> HammingSegment::masks_within(unsigned width, unsigned radius) {
    static const Masks of16(16), of21(21), of22(22);
    const Masks& masks = width == 16 ? of16 : width == 21 ? of21 : of22;
    return {masks.all.data(), masks.ends[radius]};
}

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
        require(found != columns.end(), ("the column " + name + " is missing").c_str());
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
    require(segment.size() < std::numeric_limits<std::uint32_t>::max(), "too many codes");
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
    require(narrow.empty() && wide.empty(), "there are columns that do not belong here");
    segment.check();
    return segment;
}

void HammingSegment::check() const {
    require(bits_ != 128 || low_.size() == size(), "the halves of the codes differ in number");
    for (std::size_t i = 1; i < size(); ++i) require(code(i - 1) < code(i), "the codes are not in order");
    require(bits_ != 32 || std::all_of(high_.view().begin(), high_.view().end(), [](std::uint64_t code) { return code << 32 == 0; }),
            "a code has more than 32 bits");
    require(extra_.size() == repeated_.size(), "the entries with several ids do not fit");
    for (std::size_t i = 0; i < repeated_.size(); ++i) {
        require(repeated_[i] < size() && (i == 0 || repeated_[i - 1] < repeated_[i]), "the entries with several ids are not in order");
        require(i == 0 ? extra_[i] > 0 : extra_[i - 1] < extra_[i], "the entries with several ids have none");
    }
    require(ids() == size() + (extra_.size() ? extra_[extra_.size() - 1] : 0), "the number of ids is wrong");
    for (const Table& table : tables_) {
        require(table.directory.size() == (std::size_t{1} << table.width) + 1, "a directory has the wrong size");
        require(table.directory[0] == 0 && table.directory[table.directory.size() - 1] == size(), "a directory does not cover the entries");
        bool ascends = true;
        for (std::size_t b = 1; b < table.directory.size(); ++b) ascends &= table.directory[b - 1] <= table.directory[b];
        require(ascends, "a directory is not in order");
        if (table.start == 0) continue;
        require(table.entries.size() == size() && table.filters.size() == size(), "a table has the wrong size");
        bool within = true;
        for (const std::uint32_t entry : table.entries.view()) within &= entry < size();
        require(within, "a table names entries that do not exist");
    }
}

std::size_t HammingSegment::bytes() const {
    std::size_t total = 0;
    columns([&](const std::string&, auto column) { total += column.size_bytes(); }, [&](const std::string&, auto column) { total += column.size_bytes(); });
    return total;
}

// Whether reading everything is cheaper than the probes, or the probes would need a radius that has no masks.
bool HammingSegment::scans(unsigned k) const {
    if (tables_.empty()) return true;
    std::size_t work = 0;
    for (unsigned t = 0; t < tables_.size(); ++t) {
        const int radius = radius_of(t, k);
        if (radius < 0) break;
        if (radius > static_cast<int>(kMaxRadius)) return true;
        const std::size_t probes = masks_within(tables_[t].width, static_cast<unsigned>(radius)).size();
        constexpr std::size_t kProbe = 24;  // a probe costs about as much as reading so many codes
        work += probes * (kProbe + (size() >> tables_[t].width));
    }
    return work > size();
}

bool HammingSegment::found_before(unsigned t, const Code& a, const Code& b, unsigned k) const {
    for (unsigned s = 0; s < t; ++s) {
        const Table& table = tables_[s];
        const std::uint32_t difference = bits_at(a, table.start, table.width, bits_) ^ bits_at(b, table.start, table.width, bits_);
        if (std::popcount(difference) <= radius_of(s, k)) return true;
    }
    return false;
}

void HammingSegment::join(unsigned t, std::uint32_t first, std::uint32_t end, std::uint32_t mask, unsigned k, std::vector<Pair>& found) const {
    const Table& table = tables_[t];
    const auto all = static_cast<std::uint32_t>(size());
    thread_local std::vector<Places> close;
    close.clear();
    if (t == 0) {
        join_codes(table.directory.data(), first, end, mask, high_.data(), bits_ == 128 ? low_.data() : nullptr, all, k, close);
    } else {
        join_filters(table.directory.data(), first, end, mask, table.filters.data(), all, k, close);
    }
    for (const Places& places : close) {
        const std::uint32_t a = t ? table.entries[places.left] : places.left, b = t ? table.entries[places.right] : places.right;
        if (a >= all || b >= all) continue;
        const unsigned apart = distance(code(a), code(b));
        if (apart <= k && !found_before(t, code(a), code(b), k)) found.push_back({std::min(a, b), std::max(a, b), apart});
    }
}

void HammingSegment::search(const Code& query, unsigned k, std::vector<Hit>& hits) const {
    if (size() == 0) return;
    const std::uint64_t* low = bits_ == 128 ? low_.data() : nullptr;
    if (scans(k)) return scan(high_.data(), low, 0, size(), query, k, hits);
    const auto all = static_cast<std::uint32_t>(size());
    thread_local std::vector<std::uint32_t> places;
    for (unsigned t = 0; t < tables_.size(); ++t) {
        const int radius = radius_of(t, k);
        if (radius < 0) break;
        const Table& table = tables_[t];
        const std::uint32_t bucket = bits_at(query, table.start, table.width, bits_);
        const std::span<const std::uint32_t> masks = masks_within(table.width, static_cast<unsigned>(radius));
        if (t == 0) {
            probe_codes(table.directory.data(), bucket, masks, high_.data(), low, all, query, k, hits);
            continue;
        }
        places.clear();
        probe_filters(table.directory.data(), bucket, masks, table.filters.data(), all, bits_at(query, table.start + table.width, 32, bits_), k, places);
        for (const std::uint32_t place : places) {
            const std::uint32_t entry = table.entries[place];
            if (entry >= all) continue;
            const unsigned found = distance(code(entry), query);
            if (found <= k && !found_before(t, code(entry), query, k)) hits.push_back({entry, found});
        }
    }
}

// Calls visit(table, bucket) for the buckets that a search reads, those of few flipped bits at least.
template <class Visit>
void HammingSegment::for_near_buckets(const Code& query, unsigned k, Visit&& visit) const {
    constexpr unsigned kNear = 1;  // within two bits there are hundreds: more than a processor waits for at a time
    for (unsigned t = 0; t < tables_.size() && radius_of(t, k) >= 0; ++t) {
        const Table& table = tables_[t];
        const std::uint32_t bucket = bits_at(query, table.start, table.width, bits_);
        for (const std::uint32_t mask : masks_within(table.width, std::min(kNear, static_cast<unsigned>(radius_of(t, k))))) visit(table, bucket ^ mask);
    }
}

void HammingSegment::prefetch_directories(const Code& query, unsigned k) const {
    for_near_buckets(query, k, [](const Table& table, std::uint32_t bucket) { __builtin_prefetch(table.directory.data() + bucket); });
}

void HammingSegment::prefetch_buckets(const Code& query, unsigned k) const {
    for_near_buckets(query, k, [&](const Table& table, std::uint32_t bucket) {
        const std::size_t place = std::min<std::size_t>(table.directory[bucket], size());
        if (table.start == 0) {
            __builtin_prefetch(high_.data() + place);
            if (bits_ == 128) __builtin_prefetch(low_.data() + place);
        } else {
            __builtin_prefetch(table.filters.data() + place);
        }
    });
}

}  // namespace lookalike
