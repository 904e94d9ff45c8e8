// Python's view of the band index, and of what verifies its candidates.
#include "base/parallel.hpp"
#include "bind/band_tables.hpp"
#include "bind/lock_turns.hpp"
#include "sketch/verify.hpp"

namespace lookalike {
namespace {

std::size_t check_bands(std::size_t bands) {
    if (bands < 1 || bands > kMaxBands) throw nb::value_error("bands: choose 1 to 65535");
    return bands;
}

template <class T>
void check_ascending(std::span<const T> values, const char* name) {
    const auto place = std::ranges::adjacent_find(values, std::ranges::greater_equal());
    if (place == values.end()) return;
    throw nb::value_error((std::string(name) + ": " + std::to_string(place[1]) + " after " + std::to_string(place[0]) + "; they must ascend").c_str());
}

Output<std::uint32_t> keys_of_bands(Input<std::uint32_t> values, std::size_t size, std::size_t bands, std::size_t rows) {
    check_banding(size, bands, rows);
    if (values.size() % size) throw nb::value_error("values: expected `size` values a sketch");
    std::vector<std::uint32_t> keys(values.size() / size * bands);
    {
        const WithoutLock released;
        band_keys(view(values), size, bands, rows, keys.data());
    }
    return give(std::move(keys));
}

using Sections = std::tuple<Output<std::uint64_t>, Output<std::uint32_t>, Output<std::uint16_t>, Output<std::uint32_t>, Output<std::uint32_t>,
                            Output<std::uint64_t>, Output<std::uint32_t>, Output<std::int64_t>>;

Sections give_sections(BuiltBands&& built) {
    return {give(std::move(built.shape)),  give(std::move(built.directory)), give(std::move(built.short_rests)), give(std::move(built.long_rests)),
            give(std::move(built.groups)), give(std::move(built.digests)),   give(std::move(built.row_offsets)), give(std::move(built.rows))};
}

Sections build(Input<std::int64_t> rows, Hashes digests, Input<std::uint32_t> keys, std::size_t bands) {
    check_bands(bands);
    if (rows.size() > kMaxBandDocuments) throw nb::value_error("rows: more than a segment holds: build several");
    if (digests.size() != rows.size()) throw nb::value_error("digests: expected one per row");
    if (keys.size() != rows.size() * bands) throw nb::value_error("keys: expected `bands` a row");
    check_ascending(view(rows), "rows");
    if (rows.size() && rows.data()[0] < 0) throw nb::value_error("rows: expected 0 or more");
    BuiltBands built;
    {
        const WithoutLock released;
        built = build_bands(view(rows), view(digests), view(keys), bands);
    }
    return give_sections(std::move(built));
}

Sections merge(const std::vector<const BandTablesOfArrays*>& segments, Input<std::int64_t> removed) {
    check_ascending(view(removed), "removed");
    if (segments.empty()) throw nb::value_error("segments: expected at least one");
    std::vector<const BandTables*> tables;
    for (const BandTablesOfArrays* segment : segments) {
        if (!segment) throw nb::type_error("segments: expected tables, found None");
        if (segment->tables().bands() != segments[0]->tables().bands()) throw nb::value_error("segments: they have different numbers of bands");
        tables.push_back(&segment->tables());
    }
    BuiltBands built;
    {
        const WithoutLock released;
        built = merge_bands(tables, view(removed));
    }
    return give_sections(std::move(built));
}

// How many distinct features each text has, and how many of them the query has too: secret ones, of this process.
std::pair<Output<std::uint32_t>, Output<std::uint32_t>> feature_overlaps(Hashes query, Bytes data, Offsets offsets, unsigned mode, bool fold, unsigned ngram,
                                                                         unsigned workers) {
    const Batch<std::uint8_t> texts(data, offsets);
    const TextOptions options = check_text(mode, fold, ngram, Seed{});
    check_workers(workers);
    check_ascending(view(query), "query");
    std::vector<std::uint32_t> common(texts.count()), sizes(texts.count());
    {
        const WithoutLock released;
        for_each_document(texts.count(), workers, [&] {
            return [&, shingler = SecretShingler(options, process_secret(), false), table = FeatureTable(view(query))](std::size_t i) mutable {
                table.start_text();
                shingler.run(texts[i], [&](const std::uint64_t*, const std::uint64_t* features, std::size_t count) { table.add(features, count); });
                common[i] = table.overlap().common;
                sizes[i] = table.overlap().size;
            };
        });
    }
    return {give(std::move(common)), give(std::move(sizes))};
}

Output<std::uint64_t> content_digests(Bytes data, Offsets offsets, unsigned mode, bool fold, unsigned workers, const Seed& seed) {
    const Batch<std::uint8_t> texts(data, offsets);
    const TextOptions options = check_text(mode, fold, 1, seed);
    check_workers(workers);
    std::vector<std::uint64_t> digests(texts.count());
    {
        const WithoutLock released;
        for_each_document(texts.count(), workers, [&] {
            return [&, digester = ContentDigester(options.mode, options.fold, options.hashing)](std::size_t i) mutable { digests[i] = digester.run(texts[i]); };
        });
    }
    return give(std::move(digests));
}

}  // namespace

void bind_bands(nb::module_& m) {
    m.def("band_keys", &keys_of_bands, "values"_a.noconvert(), "size"_a, "bands"_a, "rows"_a);
    nb::class_<BandTablesOfArrays>(m, "BandTables")
        .def(nb::init<Input<std::uint64_t>, Input<std::uint32_t>, Input<std::uint16_t>, Input<std::uint32_t>, Input<std::uint32_t>, Input<std::uint64_t>,
                      Input<std::uint32_t>, Input<std::int64_t>>(),
             "shape"_a.noconvert(), "directory"_a.noconvert(), "rests16"_a.noconvert(), "rests32"_a.noconvert(), "groups"_a.noconvert(),
             "digests"_a.noconvert(), "row_offsets"_a.noconvert(), "rows"_a.noconvert())
        .def("candidates", &BandTablesOfArrays::candidates, "keys"_a.noconvert(), "limit"_a, "workers"_a)
        .def("near", &BandTablesOfArrays::near, "keys"_a.noconvert(), "limit"_a, "rows"_a, "removed"_a.noconvert())
        .def("rows", &BandTablesOfArrays::rows, "groups"_a.noconvert(), "limit"_a)
        .def("sizes", &BandTablesOfArrays::sizes, "groups"_a.noconvert())
        .def("digests", &BandTablesOfArrays::digests, "groups"_a.noconvert());
    m.def("build_bands", &build, "rows"_a.noconvert(), "digests"_a.noconvert(), "keys"_a.noconvert(), "bands"_a);
    m.def("merge_bands", &merge, "segments"_a, "removed"_a.noconvert());
    m.def("feature_overlaps", &feature_overlaps, "query"_a.noconvert(), "data"_a.noconvert(), "offsets"_a.noconvert(), "mode"_a, "fold"_a, "ngram"_a,
          "workers"_a);
    m.def("content_digests", &content_digests, "data"_a.noconvert(), "offsets"_a.noconvert(), "mode"_a, "fold"_a, "workers"_a, "seed"_a = 0);
}

}  // namespace lookalike
