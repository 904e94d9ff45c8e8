#include "segments/hamming.hpp"

#include <array>

#include "base/dispatch.hpp"

namespace lookalike {
namespace {

constexpr unsigned kMaxRadius = 4;  // k = 16 over four blocks

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

LOOKALIKE_INLINED void probe_codes_here(const std::uint32_t* directory, std::uint32_t bucket, std::span<const std::uint32_t> masks, const std::uint64_t* high,
                                        const std::uint64_t* low, std::uint32_t size, const Code& query, unsigned k, std::vector<Hit>& hits) {
    probe_groups(directory, bucket, masks, high, sizeof *high, size,
                 [&](std::uint32_t begin, std::uint32_t end) { read_codes({begin, end}, high, low, query, k, hits); });
}

LOOKALIKE_INLINED void probe_filters_here(const std::uint32_t* directory, std::uint32_t bucket, std::span<const std::uint32_t> masks,
                                          const std::uint32_t* filters, std::uint32_t size, std::uint32_t filter, unsigned k,
                                          std::vector<std::uint32_t>& places) {
    probe_groups(directory, bucket, masks, filters, sizeof *filters, size,
                 [&](std::uint32_t begin, std::uint32_t end) { read_filters({begin, end}, filters, filter, k, places); });
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

}  // namespace

std::span<const std::uint32_t> HammingSegment::masks_within(unsigned width, unsigned radius) {
    static const std::array<Masks, 3> all = {Masks(16), Masks(21), Masks(22)};
    const Masks& masks = all[width == 16 ? 0 : width - 20];
    return {masks.all.data(), masks.ends[radius]};
}

// Whether reading everything is cheaper than the probes, or the probes would need a radius that has no masks.
bool HammingSegment::is_cheaper_to_scan(unsigned k) const {
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

// Once: every search asks. Probes become more with every bit.
void HammingSegment::find_scans() {
    for (scans_from_ = 0; !is_cheaper_to_scan(scans_from_);) ++scans_from_;
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
    if (probes_near(k)) {
        thread_local std::vector<NumberedHit> found;
        found.clear();
        search_near({&query, 1}, k, found);
        for (const NumberedHit& each : found) hits.push_back(each.hit);
        return;
    }
    const auto all = static_cast<std::uint32_t>(size());
    thread_local std::vector<std::uint32_t> places;
    for (unsigned t = 0; t < tables_.size(); ++t) {
        const int radius = radius_of(t, k);
        if (radius < 0) break;
        const Table& table = tables_[t];
        const std::uint32_t bucket = bits_at(query, table.start, table.width, bits_);
        const std::span<const std::uint32_t> masks = masks_within(table.width, static_cast<unsigned>(radius));
        if (t == 0) {
            widest<probe_codes_here>(table.directory.data(), bucket, masks, high_.data(), low, all, query, k, hits);
            continue;
        }
        places.clear();
        const std::uint32_t filter = bits_at(query, table.start + table.width, 32, bits_);
        widest<probe_filters_here>(table.directory.data(), bucket, masks, table.filters.data(), all, filter, k, places);
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
        if (table.start) return __builtin_prefetch(table.filters.data() + place);
        __builtin_prefetch(high_.data() + place);
        if (bits_ == 128) __builtin_prefetch(low_.data() + place);
    });
}

void HammingSegment::search_together(std::span<const Code> queries, unsigned k, std::vector<NumberedHit>& hits) const {
    if (size() == 0) return;
    if (reads_few_buckets(k)) return search_near(queries, k, hits);
    // One after the other: while a query is answered, the nearest buckets of a later one are on their way from memory.
    constexpr std::size_t kAhead = 3;
    std::vector<Hit> found;
    for (const Code& query : queries) prefetch_directories(query, k);
    for (std::uint32_t number = 0; number < queries.size(); ++number) {
        if (number + kAhead < queries.size()) prefetch_buckets(queries[number + kAhead], k);
        found.clear();
        search(queries[number], k, found);
        for (const Hit& hit : found) hits.push_back({number, hit});
    }
}

void HammingSegment::search_near(std::span<const Code> queries, unsigned k, std::vector<NumberedHit>& hits) const {
    const std::uint32_t* const ids = repeated_.size() == 0 && small_.size() ? small_.data() : nullptr;
    NearTables near{{}, 0, high_.data(), bits_ == 128 ? low_.data() : nullptr, ids, static_cast<std::uint32_t>(size()), bits_, k};
    for (unsigned t = 0; t < tables_.size() && radius_of(t, k) >= 0; ++t) {
        const Table& table = tables_[t];
        const auto masks = masks_within(table.width, static_cast<unsigned>(radius_of(t, k)));
        near.all[near.count++] = {table.start, table.width, table.directory.data(), table.entries.data(), table.filters.data(), masks};
    }
    lookalike::search_near(near, queries, hits);
}

}  // namespace lookalike
