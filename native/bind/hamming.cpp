// Python's view of the Hamming index.
#include <mutex>
#include <shared_mutex>

#include "bind/hamming_segment.hpp"
#include "bind/lock_turns.hpp"
#include "bind/numpy_arrays.hpp"

namespace lookalike {
namespace {

// What was found for one query, as Python wants it: a tuple of some class, of arrays, which are offsets, ids, distances and totals.
nb::object arrays_of(const std::vector<Match>& matches, std::size_t limit, nb::type_object class_of_tuples) {
    const std::size_t kept = std::min(matches.size(), limit);
    nb::object offsets, ids, distances, totals;
    auto* const ends = new_numbers<std::int64_t>(offsets, 2);
    auto* const id = new_numbers<std::int64_t>(ids, kept);
    auto* const distance = new_numbers<std::uint8_t>(distances, kept);
    *new_numbers<std::int64_t>(totals, 1) = static_cast<std::int64_t>(matches.size());
    ends[0] = 0, ends[1] = static_cast<std::int64_t>(kept);
    for (std::size_t i = 0; i < kept; ++i) {
        id[i] = matches[i].id;
        distance[i] = static_cast<std::uint8_t>(matches[i].distance);
    }
    nb::object found = nb::steal(PyType_GenericAlloc(reinterpret_cast<PyTypeObject*>(class_of_tuples.ptr()), 4));
    if (!found.is_valid()) throw nb::python_error();
    Py_ssize_t place = 0;
    for (nb::object* each : {&offsets, &ids, &distances, &totals}) {
        if (PyTuple_SetItem(found.ptr(), place++, each->release().ptr())) throw nb::python_error();
    }
    return found;
}

// An index that several threads may search while one changes it.
class SharedIndex {
   public:
    explicit SharedIndex(unsigned bits) : index_(check_bits(bits)) {}

    // The lock is waited for without the GIL, which whoever holds the lock may be waiting for.
    std::size_t size() const {
        const WithoutLock released;
        const std::shared_lock lock(mutex_);
        return index_.size();
    }

    std::size_t bytes() const {
        const WithoutLock released;
        const std::shared_lock lock(mutex_);
        return index_.bytes();
    }

    void add(Hashes words, Input<std::int64_t> ids) {
        const std::span<const std::uint64_t> checked = check_words(words, ids, index_.bits());
        const WithoutLock released;
        const std::unique_lock lock(mutex_);
        index_.add(checked, view(ids));
    }

    std::size_t remove(Input<std::int64_t> ids) {
        const WithoutLock released;
        const std::unordered_set<std::int64_t> wanted(ids.data(), ids.data() + ids.size());
        const std::unique_lock lock(mutex_);
        return index_.remove(wanted);
    }

    FoundBlock search(Hashes words, unsigned k, std::size_t limit, unsigned workers) const {
        check_distance(k);
        check_workers(workers);
        const std::vector<Code> queries = read_codes(words, index_.bits());
        const WithoutLock released;
        const std::shared_lock lock(mutex_);
        return search_batch(index_, queries, k, limit, workers);
    }

    // One query of up to 64 bits, in little more time than finding what it finds.
    nb::object search_one(std::uint64_t word, unsigned k, std::size_t limit, nb::type_object class_of_tuples) const {
        check_distance(k);
        if (!PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(class_of_tuples.ptr()), &PyTuple_Type)) throw nb::type_error("expected a class of tuples");
        if (index_.bits() == 128 || (index_.bits() == 32 && word >> 32)) throw nb::value_error("the query does not have the bits of the index");
        const Code query = code_at({&word, 1}, 0, index_.bits());
        thread_local std::vector<Hit> scratch;
        std::vector<Match> matches;
        std::shared_lock lock(mutex_, std::try_to_lock);
        if (lock && index_.is_short_search(k)) {  // to give away the interpreter's lock and to get it back takes as long
            index_.search(query, k, scratch, matches);
        } else {
            const WithoutLock released;
            if (!lock) lock.lock();
            index_.search(query, k, scratch, matches);
            lock.unlock();
        }
        if (lock) lock.unlock();
        return arrays_of(matches, limit, class_of_tuples);
    }

    // Left ids, right ids and distances of all pairs; one more than `limit` where there are more.
    std::tuple<Output<std::int64_t>, Output<std::int64_t>, Output<std::uint8_t>> pairs(unsigned k, std::size_t limit) const {
        check_distance(k);
        PairColumns columns;
        {
            const WithoutLock released;
            const std::shared_lock lock(mutex_);
            columns = PairColumns(index_.pairs(k, limit));
        }
        return {give(std::move(columns.left)), give(std::move(columns.right)), give(std::move(columns.distances))};
    }

    // Offsets and ids of groups of equal fingerprints; left and right groups and distances of the pairs of groups, one more than `limit` where there are more.
    std::tuple<Output<std::int64_t>, Output<std::int64_t>, Output<std::int64_t>, Output<std::int64_t>, Output<std::uint8_t>> groups(unsigned k,
                                                                                                                                    std::size_t limit) const {
        check_distance(k);
        HammingIndex::Groups groups;
        PairColumns columns;
        {
            const WithoutLock released;
            const std::shared_lock lock(mutex_);
            groups = index_.groups(k, limit);
            columns = PairColumns(groups.pairs);
        }
        return {give(std::move(groups.offsets)), give(std::move(groups.ids)), give(std::move(columns.left)), give(std::move(columns.right)),
                give(std::move(columns.distances))};
    }

   private:
    struct PairColumns {
        PairColumns() = default;
        explicit PairColumns(const std::vector<HammingIndex::Pair>& pairs) {
            left.reserve(pairs.size()), right.reserve(pairs.size()), distances.reserve(pairs.size());
            for (const HammingIndex::Pair& pair : pairs) {
                left.push_back(pair.left);
                right.push_back(pair.right);
                distances.push_back(static_cast<std::uint8_t>(pair.distance));
            }
        }
        std::vector<std::int64_t> left, right;
        std::vector<std::uint8_t> distances;
    };

    HammingIndex index_;
    mutable std::shared_mutex mutex_;
};

}  // namespace

void bind_hamming(nb::module_& m) {
    nb::class_<SharedIndex>(m, "HammingIndex")
        .def(nb::init<unsigned>(), "bits"_a)
        .def("__len__", &SharedIndex::size)
        .def_prop_ro("nbytes", &SharedIndex::bytes)
        .def("add", &SharedIndex::add, "words"_a.noconvert(), "ids"_a.noconvert())
        .def("remove", &SharedIndex::remove, "ids"_a.noconvert())
        .def("search", &SharedIndex::search, "words"_a.noconvert(), "k"_a, "limit"_a, "workers"_a)
        .def("search_one", &SharedIndex::search_one, "word"_a, "k"_a, "limit"_a, "class_of_tuples"_a)
        .def("pairs", &SharedIndex::pairs, "k"_a, "limit"_a)
        .def("groups", &SharedIndex::groups, "k"_a, "limit"_a);
    nb::class_<HeldHammingSegment>(m, "HammingSegment")
        .def_static("build", &HeldHammingSegment::build, "words"_a.noconvert(), "ids"_a.noconvert(), "bits"_a, nb::rv_policy::take_ownership)
        .def_static("open", &HeldHammingSegment::open, "bits"_a, "sections"_a, nb::rv_policy::take_ownership)
        .def_static("merge", &HeldHammingSegment::merge, "segments"_a, "removed"_a.noconvert(), nb::rv_policy::take_ownership)
        .def("__len__", &HeldHammingSegment::size)
        .def_prop_ro("bits", &HeldHammingSegment::bits)
        .def("sections", &HeldHammingSegment::sections)
        .def("ids", &HeldHammingSegment::ids)
        .def("search", nb::overload_cast<Hashes, unsigned, std::size_t, unsigned>(&HeldHammingSegment::search, nb::const_), "words"_a.noconvert(), "k"_a,
             "limit"_a, "workers"_a);
}

}  // namespace lookalike
