// Python's view of the Hamming index.
#include <algorithm>
#include <mutex>
#include <shared_mutex>

#include "base/parallel.hpp"
#include "bind/bind.hpp"
#include "segments/hamming_index.hpp"

namespace lookalike {
namespace {

constexpr unsigned kMaxDistance = 16;

void check_distance(unsigned k) {
    if (k > kMaxDistance) throw nb::value_error("k: choose 0 to 16");
}

// Fingerprints as words, checked: one each, or for 128 bits two, the low half first.
std::span<const std::uint64_t> check_words(const Hashes& words, unsigned bits) {
    if (bits == 128 && words.size() % 2) throw nb::value_error("fingerprints of 128 bits are pairs of words");
    const std::span<const std::uint64_t> checked = view(words);
    if (bits == 32 && std::any_of(checked.begin(), checked.end(), [](std::uint64_t word) { return word >> 32; })) {
        throw nb::value_error("a fingerprint has more than 32 bits");
    }
    return checked;
}

std::span<const std::uint64_t> check_words(const Hashes& words, const Input<std::int64_t>& ids, unsigned bits) {
    if (words.size() != ids.size() * (bits == 128 ? 2 : 1)) throw nb::value_error("ids: expected one per fingerprint");
    return check_words(words, bits);
}

std::vector<Code> read_codes(const Hashes& words, unsigned bits) {
    const std::span<const std::uint64_t> checked = check_words(words, bits);
    std::vector<Code> codes(checked.size() / (bits == 128 ? 2 : 1));
    for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = code_at(checked, i, bits);
    return codes;
}

// What a batch found, in one piece of memory, which costs a single query less than four: where the matches of each query begin and the last end,
// how many each query had before the limit, the ids of all matches, and their distances, a byte each. And how many matches there are.
using FoundBlock = std::tuple<Output<std::int64_t>, std::size_t>;

// `searched` has search_together(queries, k, scratch, matches).
template <class Searched>
FoundBlock search_batch(const Searched& searched, const std::vector<Code>& queries, unsigned k, std::size_t limit, unsigned workers) {
    const std::size_t together = std::clamp<std::size_t>(queries.size(), 1, HammingSegment::kTogether);
    std::vector<std::int64_t> block(2 * queries.size() + 1);
    const auto offsets = [&] { return std::span(block).first(queries.size() + 1); };
    const auto totals = [&] { return std::span(block).subspan(queries.size() + 1, queries.size()); };
    std::vector<std::vector<Match>> found((queries.size() + together - 1) / together);  // those of a group, one query after the other
    for_each_document(found.size(), workers, [&] {
        return [&, scratch = std::vector<NumberedHit>(), matches = std::vector<std::vector<Match>>(together)](std::size_t group) mutable {
            const std::size_t first = group * together, count = std::min(together, queries.size() - first);
            for (std::vector<Match>& each : matches) each.clear();
            searched.search_together(std::span(queries).subspan(first, count), k, scratch, matches);
            for (std::size_t i = 0; i < count; ++i) {
                const std::size_t kept = std::min(matches[i].size(), limit);
                totals()[first + i] = static_cast<std::int64_t>(matches[i].size());
                offsets()[first + i + 1] = static_cast<std::int64_t>(kept);
                found[group].insert(found[group].end(), matches[i].begin(), matches[i].begin() + static_cast<std::ptrdiff_t>(kept));
            }
        };
    });
    for (std::size_t i = 0; i < queries.size(); ++i) block[i + 1] += block[i];
    const auto count = static_cast<std::size_t>(block[queries.size()]);
    const std::size_t before = block.size();
    block.resize(before + count + (count + sizeof block[0] - 1) / sizeof block[0]);
    std::int64_t* id = block.data() + before;
    auto* distance = reinterpret_cast<std::uint8_t*>(id + count);
    for (const auto& matches : found) {
        for (const Match& match : matches) {
            *id++ = match.id;
            *distance++ = static_cast<std::uint8_t>(match.distance);
        }
    }
    nb::gil_scoped_acquire acquire;
    return {give(std::move(block)), count};
}

// An index that several threads may search while one changes it.
class SharedIndex {
   public:
    explicit SharedIndex(unsigned bits) : index_(check_bits(bits)) {}

    // The lock is waited for without the GIL, which whoever holds the lock may be waiting for.
    std::size_t size() const {
        nb::gil_scoped_release release;
        const std::shared_lock lock(mutex_);
        return index_.size();
    }

    std::size_t bytes() const {
        nb::gil_scoped_release release;
        const std::shared_lock lock(mutex_);
        return index_.bytes();
    }

    void add(Hashes words, Input<std::int64_t> ids) {
        const std::span<const std::uint64_t> checked = check_words(words, ids, index_.bits());
        nb::gil_scoped_release release;
        const std::unique_lock lock(mutex_);
        index_.add(checked, view(ids));
    }

    std::size_t remove(Input<std::int64_t> ids) {
        nb::gil_scoped_release release;
        const std::unordered_set<std::int64_t> wanted(ids.data(), ids.data() + ids.size());
        const std::unique_lock lock(mutex_);
        return index_.remove(wanted);
    }

    FoundBlock search(Hashes words, unsigned k, std::size_t limit, unsigned workers) const {
        check_distance(k);
        check_workers(workers);
        const std::vector<Code> queries = read_codes(words, index_.bits());
        nb::gil_scoped_release release;
        const std::shared_lock lock(mutex_);
        return search_batch(index_, queries, k, limit, workers);
    }

    // Left ids, right ids and distances of all pairs; one more than `limit` where there are more.
    std::tuple<Output<std::int64_t>, Output<std::int64_t>, Output<std::uint8_t>> pairs(unsigned k, std::size_t limit) const {
        check_distance(k);
        PairColumns columns;
        {
            nb::gil_scoped_release release;
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
            nb::gil_scoped_release release;
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

// A segment, and the buffers that it reads where they lie in somebody else's memory.
class Segment {
   public:
    static Segment* build(Hashes words, Input<std::int64_t> ids, unsigned bits) {
        const std::span<const std::uint64_t> checked = check_words(words, ids, check_bits(bits));
        nb::gil_scoped_release release;
        return new Segment(HammingSegment::build(checked, view(ids), bits));
    }

    static Segment* open(unsigned bits, nb::dict sections) {
        check_bits(bits);
        std::map<std::string, Column32> narrow;
        std::map<std::string, Column64> wide;
        Held held;
        for (auto [key, value] : sections) {
            const std::string name = nb::cast<std::string>(key);
            Input<std::uint32_t> words32;
            Input<std::uint64_t> words64;
            if (nb::try_cast(value, words32, false)) {
                narrow.emplace(name, view(words32));
                held.narrow.push_back(std::move(words32));
            } else if (nb::try_cast(value, words64, false)) {
                wide.emplace(name, view(words64));
                held.wide.push_back(std::move(words64));
            } else {
                throw nb::value_error(("section " + name + ": expected a contiguous array of uint32 or uint64").c_str());
            }
        }
        nb::gil_scoped_release release;
        return new Segment(HammingSegment::open(bits, std::move(narrow), std::move(wide)), std::move(held));
    }

    static Segment* merge(std::vector<const Segment*> segments, Input<std::int64_t> removed) {
        if (segments.empty()) throw nb::value_error("segments: nothing to merge");
        if (std::ranges::find(segments, nullptr) != segments.end()) throw nb::type_error("segments: None is not a segment");
        nb::gil_scoped_release release;
        const unsigned bits = segments[0]->segment_.bits();
        const std::span<const std::int64_t> gone = view(removed);
        std::vector<std::uint64_t> words;
        std::vector<std::int64_t> ids;
        for (const Segment* each : segments) {
            const HammingSegment& segment = each->segment_;
            if (segment.bits() != bits) throw std::invalid_argument("segments of different widths");
            for (std::size_t entry = 0; entry < segment.size(); ++entry) {
                const Within places = segment.ids_of(entry);
                for (std::size_t place = places.begin; place < places.end; ++place) {
                    if (std::binary_search(gone.begin(), gone.end(), segment.id(place))) continue;
                    push_words(segment.code(entry), bits, words);
                    ids.push_back(segment.id(place));
                }
            }
        }
        return new Segment(HammingSegment::build(words, ids, bits));
    }

    std::size_t size() const { return segment_.ids(); }
    unsigned bits() const { return segment_.bits(); }

    // Copies: what is written to a file is needed once.
    nb::dict sections() const {
        nb::dict out;
        const auto put = [&](const std::string& name, auto column) { out[nb::cast(name)] = nb::cast(give(std::vector(column.begin(), column.end()))); };
        segment_.columns(put, put);
        return out;
    }

    Output<std::int64_t> ids() const {
        std::vector<std::int64_t> out(segment_.ids());
        for (std::size_t place = 0; place < out.size(); ++place) out[place] = segment_.id(place);
        std::sort(out.begin(), out.end());
        return give(std::move(out));
    }

    FoundBlock search(Hashes words, unsigned k, std::size_t limit, unsigned workers) const {
        check_distance(k);
        check_workers(workers);
        const std::vector<Code> queries = read_codes(words, segment_.bits());
        nb::gil_scoped_release release;
        return search_batch(*this, queries, k, limit, workers);
    }

    void search_together(std::span<const Code> queries, unsigned k, std::vector<NumberedHit>& scratch, std::span<std::vector<Match>> matches) const {
        scratch.clear();
        segment_.search_together(queries, k, scratch);
        segment_.for_ids(scratch,
                         [&](std::uint32_t number, std::size_t place, std::uint32_t distance) { matches[number].push_back({segment_.id(place), distance}); });
        for (std::vector<Match>& each : matches) sort_matches(each, 0);
    }

   private:
    // The arrays themselves: a dict of them may be changed by whoever gave it.
    struct Held {
        std::vector<Input<std::uint32_t>> narrow;
        std::vector<Input<std::uint64_t>> wide;
    };

    explicit Segment(HammingSegment segment, Held held = {}) : held_(std::move(held)), segment_(std::move(segment)) {}

    Held held_;
    HammingSegment segment_;
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
        .def("pairs", &SharedIndex::pairs, "k"_a, "limit"_a)
        .def("groups", &SharedIndex::groups, "k"_a, "limit"_a);
    nb::class_<Segment>(m, "HammingSegment")
        .def_static("build", &Segment::build, "words"_a.noconvert(), "ids"_a.noconvert(), "bits"_a, nb::rv_policy::take_ownership)
        .def_static("open", &Segment::open, "bits"_a, "sections"_a, nb::rv_policy::take_ownership)
        .def_static("merge", &Segment::merge, "segments"_a, "removed"_a.noconvert(), nb::rv_policy::take_ownership)
        .def("__len__", &Segment::size)
        .def_prop_ro("bits", &Segment::bits)
        .def("sections", &Segment::sections)
        .def("ids", &Segment::ids)
        .def("search", nb::overload_cast<Hashes, unsigned, std::size_t, unsigned>(&Segment::search, nb::const_), "words"_a.noconvert(), "k"_a, "limit"_a,
             "workers"_a);
}

}  // namespace lookalike
