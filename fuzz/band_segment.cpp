// Segments of band keys: candidates as counting finds them, merged segments equal to built ones, damaged ones refused or safe.
#include <algorithm>
#include <map>

#include "fuzz.hpp"
#include "segments/bands.hpp"

using namespace lookalike;

namespace {

BandViews view(const BuiltBands& built) {
    return {built.shape, built.directory, built.short_rests, built.long_rests, built.groups, built.digests, built.row_offsets, built.rows};
}

bool equal(const BuiltBands& a, const BuiltBands& b) {
    return a.shape == b.shape && a.directory == b.directory && a.short_rests == b.short_rests && a.long_rests == b.long_rests && a.groups == b.groups &&
           a.digests == b.digests && a.row_offsets == b.row_offsets && a.rows == b.rows;
}

std::vector<std::pair<std::int64_t, unsigned>> search(const BandTables& tables, const std::vector<std::uint32_t>& keys, std::size_t limit) {
    BandSearcher searcher(tables);
    std::vector<std::pair<std::int64_t, unsigned>> found;
    for (const Candidate& candidate : searcher.run(keys.data(), limit)) {
        REQUIRE(candidate.group < tables.groups());
        for (const std::int64_t row : tables.rows(candidate.group)) found.emplace_back(row, candidate.shared);
    }
    std::ranges::sort(found);
    return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Feed feed(data, size);
    const std::size_t bands = fuzz::number(feed, 1, 6), count = fuzz::number(feed, 0, 40);
    const std::vector<std::int64_t> rows = fuzz::rows(feed, count);
    const std::vector<std::uint32_t> keys = fuzz::values<std::uint32_t>(feed, count * bands), query = fuzz::values<std::uint32_t>(feed, bands);
    // The digest of a document says what it holds, so equal ones have equal keys: here it is made of the keys, and sometimes of more.
    std::vector<std::uint64_t> digests(count);
    const bool distinct = feed.ConsumeBool();
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t b = 0; b < bands; ++b) digests[i] = mix(digests[i] ^ keys[i * bands + b]) + distinct * i;
    }
    BuiltBands built = build_bands(rows, digests, keys, bands);
    if (feed.ConsumeBool()) {
        std::vector<std::pair<std::int64_t, unsigned>> expected;
        for (std::size_t i = 0; i < count; ++i) {
            unsigned shared = 0;
            for (std::size_t b = 0; b < bands; ++b) shared += keys[i * bands + b] == query[b];
            if (shared) expected.emplace_back(rows[i], shared);
        }
        std::ranges::sort(expected);
        const BandTables tables(view(built));
        REQUIRE(search(tables, query, count + 1) == expected);

        const std::size_t half = count / 2;
        const std::vector<std::int64_t> gone = fuzz::some_of(feed, rows);
        std::vector<std::int64_t> left_rows;
        std::vector<std::uint64_t> left_digests;
        std::vector<std::uint32_t> left_keys;
        for (std::size_t i = 0; i < count; ++i) {
            if (std::ranges::binary_search(gone, rows[i])) continue;
            left_rows.push_back(rows[i]);
            left_digests.push_back(digests[i]);
            left_keys.insert(left_keys.end(), &keys[i * bands], &keys[i * bands] + bands);
        }
        const BuiltBands first = build_bands(std::span(rows).first(half), std::span(digests).first(half), std::span(keys).first(half * bands), bands);
        const BuiltBands second = build_bands(std::span(rows).subspan(half), std::span(digests).subspan(half), std::span(keys).subspan(half * bands), bands);
        const BandTables first_tables(view(first)), second_tables(view(second));
        REQUIRE(equal(merge_bands({&first_tables, &second_tables}, gone), build_bands(left_rows, left_digests, left_keys, bands)));
        return 0;
    }
    for (std::size_t left = fuzz::number(feed, 1, 4); left > 0; --left) {
        fuzz::damage_one(feed, built.shape, built.directory, built.short_rests, built.long_rests, built.groups, built.digests, built.row_offsets, built.rows);
    }
    try {
        const BandTables tables(view(built));
        std::vector<std::uint32_t> keys_of_query = query;
        keys_of_query.resize(tables.bands());
        search(tables, keys_of_query, fuzz::number(feed, 0, 50));
        merge_bands({&tables}, fuzz::some_of(feed, rows));
    } catch (const std::invalid_argument&) {}
    return 0;
}
