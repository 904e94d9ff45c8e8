#include "segments/hamming_near.hpp"

#include "base/dispatch.hpp"

namespace lookalike {
namespace {

using Table = NearTables::Table;

// A place whose filter fits; its entry as soon as that is known.
struct Candidate {
    std::uint32_t number, table, place;
};

// Most buckets hold few entries, some none, and no processor can foretell how many. So their places are put in one row without asking: always so
// many from the begin of the bucket on, of which the next bucket overwrites those behind the end. Longer buckets are read one by one.
constexpr std::uint32_t kShort = 8;

// The directories of a query are asked for while the buckets of one before it are, and while one before that is read. So the memory always has
// something to bring, and what it brought is still in the first-level cache when it is read.
constexpr std::size_t kAhead = 4;

struct Scratch {
    std::vector<Bucket> buckets;        // of kAhead queries
    std::vector<std::uint32_t> row;     // the places of short buckets
    std::vector<std::uint32_t> places;  // those whose filters fit
    std::vector<std::uint32_t> some;    // of short buckets, with room for as many as there may be
    std::vector<Hit> near, some_near;   // the same of codes
    std::vector<Candidate> candidates;
};

template <bool kWide>
LOOKALIKE_INLINED unsigned distance_to(const NearTables& tables, std::uint32_t entry, const Code& query) {
    const int found = std::popcount(tables.high[entry] ^ query.high) + (kWide ? std::popcount(tables.low[entry] ^ query.low) : 0);
    return static_cast<unsigned>(found);
}

template <bool kWide>
LOOKALIKE_INLINED void ask_for_code(const NearTables& tables, std::uint32_t entry) {
    __builtin_prefetch(tables.high + entry);
    if (kWide) __builtin_prefetch(tables.low + entry);
}

LOOKALIKE_INLINED void ask_for_directories(const NearTables& tables, const Code& query) {
    for (const Table& table : tables.probed()) {
        const std::uint32_t bucket = bits_at(query, table.start, table.width, tables.bits);
        for (const std::uint32_t mask : table.masks) __builtin_prefetch(table.directory + (bucket ^ mask));
    }
}

// `kAlone`: no other query gives the memory something to do meanwhile. What is likely to be read later comes at once then, rather than after another wait.
template <bool kWide, bool kAlone>
LOOKALIKE_INLINED void ask_for_buckets(const NearTables& tables, const Code& query, Bucket* out) {
    for (const Table& table : tables.probed()) {
        const std::uint32_t bucket = bits_at(query, table.start, table.width, tables.bits);
        for (const std::uint32_t mask : table.masks) {
            const std::uint32_t* const here = table.directory + (bucket ^ mask);
            const std::uint32_t begin = std::min(here[0], tables.size), end = std::max(std::min(here[1], tables.size), begin);
            *out++ = {begin, end};
            for (const std::uint32_t place : {begin, end - (end > begin)}) {
                table.filters ? __builtin_prefetch(table.filters + place) : ask_for_code<kWide>(tables, place);
                if (kAlone && table.filters) __builtin_prefetch(table.entries + place);
            }
        }
    }
}

// Puts the places of short buckets in a row, and hands the other buckets to read_long; returns how many places there are.
template <class ReadLong>
LOOKALIKE_INLINED std::size_t short_buckets(std::span<const Bucket> buckets, std::vector<std::uint32_t>& row, ReadLong&& read_long) {
    if (row.size() < buckets.size() * kShort) row.resize(buckets.size() * kShort);
    std::uint32_t* next = row.data();
    for (const Bucket bucket : buckets) {
        const std::uint32_t size = bucket.end - bucket.begin;
        if (size > kShort) {
            read_long(bucket);
            continue;
        }
        for (std::uint32_t i = 0; i < kShort; ++i) next[i] = bucket.begin + i;
        next += size;
    }
    return static_cast<std::size_t>(next - row.data());
}

template <bool kWide, bool kAlone>
LOOKALIKE_INLINED void read_code_buckets(const NearTables& tables, std::span<const Bucket> buckets, const Code& query, std::uint32_t number, Scratch& scratch,
                                         std::vector<NumberedHit>& hits) {
    scratch.near.clear();
    const std::size_t count = short_buckets(
        buckets, scratch.row, [&](const Bucket bucket) { read_codes(bucket, tables.high, kWide ? tables.low : nullptr, query, tables.k, scratch.near); });
    if (scratch.some_near.size() <= count) scratch.some_near.resize(count + 1);
    Hit* near = scratch.some_near.data();
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t entry = scratch.row[i], found = distance_to<kWide>(tables, entry, query);
        *near = {entry, found};
        near += found <= tables.k;
    }
    const auto hand_on = [&](const Hit& hit) {
        if (kAlone && tables.ids) __builtin_prefetch(tables.ids + hit.entry);
        hits.push_back({number, hit});
    };
    std::for_each(scratch.near.data(), scratch.near.data() + scratch.near.size(), hand_on);
    std::for_each(scratch.some_near.data(), near, hand_on);
}

LOOKALIKE_INLINED void read_filter_buckets(const Table& table, std::span<const Bucket> buckets, std::uint32_t filter, unsigned k, Scratch& scratch) {
    scratch.places.clear();
    const std::size_t count = short_buckets(buckets, scratch.row, [&](const Bucket bucket) { read_filters(bucket, table.filters, filter, k, scratch.places); });
    if (scratch.some.size() <= count) scratch.some.resize(count + 1);
    std::uint32_t* near = scratch.some.data();
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t place = scratch.row[i];
        *near = place;
        near += static_cast<unsigned>(std::popcount(table.filters[place] ^ filter)) <= k;
    }
    scratch.places.insert(scratch.places.end(), scratch.some.data(), near);
}

template <bool kWide, bool kAlone>
LOOKALIKE_INLINED void read_buckets(const NearTables& tables, const Bucket* buckets, const Code& query, std::uint32_t number, Scratch& scratch,
                                    std::vector<NumberedHit>& hits) {
    for (std::uint32_t t = 0; t < tables.count; ++t) {
        const Table& table = tables.all[t];
        const std::span<const Bucket> here(buckets, table.masks.size());
        buckets += here.size();
        if (!table.filters) {
            read_code_buckets<kWide, kAlone>(tables, here, query, number, scratch, hits);
            continue;
        }
        read_filter_buckets(table, here, bits_at(query, table.start + table.width, 32, tables.bits), tables.k, scratch);
        for (const std::uint32_t place : scratch.places) {
            scratch.candidates.push_back({number, t, place});
            __builtin_prefetch(table.entries + place);
        }
    }
}

// Whether a block before block t finds it too.
LOOKALIKE_INLINED bool found_before(const NearTables& tables, std::uint32_t t, const Code& a, const Code& b) {
    for (const Table& table : tables.probed().first(t)) {
        const std::uint32_t apart = bits_at(a, table.start, table.width, tables.bits) ^ bits_at(b, table.start, table.width, tables.bits);
        if (std::popcount(apart) <= table.radius()) return true;
    }
    return false;
}

template <bool kWide>
LOOKALIKE_INLINED void check_candidates(const NearTables& tables, std::span<const Code> queries, std::vector<Candidate>& candidates,
                                        std::vector<NumberedHit>& hits) {
    std::size_t count = 0;
    for (const Candidate& candidate : candidates) {
        const std::uint32_t entry = tables.all[candidate.table].entries[candidate.place];
        if (entry >= tables.size) continue;
        candidates[count++] = {candidate.number, candidate.table, entry};
        ask_for_code<kWide>(tables, entry);
    }
    candidates.resize(count);
    for (const auto& [number, t, entry] : candidates) {
        const Code &query = queries[number], code{tables.high[entry], kWide ? tables.low[entry] : 0};
        const unsigned found = distance_to<kWide>(tables, entry, query);
        if (found <= tables.k && !found_before(tables, t, code, query)) hits.push_back({number, {entry, found}});
    }
}

template <bool kWide>
LOOKALIKE_INLINED void search_one_here(const NearTables& tables, std::span<const Code> queries, Scratch& scratch, std::vector<NumberedHit>& hits) {
    ask_for_directories(tables, queries[0]);
    scratch.buckets.resize(tables.buckets());
    scratch.candidates.clear();
    ask_for_buckets<kWide, true>(tables, queries[0], scratch.buckets.data());
    read_buckets<kWide, true>(tables, scratch.buckets.data(), queries[0], 0, scratch, hits);
    check_candidates<kWide>(tables, queries, scratch.candidates, hits);
}

template <bool kWide>
LOOKALIKE_INLINED void search_here(const NearTables& tables, std::span<const Code> queries, Scratch& scratch, std::vector<NumberedHit>& hits) {
    const std::size_t each = tables.buckets();
    scratch.buckets.resize(kAhead * each);
    scratch.candidates.clear();
    const std::size_t ahead = std::min(kAhead, queries.size());
    const auto buckets_of = [&](std::size_t number) { return scratch.buckets.data() + number % ahead * each; };
    for (const Code& query : queries.first(std::min(2 * ahead, queries.size()))) ask_for_directories(tables, query);
    for (std::size_t number = 0; number < ahead; ++number) ask_for_buckets<kWide, false>(tables, queries[number], buckets_of(number));
    for (std::size_t number = 0; number < queries.size(); ++number) {
        read_buckets<kWide, false>(tables, buckets_of(number), queries[number], static_cast<std::uint32_t>(number), scratch, hits);
        if (number + ahead < queries.size()) ask_for_buckets<kWide, false>(tables, queries[number + ahead], buckets_of(number));
        if (number + 2 * ahead < queries.size()) ask_for_directories(tables, queries[number + 2 * ahead]);
    }
    check_candidates<kWide>(tables, queries, scratch.candidates, hits);
}

}  // namespace

void search_near(const NearTables& tables, std::span<const Code> queries, std::vector<NumberedHit>& hits) {
    thread_local Scratch scratch;
    if (queries.empty()) return;
    if (queries.size() == 1) {
        tables.low ? widest<search_one_here<true>>(tables, queries, scratch, hits) : widest<search_one_here<false>>(tables, queries, scratch, hits);
    } else {
        tables.low ? widest<search_here<true>>(tables, queries, scratch, hits) : widest<search_here<false>>(tables, queries, scratch, hits);
    }
}

}  // namespace lookalike
