// What segments of TLSH and of ssdeep digests share: entries, which are distinct digests, in order, each with its documents.
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "base/platform.hpp"
#include "segments/column.hpp"

namespace lookalike::fuzzy {

template <class T>
using View = std::span<const T>;
template <class T>
using Owned = std::vector<T>;

struct Hit {
    std::uint32_t entry;
    std::uint32_t rank;  // less is better
};

struct Found {
    std::vector<std::int64_t> rows;
    std::vector<std::uint32_t> ranks;
    std::size_t total = 0;  // before the limit
};

// The documents of each entry.
template <template <class> class Column>
struct Documents {
    Column<std::int64_t> rows;     // by entry, and ascending within an entry
    Column<std::uint32_t> starts;  // where those of each entry begin; one more than entries
};

inline View<std::int64_t> documents_of(const Documents<View>& documents, std::size_t entry) {
    return part_of(documents.rows, documents.starts[entry], documents.starts[entry + 1]);
}

// The best `limit` documents of the hits, best first, then by row.
Found best(const Documents<View>& documents, std::span<const Hit> hits, std::size_t limit);

constexpr std::size_t kMaxDocuments = 0xFFFFFFFF;  // places are 32-bit

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

void check_documents(const Documents<View>& documents, std::size_t entries);
void check_new_rows(View<std::int64_t> rows, std::size_t digests);
void add_documents(Documents<Owned>& documents, View<std::int64_t> rows);

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

}  // namespace lookalike::fuzzy
