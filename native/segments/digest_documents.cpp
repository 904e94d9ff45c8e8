#include "segments/digest_documents.hpp"

#include <compare>

namespace lookalike::fuzzy {

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

}  // namespace lookalike::fuzzy
