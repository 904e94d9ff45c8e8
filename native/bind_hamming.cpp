// Python's view of the Hamming index.
#include <algorithm>
#include <mutex>
#include <shared_mutex>

#include "bind.hpp"
#include "hamming_index.hpp"
#include "parallel.hpp"

namespace lookalike {
namespace {

constexpr unsigned kMaxDistance = 16;

// An index that several threads may search while one changes it.
class SharedIndex {
   public:
    explicit SharedIndex(unsigned bits) : index_(check_bits(bits)) {}

    std::size_t size() const {
        const std::shared_lock lock(mutex_);
        return index_.size();
    }

    std::size_t bytes() const {
        const std::shared_lock lock(mutex_);
        return index_.bytes();
    }

    void add(Hashes words, Input<std::int64_t> ids) {
        const std::vector<Code> codes = read(words);
        if (codes.size() != ids.size()) throw nb::value_error("ids: expected one a fingerprint");
        nb::gil_scoped_release release;
        const std::unique_lock lock(mutex_);
        index_.add(codes, view(ids));
    }

    std::size_t remove(Input<std::int64_t> ids) {
        nb::gil_scoped_release release;
        const std::unordered_set<std::int64_t> wanted(ids.data(), ids.data() + ids.size());
        const std::unique_lock lock(mutex_);
        return index_.remove(wanted);
    }

    // Offsets, ids and distances of the matches of each query, and how many each query had before the limit.
    std::tuple<Output<std::int64_t>, Output<std::int64_t>, Output<std::uint8_t>, Output<std::int64_t>> search(Hashes words, unsigned k, std::size_t limit,
                                                                                                             unsigned workers) const {
        check_distance(k);
        check_workers(workers);
        const std::vector<Code> queries = read(words);
        std::vector<std::int64_t> offsets{0}, ids, totals(queries.size());
        std::vector<std::uint8_t> distances;
        {
            nb::gil_scoped_release release;
            const std::shared_lock lock(mutex_);
            std::vector<std::vector<Match>> found(queries.size());
            for_each_document(queries.size(), workers, [&] {
                return [&, scratch = std::vector<Hit>(), matches = std::vector<Match>()](std::size_t i) mutable {
                    constexpr std::size_t kAhead = 4;  // queries whose buckets are on their way from memory
                    if (i + kAhead < queries.size()) index_.prefetch(queries[i + kAhead], k);
                    matches.clear();
                    index_.search(queries[i], k, scratch, matches);
                    totals[i] = static_cast<std::int64_t>(matches.size());
                    matches.resize(std::min(matches.size(), limit));
                    found[i] = matches;
                };
            });
            for (const auto& matches : found) {
                for (const Match& match : matches) {
                    ids.push_back(match.id);
                    distances.push_back(static_cast<std::uint8_t>(match.distance));
                }
                offsets.push_back(static_cast<std::int64_t>(ids.size()));
            }
        }
        return {give(std::move(offsets)), give(std::move(ids)), give(std::move(distances)), give(std::move(totals))};
    }

    // Left ids, right ids and distances of all pairs; one more than `limit` where there are more.
    std::tuple<Output<std::int64_t>, Output<std::int64_t>, Output<std::uint8_t>> pairs(unsigned k, std::size_t limit) const {
        check_distance(k);
        std::vector<std::int64_t> left, right;
        std::vector<std::uint8_t> distances;
        {
            nb::gil_scoped_release release;
            const std::shared_lock lock(mutex_);
            for (const HammingIndex::Pair& pair : index_.pairs(k, limit)) {
                left.push_back(pair.left);
                right.push_back(pair.right);
                distances.push_back(static_cast<std::uint8_t>(pair.distance));
            }
        }
        return {give(std::move(left)), give(std::move(right)), give(std::move(distances))};
    }

   private:
    static void check_distance(unsigned k) {
        if (k > kMaxDistance) throw nb::value_error("k: choose 0 to 16");
    }

    // Fingerprints as words: one each, or for 128 bits two, the low half first.
    std::vector<Code> read(const Hashes& words) const {
        const unsigned bits = index_.bits();
        const std::size_t each = bits == 128 ? 2 : 1;
        if (words.size() % each) throw nb::value_error("fingerprints of 128 bits are pairs of words");
        std::vector<Code> codes(words.size() / each);
        const std::uint64_t* word = words.data();
        for (Code& code : codes) {
            if (bits == 32 && *word >> 32) throw nb::value_error("a fingerprint has more than 32 bits");
            code = bits == 128 ? Code{word[1], word[0]} : Code{bits == 32 ? *word << 32 : *word, 0};
            word += each;
        }
        return codes;
    }

    HammingIndex index_;
    mutable std::shared_mutex mutex_;
};

}  // namespace
}  // namespace lookalike

void bind_hamming(nb::module_& m) {
    using namespace lookalike;
    using namespace nb::literals;
    nb::class_<SharedIndex>(m, "HammingIndex")
        .def(nb::init<unsigned>(), "bits"_a)
        .def("__len__", &SharedIndex::size)
        .def_prop_ro("nbytes", &SharedIndex::bytes)
        .def("add", &SharedIndex::add, "words"_a.noconvert(), "ids"_a.noconvert())
        .def("remove", &SharedIndex::remove, "ids"_a.noconvert())
        .def("search", &SharedIndex::search, "words"_a.noconvert(), "k"_a, "limit"_a, "workers"_a)
        .def("pairs", &SharedIndex::pairs, "k"_a, "limit"_a);
}
