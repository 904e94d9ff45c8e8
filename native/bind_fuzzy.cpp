// Python's view of the fuzzy hashes: ssdeep and TLSH.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "ssdeep.hpp"
#include "tlsh.hpp"

namespace nb = nanobind;
using namespace nb::literals;
namespace ssdeep = lookalike::ssdeep;
namespace tlsh = lookalike::tlsh;

namespace {

using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Offsets = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

constexpr int kMaxWorkers = 256;
constexpr std::uint8_t kMalformed = 255;

template <class T>
Array<T> to_array(std::vector<T> values) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    T* data = owned->data();
    const std::size_t size = owned->size();
    nb::capsule owner(owned.get(), [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
    owned.release();
    return Array<T>(data, {size}, owner);
}

void check_workers(int workers) {
    if (workers < 1 || workers > kMaxWorkers)
        throw std::invalid_argument("workers=" + std::to_string(workers) + ": choose 1 to " + std::to_string(kMaxWorkers));
}

// Returns the number of items.
std::size_t check_offsets(const Offsets& offsets, std::size_t size) {
    if (offsets.size() == 0) throw std::invalid_argument("offsets is empty: n items need n + 1 offsets");
    const std::int64_t* at = offsets.data();
    const std::size_t count = offsets.size() - 1;
    if (at[0] < 0) throw std::invalid_argument("offsets[0]=" + std::to_string(at[0]) + " is negative");
    for (std::size_t i = 0; i < count; ++i)
        if (at[i + 1] < at[i])
            throw std::invalid_argument("offsets[" + std::to_string(i + 1) + "]=" + std::to_string(at[i + 1]) + " is less than the one before");
    if (static_cast<std::uint64_t>(at[count]) > size)
        throw std::invalid_argument("offsets[" + std::to_string(count) + "]=" + std::to_string(at[count]) + " lies behind the data's " +
                                    std::to_string(size) + " bytes");
    return count;
}

// Calls body(begin, end) for parts of 0..count. Parts are small, because items differ in size.
template <class Body>
void in_parallel(std::size_t count, int workers, const Body& body) {
    const std::size_t grain = std::clamp<std::size_t>(count / (static_cast<std::size_t>(workers) * 16), 1, 1024);
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        for (std::size_t begin; (begin = next.fetch_add(grain)) < count;) body(begin, std::min(begin + grain, count));
    };
    std::vector<std::jthread> others;
    const std::size_t helpers = std::min<std::size_t>(static_cast<std::size_t>(workers - 1), count / grain);
    others.reserve(helpers);
    try {
        while (others.size() < helpers) others.emplace_back(work);
    } catch (const std::system_error&) {
        // No more threads to be had: those that run do the work.
    }
    work();
}

// A state that several Python threads may share.
template <class State>
struct Shared {
    State state;
    mutable std::mutex mutex;

    void update(Bytes data) {
        nb::gil_scoped_release unlocked;
        const std::lock_guard guard(mutex);
        state.update(data.data(), data.size());
    }
    std::uint64_t size() const {
        nb::gil_scoped_release unlocked;
        const std::lock_guard guard(mutex);
        return state.size();
    }
};
using SsdeepState = Shared<ssdeep::State>;
using TlshState = Shared<tlsh::State>;

ssdeep::Digest parse_digest(std::string_view text) {
    ssdeep::Digest digest;
    if (!ssdeep::parse(text, digest)) throw std::invalid_argument("not an ssdeep digest: " + std::string(text.substr(0, 160)));
    return digest;
}

std::string ssdeep_hash(Bytes data) {
    nb::gil_scoped_release unlocked;
    return ssdeep::to_text(ssdeep::hash(data.data(), data.size()));
}

std::string ssdeep_digest(const SsdeepState& shared) {
    nb::gil_scoped_release unlocked;
    const std::lock_guard guard(shared.mutex);
    return ssdeep::to_text(shared.state.digest());
}

nb::tuple ssdeep_hashes(Bytes data, Offsets offsets, int workers) {
    check_workers(workers);
    std::string text;
    std::vector<std::int64_t> ends;
    {
        nb::gil_scoped_release unlocked;
        const std::size_t count = check_offsets(offsets, data.size());
        const std::int64_t* at = offsets.data();
        std::vector<ssdeep::Digest> digests(count);
        in_parallel(count, workers, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                digests[i] = ssdeep::hash(data.data() + at[i], static_cast<std::size_t>(at[i + 1] - at[i]));
        });
        ends.reserve(count + 1);
        ends.push_back(0);
        for (const ssdeep::Digest& digest : digests) {
            text += ssdeep::to_text(digest);
            ends.push_back(static_cast<std::int64_t>(text.size()));
        }
    }
    return nb::make_tuple(nb::bytes(text.data(), text.size()), to_array(std::move(ends)));
}

int ssdeep_score(std::string_view left, std::string_view right) {
    return ssdeep::Scorer(parse_digest(left)).score(parse_digest(right));
}

Array<std::uint8_t> ssdeep_scores(std::string_view digest, Bytes digests, Offsets offsets, int workers) {
    check_workers(workers);
    const ssdeep::Scorer scorer(parse_digest(digest));
    std::vector<std::uint8_t> scores;
    {
        nb::gil_scoped_release unlocked;
        scores.resize(check_offsets(offsets, digests.size()));
        const std::int64_t* at = offsets.data();
        const char* text = reinterpret_cast<const char*>(digests.data());
        in_parallel(scores.size(), workers, [&](std::size_t begin, std::size_t end) {
            ssdeep::Digest other;
            for (std::size_t i = begin; i < end; ++i) {
                const bool parsed = ssdeep::parse({text + at[i], static_cast<std::size_t>(at[i + 1] - at[i])}, other);
                scores[i] = parsed ? static_cast<std::uint8_t>(scorer.score(other)) : kMalformed;
            }
        });
    }
    const auto bad = std::find(scores.begin(), scores.end(), kMalformed);
    if (bad != scores.end()) throw std::invalid_argument("digest " + std::to_string(bad - scores.begin()) + " of the batch is not an ssdeep digest");
    return to_array(std::move(scores));
}

nb::tuple status_and_record(tlsh::Status status, const tlsh::Record& record) {
    const std::size_t size = status == tlsh::Status::ok ? record.size() : 0;
    return nb::make_tuple(static_cast<int>(status), nb::bytes(record.data(), size));
}

nb::tuple tlsh_hash(Bytes data) {
    tlsh::Record record;
    tlsh::Status status;
    {
        nb::gil_scoped_release unlocked;
        status = tlsh::hash(data.data(), data.size(), record);
    }
    return status_and_record(status, record);
}

nb::tuple tlsh_digest(const TlshState& shared) {
    tlsh::Record record;
    tlsh::Status status;
    {
        nb::gil_scoped_release unlocked;
        const std::lock_guard guard(shared.mutex);
        status = shared.state.digest(record);
    }
    return status_and_record(status, record);
}

nb::tuple tlsh_hashes(Bytes data, Offsets offsets, int workers) {
    check_workers(workers);
    std::vector<std::uint8_t> statuses, records;
    {
        nb::gil_scoped_release unlocked;
        const std::size_t count = check_offsets(offsets, data.size());
        const std::int64_t* at = offsets.data();
        statuses.resize(count);
        records.resize(count * tlsh::kRecordSize);
        in_parallel(count, workers, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                tlsh::Record record{};
                const auto status = tlsh::hash(data.data() + at[i], static_cast<std::size_t>(at[i + 1] - at[i]), record);
                statuses[i] = static_cast<std::uint8_t>(status);
                std::copy(record.begin(), record.end(), records.begin() + static_cast<std::ptrdiff_t>(i * tlsh::kRecordSize));
            }
        });
    }
    return nb::make_tuple(to_array(std::move(statuses)), to_array(std::move(records)));
}

// One record against many that lie one behind the other.
Array<std::int32_t> tlsh_distances(Bytes record, Bytes records, bool with_length, int workers) {
    check_workers(workers);
    if (record.size() != tlsh::kRecordSize)
        throw std::invalid_argument("record of " + std::to_string(record.size()) + " bytes: a TLSH record has " + std::to_string(tlsh::kRecordSize));
    if (records.size() % tlsh::kRecordSize != 0)
        throw std::invalid_argument("records of " + std::to_string(records.size()) + " bytes: expected a multiple of " +
                                    std::to_string(tlsh::kRecordSize));
    std::vector<std::int32_t> found(records.size() / tlsh::kRecordSize);
    {
        nb::gil_scoped_release unlocked;
        in_parallel(found.size(), workers, [&](std::size_t begin, std::size_t end) {
            tlsh::distances(record.data(), records.data() + begin * tlsh::kRecordSize, end - begin, with_length, found.data() + begin);
        });
    }
    return to_array(std::move(found));
}

int tlsh_distance(Bytes left, Bytes right, bool with_length) {
    if (left.size() != tlsh::kRecordSize || right.size() != tlsh::kRecordSize)
        throw std::invalid_argument("records of " + std::to_string(left.size()) + " and " + std::to_string(right.size()) +
                                    " bytes: a TLSH record has " + std::to_string(tlsh::kRecordSize));
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
}
