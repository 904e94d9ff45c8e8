// Python's view of the fuzzy hashes: ssdeep, TLSH, Nilsimsa and mmdt.
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/parallel.hpp"
#include "bind/bind.hpp"
#include "bind/lock_turns.hpp"
#include "sketch/mmdt.hpp"
#include "sketch/nilsimsa.hpp"
#include "sketch/ssdeep.hpp"
#include "sketch/tlsh.hpp"

namespace lookalike {
namespace {

constexpr std::uint8_t kMalformed = 255;

// A state that several Python threads may share.
template <class State>
struct Shared {
    State state;
    mutable std::mutex mutex;

    void update(Bytes data) {
        const WithoutLock released;
        const std::lock_guard guard(mutex);
        state.update(data.data(), data.size());
    }
    std::uint64_t size() const {
        const WithoutLock released;
        const std::lock_guard guard(mutex);
        return state.size();
    }
};
using SsdeepState = Shared<ssdeep::State>;
using TlshState = Shared<tlsh::State>;
using SharedNilsimsa = Shared<NilsimsaState>;

ssdeep::Digest parse_digest(std::string_view text) {
    ssdeep::Digest digest;
    if (!ssdeep::parse(text, digest)) throw std::invalid_argument("not an ssdeep digest: " + std::string(text.substr(0, 160)));
    return digest;
}

std::string ssdeep_hash(Bytes data) {
    const WithoutLock released;
    return ssdeep::to_text(ssdeep::hash(data.data(), data.size()));
}

std::string ssdeep_digest(const SsdeepState& shared) {
    const WithoutLock released;
    const std::lock_guard guard(shared.mutex);
    return ssdeep::to_text(shared.state.digest());
}

nb::tuple ssdeep_hashes(Bytes data, Offsets offsets, unsigned workers) {
    check_workers(workers);
    const Batch<std::uint8_t> items(data, offsets);
    std::string text;
    std::vector<std::int64_t> ends{0};
    {
        const WithoutLock released;
        std::vector<ssdeep::Digest> digests(items.count());
        for_each_document(items.count(), workers, [&] { return [&](std::size_t i) { digests[i] = ssdeep::hash(items[i].data(), items[i].size()); }; });
        for (const ssdeep::Digest& digest : digests) {
            text += ssdeep::to_text(digest);
            ends.push_back(static_cast<std::int64_t>(text.size()));
        }
    }
    return nb::make_tuple(nb::bytes(text.data(), text.size()), give(std::move(ends)));
}

int ssdeep_score(std::string_view left, std::string_view right) { return ssdeep::Scorer(parse_digest(left)).score(parse_digest(right)); }

Output<std::uint8_t> ssdeep_scores(std::string_view digest, Bytes digests, Offsets offsets, unsigned workers) {
    check_workers(workers);
    const Batch<std::uint8_t> items(digests, offsets);
    const ssdeep::Scorer scorer(parse_digest(digest));
    std::vector<std::uint8_t> scores(items.count());
    {
        const WithoutLock released;
        for_each_document(items.count(), workers, [&] {
            return [&, other = ssdeep::Digest()](std::size_t i) mutable {
                const std::string_view text(reinterpret_cast<const char*>(items[i].data()), items[i].size());
                scores[i] = ssdeep::parse(text, other) ? static_cast<std::uint8_t>(scorer.score(other)) : kMalformed;
            };
        });
    }
    const auto bad = std::find(scores.begin(), scores.end(), kMalformed);
    if (bad != scores.end()) throw std::invalid_argument("digest " + std::to_string(bad - scores.begin()) + " of the batch is not an ssdeep digest");
    return give(std::move(scores));
}

nb::tuple status_and_record(tlsh::Status status, const tlsh::Record& record) {
    const std::size_t size = status == tlsh::Status::ok ? record.size() : 0;
    return nb::make_tuple(static_cast<int>(status), nb::bytes(record.data(), size));
}

nb::tuple tlsh_hash(Bytes data) {
    tlsh::Record record;
    tlsh::Status status;
    {
        const WithoutLock released;
        status = tlsh::hash(data.data(), data.size(), record);
    }
    return status_and_record(status, record);
}

nb::tuple tlsh_digest(const TlshState& shared) {
    tlsh::Record record;
    tlsh::Status status;
    {
        const WithoutLock released;
        const std::lock_guard guard(shared.mutex);
        status = shared.state.digest(record);
    }
    return status_and_record(status, record);
}

nb::tuple tlsh_hashes(Bytes data, Offsets offsets, unsigned workers) {
    check_workers(workers);
    const Batch<std::uint8_t> items(data, offsets);
    std::vector<std::uint8_t> statuses(items.count()), records(items.count() * tlsh::kRecordSize);
    {
        const WithoutLock released;
        for_each_document(items.count(), workers, [&] {
            return [&](std::size_t i) {
                tlsh::Record record{};
                statuses[i] = static_cast<std::uint8_t>(tlsh::hash(items[i].data(), items[i].size(), record));
                std::copy(record.begin(), record.end(), records.begin() + static_cast<std::ptrdiff_t>(i * tlsh::kRecordSize));
            };
        });
    }
    return nb::make_tuple(give(std::move(statuses)), give(std::move(records)));
}

nb::bytes nilsimsa_digest(const SharedNilsimsa& shared) {
    std::array<std::uint8_t, 32> digest;
    {
        const WithoutLock released;
        const std::lock_guard guard(shared.mutex);
        digest = shared.state.digest();
    }
    return nb::bytes(digest.data(), digest.size());
}

// Digests of one size, one behind the other.
template <std::size_t Size, class Hash>
Output<std::uint8_t> digests_of(const Bytes& data, const Offsets& offsets, unsigned workers, Hash&& hash) {
    check_workers(workers);
    const Batch<std::uint8_t> items(data, offsets);
    std::vector<std::uint8_t> digests(items.count() * Size);
    {
        const WithoutLock released;
        for_each_document(items.count(), workers,
                          [&] { return [&](std::size_t i) { std::ranges::copy(hash(items[i]), digests.begin() + static_cast<std::ptrdiff_t>(i * Size)); }; });
    }
    return give(std::move(digests));
}

Output<std::uint8_t> nilsimsa_hashes(Bytes data, Offsets offsets, unsigned workers) {
    return digests_of<32>(data, offsets, workers, [](std::span<const std::uint8_t> item) {
        NilsimsaState state;
        state.update(item.data(), item.size());
        return state.digest();
    });
}

Output<std::uint8_t> mmdt_hashes(Bytes data, Offsets offsets, unsigned workers) {
    return digests_of<20>(data, offsets, workers, [](std::span<const std::uint8_t> item) { return mmdt::hash(item); });
}

// One record against many that lie one behind the other.
Output<std::int32_t> tlsh_distances(Bytes record, Bytes records, bool with_length, unsigned workers) {
    check_workers(workers);
    if (record.size() != tlsh::kRecordSize)
        throw std::invalid_argument("record of " + std::to_string(record.size()) + " bytes: a TLSH record has " + std::to_string(tlsh::kRecordSize));
    if (records.size() % tlsh::kRecordSize != 0)
        throw std::invalid_argument("records of " + std::to_string(records.size()) + " bytes: expected a multiple of " + std::to_string(tlsh::kRecordSize));
    std::vector<std::int32_t> found(records.size() / tlsh::kRecordSize);
    {
        const WithoutLock released;
        constexpr std::size_t kBlock = 4096;  // distances have a batch kernel of their own
        for_each_document((found.size() + kBlock - 1) / kBlock, workers, [&] {
            return [&](std::size_t block) {
                const std::size_t begin = block * kBlock, count = std::min(kBlock, found.size() - begin);
                tlsh::distances(record.data(), records.data() + begin * tlsh::kRecordSize, count, with_length, found.data() + begin);
            };
        });
    }
    return give(std::move(found));
}

int tlsh_distance(Bytes left, Bytes right, bool with_length) {
    if (left.size() != tlsh::kRecordSize || right.size() != tlsh::kRecordSize)
        throw std::invalid_argument("records of " + std::to_string(left.size()) + " and " + std::to_string(right.size()) + " bytes: a TLSH record has " +
                                    std::to_string(tlsh::kRecordSize));
    std::int32_t found;
    tlsh::distances(left.data(), right.data(), 1, with_length, &found);
    return found;
}

}  // namespace

void bind_fuzzy(nb::module_& m) {
    m.def("ssdeep_hash", &ssdeep_hash, "data"_a.noconvert());
    m.def("ssdeep_hashes", &ssdeep_hashes, "data"_a.noconvert(), "offsets"_a.noconvert(), "workers"_a = 1);
    m.def("ssdeep_score", &ssdeep_score, "left"_a, "right"_a);
    m.def("ssdeep_scores", &ssdeep_scores, "digest"_a, "digests"_a.noconvert(), "offsets"_a.noconvert(), "workers"_a = 1);
    nb::class_<SsdeepState>(m, "SsdeepState")
        .def(nb::init<>())
        .def("update", &SsdeepState::update, "data"_a.noconvert())
        .def_prop_ro("size", &SsdeepState::size)
        .def("digest", &ssdeep_digest);

    m.def("tlsh_hash", &tlsh_hash, "data"_a.noconvert());
    m.def("tlsh_hashes", &tlsh_hashes, "data"_a.noconvert(), "offsets"_a.noconvert(), "workers"_a = 1);
    m.def("tlsh_distance", &tlsh_distance, "left"_a.noconvert(), "right"_a.noconvert(), "with_length"_a = true);
    m.def("tlsh_distances", &tlsh_distances, "record"_a.noconvert(), "records"_a.noconvert(), "with_length"_a = true, "workers"_a = 1);
    nb::class_<TlshState>(m, "TlshState")
        .def(nb::init<>())
        .def("update", &TlshState::update, "data"_a.noconvert())
        .def_prop_ro("size", &TlshState::size)
        .def("digest", &tlsh_digest);

    m.def("nilsimsa_hashes", &nilsimsa_hashes, "data"_a.noconvert(), "offsets"_a.noconvert(), "workers"_a = 1);
    nb::class_<SharedNilsimsa>(m, "NilsimsaState")
        .def(nb::init<>())
        .def("update", &SharedNilsimsa::update, "data"_a.noconvert())
        .def_prop_ro("size", &SharedNilsimsa::size)
        .def("digest", &nilsimsa_digest);
    m.def("mmdt_hashes", &mmdt_hashes, "data"_a.noconvert(), "offsets"_a.noconvert(), "workers"_a = 1);
}

}  // namespace lookalike
