// The band index over arrays of Python.
#pragma once

#include "base/parallel.hpp"
#include "bind/bind.hpp"
#include "bind/lock_turns.hpp"
#include "segments/bands.hpp"

namespace lookalike {

// Tables over arrays of Python, which live as long as this does.
class BandTablesOfArrays {
   public:
    BandTablesOfArrays(Input<std::uint64_t> shape, Input<std::uint32_t> directory, Input<std::uint16_t> short_rests, Input<std::uint32_t> long_rests,
                       Input<std::uint32_t> groups, Input<std::uint64_t> digests, Input<std::uint32_t> row_offsets, Input<std::int64_t> rows)
        : columns_{shape, directory, short_rests, long_rests, groups, digests, row_offsets, rows}, tables_(checked()) {}

    const BandTables& tables() const { return tables_; }

    // Offsets, groups and shared bands of the candidates of each query, and how many each had before the limit.
    std::tuple<Output<std::int64_t>, Output<std::uint32_t>, Output<std::uint16_t>, Output<std::int64_t>> candidates(Input<std::uint32_t> keys,
                                                                                                                    std::size_t limit, unsigned workers) const {
        check_workers(workers);
        if (keys.size() % tables_.bands()) throw nb::value_error("keys: expected as many a query as the segment has bands");
        const std::size_t queries = keys.size() / tables_.bands();
        std::vector<std::int64_t> offsets{0}, totals(queries);
        std::vector<std::uint32_t> groups;
        std::vector<std::uint16_t> shared;
        {
            const WithoutLock released;
            std::vector<std::vector<Candidate>> found(queries);
            for_each_document(queries, workers, [&] {
                return [&, searcher = BandSearcher(tables_)](std::size_t i) mutable {
                    const std::span candidates = searcher.run(keys.data() + i * tables_.bands(), limit);
                    found[i].assign(candidates.begin(), candidates.end());
                    totals[i] = static_cast<std::int64_t>(searcher.total());
                };
            });
            for (const auto& candidates : found) {
                for (const Candidate& candidate : candidates) {
                    groups.push_back(candidate.group);
                    shared.push_back(candidate.shared);
                }
                offsets.push_back(static_cast<std::int64_t>(groups.size()));
            }
        }
        return {give(std::move(offsets)), give(std::move(groups)), give(std::move(shared)), give(std::move(totals))};
    }

    // Offsets and rows of groups, at most `limit` of each.
    std::pair<Output<std::int64_t>, Output<std::int64_t>> rows(Input<std::uint32_t> groups, std::size_t limit) const {
        std::vector<std::int64_t> offsets{0}, rows;
        offsets.reserve(groups.size() + 1);
        for (const std::uint32_t group : view(groups)) {
            const std::span own = tables_.rows(check_group(group));
            rows.insert(rows.end(), own.begin(), own.begin() + static_cast<std::ptrdiff_t>(std::min(limit, own.size())));
            offsets.push_back(static_cast<std::int64_t>(rows.size()));
        }
        return {give(std::move(offsets)), give(std::move(rows))};
    }

    // All that one query needs in one call: see near_groups.
    std::pair<std::size_t, nb::list> near(Input<std::uint32_t> keys, std::size_t limit, std::size_t most, Input<std::int64_t> removed) const {
        if (keys.size() != tables_.bands()) throw nb::value_error("keys: expected those of one query, as many as the segment has bands");
        std::vector<NearGroup> found;
        std::size_t total = 0;
        {
            const WithoutLock released;
            total = near_groups(tables_, keys.data(), limit, most, {view(removed), {}}, found);
        }
        nb::list given;
        for (const NearGroup& one : found) {
            nb::list rows;
            for (const std::int64_t row : one.rows) rows.append(row);
            given.append(nb::make_tuple(one.shared, one.digest, one.size, rows));
        }
        return {total, given};
    }

    Output<std::int64_t> sizes(Input<std::uint32_t> groups) const {
        std::vector<std::int64_t> sizes;
        sizes.reserve(groups.size());
        for (const std::uint32_t group : view(groups)) sizes.push_back(static_cast<std::int64_t>(tables_.rows(check_group(group)).size()));
        return give(std::move(sizes));
    }

    Output<std::uint64_t> digests(Input<std::uint32_t> groups) const {
        std::vector<std::uint64_t> digests;
        digests.reserve(groups.size());
        for (const std::uint32_t group : view(groups)) digests.push_back(tables_.digests()[check_group(group)]);
        return give(std::move(digests));
    }

   private:
    BandTables checked() const {
        const BandViews views{view(columns_.shape),  view(columns_.directory), view(columns_.short_rests), view(columns_.long_rests),
                              view(columns_.groups), view(columns_.digests),   view(columns_.row_offsets), view(columns_.rows)};
        const WithoutLock released;
        return BandTables(views);
    }

    std::uint32_t check_group(std::uint32_t group) const {
        if (group < tables_.groups()) return group;
        throw nb::value_error(("groups: " + std::to_string(group) + ", but the segment has " + std::to_string(tables_.groups())).c_str());
    }

    BandColumns<Input> columns_;
    BandTables tables_;
};

}  // namespace lookalike
