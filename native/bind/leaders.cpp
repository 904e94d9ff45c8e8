// Python's view of who stays: leaders that meet one batch after the other, and the stages of which they are made, without a state.
#include <nanobind/stl/shared_ptr.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <mutex>
#include <utility>

#include "base/parallel.hpp"
#include "bind/bind.hpp"
#include "sketch/leaders.hpp"
#include "text/row_reader.hpp"

namespace lookalike {
namespace {

unsigned check_bands(unsigned bands) {
    if (bands > kMostBands) throw nb::value_error("bands: choose 0 to 4096");
    return bands;
}

double check_threshold(double threshold) {
    if (!(threshold > 0 && threshold <= 1)) throw nb::value_error("threshold: choose a number above 0 and up to 1");
    return threshold;
}

std::uint32_t check_limit(std::uint32_t limit) {
    if (limit < 1) throw nb::value_error("bucket_limit: choose 1 or more");
    return limit;
}

unsigned check_k(unsigned k) {
    if (k > 16) throw nb::value_error("k: choose 0 to 16");
    return k;
}

Measure measure_of(bool estimated) { return estimated ? Measure::estimate : Measure::jaccard; }

void check_places(const Input<std::int64_t>& places, std::size_t count) {
    const std::span<const std::int64_t> given = view(places);
    if (!std::all_of(given.begin(), given.end(), [&](std::int64_t place) { return place >= 0 && static_cast<std::uint64_t>(place) < count; })) {
        throw nb::value_error("pairs: expected the places of feature lists");
    }
}

// The similarities of pairs of feature lists, each named by its place; 0 where it is certainly below `least`. Pairs with the same left
// side that follow each other cost the least.
Output<double> feature_similarities(Hashes features, Offsets offsets, Input<std::int64_t> left, Input<std::int64_t> right, double least, bool estimated,
                                    unsigned workers) {
    const Batch<std::uint64_t> lists(features, offsets);
    if (left.size() != right.size()) throw nb::value_error("pairs: expected as many on the right as on the left");
    check_places(left, lists.count());
    check_places(right, lists.count());
    if (!(least >= 0 && least <= 1)) throw nb::value_error("least: choose a number from 0 to 1");
    check_workers(workers);
    std::vector<double> similarities(left.size());
    {
        nb::gil_scoped_release release;
        for_each_document(left.size(), workers, [&] {
            return [&, own = SetSimilarity(measure_of(estimated)), at = std::int64_t{-1}](std::size_t i) mutable {
                if (left.data()[i] != at) own.begin(lists[static_cast<std::size_t>(at = left.data()[i])]);
                similarities[i] = own.to(lists[static_cast<std::size_t>(right.data()[i])], least);
            };
        });
    }
    return give(std::move(similarities));
}

// What `look` finds while nobody changes anything. Another thread may hold the lock for long: it is waited for without the GIL.
template <class Look>
auto locked(std::mutex& guard, Look&& look) {
    nb::gil_scoped_release release;
    const std::lock_guard lock(guard);
    return look();
}

TokenDigest digest_at(const Hashes& digests, std::size_t i) { return {digests.data()[2 * i], digests.data()[2 * i + 1]}; }

// Leaders and similarities of a batch; -1 where the document itself is kept.
using Decisions = std::pair<Output<std::int64_t>, Output<double>>;

class DecisionLists {
   public:
    explicit DecisionLists(std::size_t count) { leaders_.reserve(count), similarities_.reserve(count); }
    void add(const Decision& decision) {
        leaders_.push_back(decision.leader == kNobody ? -1 : std::int64_t{decision.leader});
        similarities_.push_back(decision.similarity);
    }
    Decisions take() { return {give(std::move(leaders_)), give(std::move(similarities_))}; }

   private:
    std::vector<std::int64_t> leaders_;
    std::vector<double> similarities_;
};

void check_lists(const Offsets& offsets, std::size_t count, std::size_t values, const char* what) {
    if (offsets.size() != count + 1) throw nb::value_error(what);
    check_offsets(view(offsets), values);
    if (static_cast<std::size_t>(offsets.data()[count]) != values) throw nb::value_error(what);
}

using Standings = std::tuple<Output<std::uint8_t>, Output<std::int64_t>, Output<double>>;

// Edges lead from documents to earlier ones; open buckets are numbered from 0.
Standings decide_documents(Offsets offsets, Input<std::uint32_t> earlier, Input<double> similarities, double threshold, Offsets open_offsets,
                           Input<std::uint32_t> open_buckets, Input<std::uint8_t> open_leads, std::uint32_t bucket_limit) {
    if (offsets.size() == 0) throw nb::value_error("offsets: expected one more than the number of documents, got none");
    const std::size_t count = offsets.size() - 1;
    if (count >= kNobody) throw nb::value_error("documents: at most 4,294,967,294 can be decided at a time");
    check_lists(offsets, count, earlier.size(), "edges: expected offsets that end where the edges end");
    if (similarities.size() != earlier.size()) throw nb::value_error("similarities: expected one per edge");
    check_lists(open_offsets, count, open_buckets.size(), "open buckets: expected offsets, one more than documents, that end where the rows end");
    if (open_leads.size() != open_buckets.size()) throw nb::value_error("open buckets: expected a flag per row");
    for (std::size_t i = 0; i < count; ++i) {
        for (std::int64_t k = offsets.data()[i]; k < offsets.data()[i + 1]; ++k) {
            if (earlier.data()[k] >= i) throw nb::value_error("edges: they must lead to earlier documents");
        }
    }
    std::uint32_t buckets = 0;
    for (const std::uint32_t bucket : view(open_buckets)) {
        if (bucket >= open_buckets.size()) throw nb::value_error("open buckets: expected numbers below that of the rows");
        buckets = std::max(buckets, bucket + 1);
    }
    const Edges edges{view(offsets), view(earlier), view(similarities)};
    const OpenBuckets open{view(open_offsets), view(open_buckets), view(open_leads), buckets, check_limit(bucket_limit)};
    check_threshold(threshold);
    std::vector<std::uint8_t> standings;
    DecisionLists decisions(count);
    {
        nb::gil_scoped_release release;
        std::vector<Decision> nearest;
        const std::vector<Standing> found = decide(edges, threshold, open, nearest);
        standings.reserve(count);
        for (const Standing each : found) standings.push_back(static_cast<std::uint8_t>(each));
        for (const Decision& each : nearest) decisions.add(each);
    }
    auto [leaders, nearness] = decisions.take();
    return {give(std::move(standings)), std::move(leaders), std::move(nearness)};
}

// Keeps an array of Python's; let go from any thread, with the GIL or without.
std::shared_ptr<const void> held(const Hashes& array) {
    const nb::gil_scoped_acquire gil;
    return {new Hashes(array), [](const void* kept) {
                const nb::gil_scoped_acquire gil_again;
                delete static_cast<const Hashes*>(kept);
            }};
}

// The batch that is offered, which does not stay open whatever happens in between.
class BatchAtHand {
   public:
    BatchAtHand(FeatureChunks& chunks, const Hashes& features, bool stay) : chunks_(stay && features.size() ? &chunks : nullptr) {
        if (chunks_) chunks_->begin_batch(held(features), view(features));
    }
    ~BatchAtHand() {
        if (chunks_) chunks_->leave_batch();
    }
    void end() {
        if (chunks_) chunks_->end_batch();
    }
    BatchAtHand(const BatchAtHand&) = delete;
    BatchAtHand& operator=(const BatchAtHand&) = delete;

   private:
    FeatureChunks* chunks_;
};

// How texts are made features: mode, fold, n-gram and hashing.
using Form = std::tuple<unsigned, bool, unsigned, Seed>;

Leaders::MakeReader make_reader(const std::optional<Form>& form, const std::optional<Hashes>& key) {
    if (!form) return {};
    return [options = std::apply(check_text, *form), secret = check_secret(key)] { return std::make_unique<JsonLinesReader>(options, secret); };
}

using Files = std::vector<std::shared_ptr<RowFile>>;

// Where documents that are offered stand: the number of a file, begin and end.
struct GivenRows {
    Files files;
    Input<std::uint32_t> numbers;
    Input<std::int64_t> extents;

    void check(std::size_t count) const {
        if (std::find(files.begin(), files.end(), nullptr) != files.end()) throw nb::value_error("rows: expected files");
        if (numbers.size() != count || extents.size() != 2 * count)
            throw nb::value_error("rows: expected the number of a file, begin and end for each document");
        for (const std::uint32_t number : view(numbers)) {
            if (number >= files.size()) throw nb::value_error("rows: expected numbers of files");
        }
        for (std::size_t i = 0; i < count; ++i) {
            const std::int64_t begin = extents.data()[2 * i], end = extents.data()[2 * i + 1];
            if (begin < 0 || end < begin || end - begin > 0xFFFFFFFF) throw nb::value_error("rows: they begin before they end, and have at most 4 GB");
        }
    }

    std::vector<RowPlace> placed(Leaders& leaders) const {
        std::vector<std::uint32_t> own;
        for (const auto& file : files) own.push_back(leaders.number(file));
        std::vector<RowPlace> places;
        places.reserve(numbers.size());
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            const std::int64_t begin = extents.data()[2 * i], end = extents.data()[2 * i + 1];
            places.push_back({own[numbers.data()[i]], static_cast<std::uint32_t>(end - begin), static_cast<std::uint64_t>(begin)});
        }
        return places;
    }
};

class BoundLeaders {
   public:
    BoundLeaders(unsigned bands, double threshold, std::uint32_t bucket_limit, bool estimated, const std::optional<Form>& form,
                 const std::optional<Hashes>& key)
        : leaders_(check_bands(bands), check_threshold(threshold), check_limit(bucket_limit), measure_of(estimated), make_reader(form, key)) {}

    void expect(std::size_t documents, unsigned workers) {
        check_workers(workers);
        const nb::gil_scoped_release release;
        const std::lock_guard lock(guard_);
        leaders_.expect(documents, workers);
    }

    // With `stay`, the features of kept documents may stay where they are: whoever made them no longer changes them.
    // With `rows`, features need not be distinct, and may be missing. Those of kept documents are not held: they are made again if they are needed.
    // Several workers look and enter; the result is the same with any number of them.
    Decisions offer(Hashes features, Offsets offsets, Hashes digests, Hashes keys, bool stay, unsigned workers, std::optional<Files> files,
                    std::optional<Input<std::uint32_t>> numbers, std::optional<Input<std::int64_t>> extents) {
        const Batch<std::uint64_t> lists(features, offsets);
        const std::size_t count = lists.count(), bands = leaders_.bands();
        if (digests.size() != 2 * count) throw nb::value_error("digests: expected two words per document");
        if (keys.size() != bands * count) throw nb::value_error("keys: expected one per band and document");
        check_workers(workers);
        const std::optional<GivenRows> rows = given_rows(std::move(files), numbers, extents);
        if (rows) rows->check(count);
        Offered offered{view(features), view(offsets), view(digests), keys.data(), leaders_.bands()};
        DecisionLists decisions(count);
        {
            nb::gil_scoped_release release;
            const std::lock_guard lock(guard_);
            std::vector<RowPlace> places;
            if (rows) places = rows->placed(leaders_), offered.rows = places.data();
            BatchAtHand batch(leaders_.chunks(), features, stay && !rows);
            std::vector<Decision> found;
            found.reserve(count);
            leaders_.offer(offered, workers, found);
            for (const Decision& each : found) decisions.add(each);
            batch.end();
        }
        return decisions.take();
    }

    std::size_t documents() {
        return locked(guard_, [&] { return leaders_.documents(); });
    }
    std::size_t kept() {
        return locked(guard_, [&] { return leaders_.kept(); });
    }
    std::uint64_t compared() {
        return locked(guard_, [&] { return leaders_.compared(); });
    }
    double alone() {
        return locked(guard_, [&] { return leaders_.alone(); });
    }
    std::size_t bytes() {
        return locked(guard_, [&] { return leaders_.bytes(); });
    }
    std::size_t chunks() {
        return locked(guard_, [&] { return leaders_.chunks().chunks(); });
    }

    // A chunk of features, to be written somewhere else. The view stays true when the chunk is replaced.
    nb::ndarray<nb::memview, const std::uint64_t, nb::ndim<1>, nb::c_contig> chunk(std::size_t i) {
        std::span<const std::uint64_t> features;
        auto memory = std::make_unique<std::shared_ptr<const void>>();
        locked(guard_, [&] {
            features = check_chunk(i);
            *memory = leaders_.chunks().memory(i);
        });
        return owned_view<nb::ndarray<nb::memview, const std::uint64_t, nb::ndim<1>, nb::c_contig>>(features.data(), features.size(), std::move(memory));
    }

    void replace_chunk(std::size_t i, Hashes elsewhere) {
        locked(guard_, [&] {
            if (!std::ranges::equal(check_chunk(i), view(elsewhere))) throw nb::value_error("elsewhere: expected the same features as in the chunk");
            elsewhere_.push_back(elsewhere);  // held before anything reads it
            leaders_.chunks().replace(i, elsewhere.data());
        });
    }

    // Band, kept documents that a full bucket refused, and a document in it.
    std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> hot_buckets(std::size_t limit) {
        std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> out;
        for (const KeptBuckets::Hot& hot : locked(guard_, [&] { return leaders_.hot_buckets(); })) {
            if (out.size() == limit) break;
            out.emplace_back(hot.band, hot.refused, hot.example);
        }
        return out;
    }

   private:
    std::optional<GivenRows> given_rows(std::optional<Files> files, const std::optional<Input<std::uint32_t>>& numbers,
                                        const std::optional<Input<std::int64_t>>& extents) const {
        if (!files) return std::nullopt;
        if (!numbers || !extents) throw nb::value_error("rows: expected the number of a file, begin and end for each document");
        if (!leaders_.can_read()) throw nb::value_error("form: say how texts are made features");
        return GivenRows{std::move(*files), *numbers, *extents};
    }

    std::span<const std::uint64_t> check_chunk(std::size_t i) {
        if (i >= leaders_.chunks().chunks() || !leaders_.chunks().in_memory(i)) throw nb::value_error("chunk: choose one that is in memory");
        return leaders_.chunks().chunk(i);
    }

    Leaders leaders_;
    std::mutex guard_;
    std::vector<Hashes> elsewhere_;  // what replaced chunks are read from
};

class BoundSimhashLeaders {
   public:
    BoundSimhashLeaders(unsigned bits, unsigned k) : leaders_(check_bits(bits), check_k(k)) {}

    Decisions offer(Hashes words, Hashes digests) {
        const unsigned bits = leaders_.bits();
        const std::size_t each = bits == 128 ? 2 : 1, count = words.size() / each;
        if (words.size() % each || digests.size() != 2 * count) throw nb::value_error("digests: expected two words per fingerprint");
        DecisionLists decisions(count);
        {
            nb::gil_scoped_release release;
            const std::lock_guard lock(guard_);
            constexpr std::size_t kAhead = 4;
            for (std::size_t i = 0; i < count; ++i) {
                if (i + kAhead < count) leaders_.prefetch(code_at(view(words), i + kAhead, bits));
                decisions.add(leaders_.offer(code_at(view(words), i, bits), digest_at(digests, i)));
            }
        }
        return decisions.take();
    }

    std::size_t documents() {
        return locked(guard_, [&] { return leaders_.documents(); });
    }
    std::size_t kept() {
        return locked(guard_, [&] { return leaders_.kept(); });
    }
    std::size_t bytes() {
        return locked(guard_, [&] { return leaders_.bytes(); });
    }

   private:
    SimhashLeaders leaders_;
    std::mutex guard_;
};

}  // namespace

void bind_leaders(nb::module_& m) {
    m.def("feature_similarities", &feature_similarities, "features"_a.noconvert(), "offsets"_a.noconvert(), "left"_a.noconvert(), "right"_a.noconvert(),
          "least"_a, "estimated"_a, "workers"_a);
    m.def("decide", &decide_documents, "offsets"_a.noconvert(), "earlier"_a.noconvert(), "similarities"_a.noconvert(), "threshold"_a,
          "open_offsets"_a.noconvert(), "open_buckets"_a.noconvert(), "open_leads"_a.noconvert(), "bucket_limit"_a);
    nb::exception<RowChanged>(m, "RowChanged");
    nb::register_exception_translator([](const std::exception_ptr& failure, void*) {
        try {
            std::rethrow_exception(failure);
        } catch (const RowUnreadable& unreadable) {
            errno = unreadable.number;
            PyErr_SetFromErrnoWithFilename(PyExc_OSError, unreadable.what());
        }
    });
    nb::class_<RowFile>(m, "RowFile")
        .def(
            "__init__",
            [](RowFile* self, const nb::bytes& path, std::string name, std::string column) {
                new (self) RowFile{{path.c_str(), path.size()}, std::move(name), {std::move(column)}};
            },
            "path"_a, "name"_a, "column"_a);
    nb::class_<BoundLeaders>(m, "Leaders")
        .def(nb::init<unsigned, double, std::uint32_t, bool, std::optional<Form>, std::optional<Hashes>>(), "bands"_a, "threshold"_a, "bucket_limit"_a,
             "estimated"_a = false, "form"_a = nb::none(), "key"_a.noconvert() = nb::none())
        .def("offer", &BoundLeaders::offer, "features"_a.noconvert(), "offsets"_a.noconvert(), "digests"_a.noconvert(), "keys"_a.noconvert(), "stay"_a = false,
             "workers"_a = 1, "files"_a = nb::none(), "numbers"_a.noconvert() = nb::none(), "extents"_a.noconvert() = nb::none())
        .def("expect", &BoundLeaders::expect, "documents"_a, "workers"_a = 1)
        .def_prop_ro("documents", &BoundLeaders::documents)
        .def_prop_ro("kept", &BoundLeaders::kept)
        .def_prop_ro("compared", &BoundLeaders::compared)
        .def_prop_ro("alone", &BoundLeaders::alone)
        .def_prop_ro("nbytes", &BoundLeaders::bytes)
        .def_prop_ro("chunks", &BoundLeaders::chunks)
        .def("chunk", &BoundLeaders::chunk, "i"_a)
        .def("replace_chunk", &BoundLeaders::replace_chunk, "i"_a, "elsewhere"_a.noconvert())
        .def("hot_buckets", &BoundLeaders::hot_buckets, "limit"_a);
    nb::class_<BoundSimhashLeaders>(m, "SimhashLeaders")
        .def(nb::init<unsigned, unsigned>(), "bits"_a, "k"_a)
        .def("offer", &BoundSimhashLeaders::offer, "words"_a.noconvert(), "digests"_a.noconvert())
        .def_prop_ro("documents", &BoundSimhashLeaders::documents)
        .def_prop_ro("kept", &BoundSimhashLeaders::kept)
        .def_prop_ro("nbytes", &BoundSimhashLeaders::bytes);
}

}  // namespace lookalike
