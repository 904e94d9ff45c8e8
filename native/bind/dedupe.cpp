// Python's view of how dedupe reads: rows of JSON lines, and sketches of documents.
#include <algorithm>
#include <cerrno>
#include <memory>
#include <mutex>
#include <utility>

#include "base/dispatch.hpp"
#include "base/paged_list.hpp"
#include "base/parallel.hpp"
#include "bind/bind.hpp"
#include "bind/idle_lists.hpp"
#include "text/documents.hpp"
#include "text/jsonl.hpp"
#include "text/kept_lines.hpp"

namespace lookalike {
namespace {

using TextList = std::vector<std::uint8_t>;

// Memory for the texts of one block after the other, from any thread.
struct TextScratch {
    std::shared_ptr<IdleLists<TextList>> idle = std::make_shared<IdleLists<TextList>>();
};

nb::dict scan_rows(Bytes block, std::vector<std::string> columns, const TextScratch* scratch) {
    if (columns.empty()) throw nb::value_error("columns: name at least the text column");
    JsonRows rows;
    if (scratch) rows.text = scratch->idle->take();
    std::vector<std::int64_t> values;
    {
        nb::gil_scoped_release release;
        scan_json_lines(view(block), columns, rows);
        values.reserve(2 * rows.values.size());
        for (const ValueSpan& value : rows.values) values.insert(values.end(), {value.begin, value.end});
    }
    nb::dict out;
    out["begins"] = give(std::move(rows.begins));
    out["ends"] = give(std::move(rows.ends));
    out["lines"] = give(std::move(rows.lines));
    out["problems"] = give(std::move(rows.problems));
    out["problem_places"] = give(std::move(rows.problem_places));
    out["values"] = give(std::move(values));
    std::uint8_t* const text = rows.text.data();
    const std::size_t size = rows.text.size();
    out["text"] = owned_view<Output<std::uint8_t>>(text, size, std::make_unique<LentList<TextList>>(std::move(rows.text), scratch ? scratch->idle : nullptr));
    out["text_offsets"] = give(std::move(rows.text_offsets));
    out["line_count"] = rows.line_count;
    return out;
}

LOOKALIKE_INLINED std::size_t count_bytes_here(const std::uint8_t* data, std::size_t size, std::uint8_t wanted) {
    constexpr std::size_t kBlock = 128;  // a sum of so many fits into a byte
    std::size_t count = 0, done = 0;
    for (; done + kBlock <= size; done += kBlock) {
        std::uint8_t here = 0;
        for (std::size_t i = 0; i < kBlock; ++i) here = static_cast<std::uint8_t>(here + (data[done + i] == wanted));
        count += here;
    }
    for (; done < size; ++done) count += data[done] == wanted;
    return count;
}

std::size_t count_bytes(const std::uint8_t* data, std::size_t size, std::uint8_t wanted) { return widest<count_bytes_here>(data, size, wanted); }

std::size_t count_line_ends(Bytes data) {
    nb::gil_scoped_release release;
    return count_bytes(data.data(), data.size(), '\n');
}

// Writes the rows that stay to a file, each with a line end, and returns how many bytes that were.
std::size_t write_kept_rows(int file, Bytes block, std::int64_t offset, Input<std::int64_t> extents, Input<std::uint8_t> kept) {
    if (extents.size() != 2 * kept.size()) throw nb::value_error("extents: expected begin and end for each row");
    static constexpr std::uint8_t kLineEnd = '\n';
    nb::gil_scoped_release release;
    std::vector<KeptStretch> stretches;
    if (!kept_stretches(view(block), offset, view(extents), view(kept), stretches)) throw nb::value_error("extents: expected places in the block");
    // The last row of a file may have none.
    if (!stretches.empty() && (stretches.back().size == 0 || stretches.back().data[stretches.back().size - 1] != kLineEnd)) stretches.push_back({&kLineEnd, 1});
    StretchWriter writer(std::move(stretches));
    std::size_t total = 0;
    while (!writer.done()) {
        const std::ptrdiff_t written = writer.write_some(file);
        if (written >= 0) {
            total += static_cast<std::size_t>(written);
            continue;
        }
        const int why = errno;
        const nb::gil_scoped_acquire gil;
        if (why == EINTR && PyErr_CheckSignals() == 0) continue;
        if (why != EINTR) errno = why, PyErr_SetFromErrno(PyExc_OSError);
        throw nb::python_error();
    }
    return total;
}

// The stretches between pairs of begin and end, one after the other; a begin below 0 is an empty one.
std::pair<Output<std::uint8_t>, Output<std::int64_t>> join_spans(Bytes data, Input<std::int64_t> spans) {
    if (spans.size() % 2) throw nb::value_error("spans: expected pairs of begin and end");
    std::vector<std::int64_t> offsets{0};
    std::vector<std::uint8_t> joined;
    {
        nb::gil_scoped_release release;
        offsets.reserve(spans.size() / 2 + 1);
        for (std::size_t i = 0; i < spans.size(); i += 2) {
            const std::int64_t begin = spans.data()[i], end = spans.data()[i + 1];
            if (begin >= 0) {
                if (end < begin || static_cast<std::uint64_t>(end) > data.size()) throw nb::value_error("spans: they must lie within the data");
                joined.insert(joined.end(), data.data() + begin, data.data() + end);
            }
            offsets.push_back(static_cast<std::int64_t>(joined.size()));
        }
    }
    return {give(std::move(joined)), give(std::move(offsets))};
}

Banding check_banding(std::size_t size, unsigned bands, unsigned rows) {
    if (bands == 0) return {};
    if (bands > kMostBands) throw nb::value_error("bands: choose 0 to 4096");
    check_size(size);
    if (rows < 1 || rows > size / bands) throw nb::value_error("rows: bands times rows must be within the size of the sketch");
    return {size, bands, rows};
}

// Features, distinct ones if they are to be kept; their offsets, digests (two words each) and keys (one a band each).
using Sketches = std::tuple<Output<std::uint64_t>, Output<std::int64_t>, Output<std::uint64_t>, Output<std::uint64_t>>;

using FeatureList = PagedList<std::uint64_t>;

// Memory in which several workers collect the features of one batch after the other.
struct FeatureScratch {
    FeatureScratch() = default;
    FeatureScratch(const FeatureScratch&) = delete;
    FeatureScratch& operator=(const FeatureScratch&) = delete;

    std::vector<std::unique_ptr<FeatureList>> lists;
    std::shared_ptr<IdleLists<FeatureList>> idle = std::make_shared<IdleLists<FeatureList>>();
    bool busy = false;
};

// Where somebody has a scratch, its memory is used. With `keep` what is handed out is no longer a part of it, and not larger than it has to be:
// whoever gets it may keep it. Otherwise it is used again once nobody looks at it. What a single worker has collected is handed out as it is.
// `expected` features in all, that no list has to grow; a page that is never written costs nothing.
template <class MakeReader>
Sketches sketch(std::size_t count, std::size_t expected, const Banding& banding, unsigned workers, FeatureScratch* scratch, bool keep,
                MakeReader&& make_reader) {
    FeatureScratch own;
    FeatureScratch& room = scratch ? *scratch : own;
    if (std::exchange(room.busy, true)) throw nb::value_error("scratch: it is in use by another thread");
    struct Leave {
        bool& busy;
        ~Leave() { busy = false; }
    } leave{room.busy};
    FeatureList features;
    // Each worker collects the features of its documents in a list of its own; then they are put in order.
    std::mutex guard;
    std::size_t taken = 0;
    struct Place {
        const FeatureList* list;
        std::size_t offset, size;
    };
    std::vector<Place> places(count);
    std::vector<std::uint64_t> digests(2 * count);
    std::vector<std::uint64_t> keys(count * banding.bands);
    std::vector<std::int64_t> offsets{0};
    {
        nb::gil_scoped_release release;
        for_each_document(count, workers, [&] {
            FeatureList* list;
            {
                const std::lock_guard lock(guard);
                if (taken == room.lists.size()) room.lists.push_back(std::make_unique<FeatureList>());
                list = room.lists[taken++].get();
                if (!list->bytes()) *list = room.idle->take();
                list->clear();
            }
            if (banding.bands) list->reserve(expected / workers);
            return [&, list, read = make_reader(), sketcher = DocumentSketcher(banding, *list, keep)](std::size_t i) mutable {
                sketcher.start();
                read(i, [&](const std::uint64_t* sketched, const std::uint64_t* features, std::size_t size) { sketcher.add(sketched, features, size); });
                TokenDigest digest;
                const std::size_t size = sketcher.finish(digest, keys.data() + i * banding.bands);
                places[i] = {list, list->size() - size, size};
                digests[2 * i] = digest.low;
                digests[2 * i + 1] = digest.high;
            };
        });
        offsets.reserve(count + 1);
        std::size_t total = 0;
        for (const Place& place : places) offsets.push_back(static_cast<std::int64_t>(total += place.size));
        if (taken == 1 && total > 0) {
            features = std::move(*room.lists[0]);  // one worker takes documents in order
        } else {
            features = room.idle->take();
            features.clear();
            features.reserve(total);
            for (const Place& place : places) features.add(place.list->data() + place.offset, place.size);
        }
        if (keep) features.trim();
    }
    std::uint64_t* const data = features.data();
    const auto size = static_cast<std::size_t>(offsets.back());
    auto view = owned_view<Output<std::uint64_t>>(data, size, std::make_unique<LentList<FeatureList>>(std::move(features), keep ? nullptr : room.idle));
    return {std::move(view), give(std::move(offsets)), give(std::move(digests)), give(std::move(keys))};
}

Sketches sketch_documents(Bytes data, Offsets offsets, unsigned mode, bool fold, unsigned ngram, const Seed& seed, std::size_t size, unsigned bands,
                          unsigned rows, unsigned workers, FeatureScratch* scratch, std::optional<Hashes> key, bool keep) {
    const Batch<std::uint8_t> texts(data, offsets);
    const TextOptions options = check_text(mode, fold, ngram, seed);
    const Secret secret = check_secret(key);
    return sketch(texts.count(), data.size() / 3, check_banding(size, bands, rows), check_workers(workers), scratch, keep, [&] {
        return [&, shingler = SecretShingler(options, secret, bands > 0)](std::size_t i, auto&& consume) mutable { shingler.run(texts[i], consume); };
    });
}

Sketches sketch_feature_lists(Hashes data, Offsets offsets, std::size_t size, unsigned bands, unsigned rows, unsigned workers, FeatureScratch* scratch) {
    const Batch<std::uint64_t> lists(data, offsets);
    return sketch(lists.count(), data.size(), check_banding(size, bands, rows), check_workers(workers), scratch, true,
                  [&] { return [&](std::size_t i, auto&& consume) { consume(lists[i].data(), lists[i].data(), lists[i].size()); }; });
}

}  // namespace

void bind_dedupe(nb::module_& m) {
    nb::class_<TextScratch>(m, "TextScratch").def(nb::init<>());
    m.def("scan_json_lines", &scan_rows, "block"_a.noconvert(), "columns"_a, "scratch"_a = nb::none());
    m.def("count_line_ends", &count_line_ends, "data"_a.noconvert());
    m.def("write_kept_rows", &write_kept_rows, "file"_a, "block"_a.noconvert(), "offset"_a, "extents"_a.noconvert(), "kept"_a.noconvert());
    m.def("join_spans", &join_spans, "data"_a.noconvert(), "spans"_a.noconvert());
    nb::class_<FeatureScratch>(m, "FeatureScratch").def(nb::init<>());
    m.def("sketch_documents", &sketch_documents, "data"_a.noconvert(), "offsets"_a.noconvert(), "mode"_a, "fold"_a, "ngram"_a, "seed"_a, "size"_a, "bands"_a,
          "rows"_a, "workers"_a, "scratch"_a = nb::none(), "key"_a.noconvert() = nb::none(), "keep"_a = true);
    m.def("sketch_feature_lists", &sketch_feature_lists, "features"_a.noconvert(), "offsets"_a.noconvert(), "size"_a, "bands"_a, "rows"_a, "workers"_a,
          "scratch"_a = nb::none());
}

}  // namespace lookalike
