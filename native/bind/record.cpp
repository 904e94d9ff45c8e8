// Python's view of the fingerprints of records.
#include "sketch/record.hpp"

#include "base/parallel.hpp"
#include "bind/bind.hpp"
#include "sketch/simhash.hpp"

namespace lookalike {
namespace {

// The leaves of several records, in parallel arrays; `records` says where the leaves of each begin. Everything is checked.
class Leaves {
   public:
    Leaves(const Hashes& paths, const Input<double>& weights, const Bytes& kinds, const Input<double>& numbers, const Bytes& data, const Offsets& offsets,
           const Offsets& records)
        : paths_(view(paths)), weights_(view(weights)), kinds_(view(kinds)), numbers_(view(numbers)), strings_(data, offsets), records_(view(records)) {
        const std::size_t count = paths_.size();
        if (kinds_.size() != count || numbers_.size() != count || strings_.count() != count) throw nb::value_error("leaves: arrays of different lengths");
        check_weights(weights_, count, false);
        check_offsets(records_, count);
        for (std::size_t i = 0; i < count; ++i) {
            if (kinds_[i] >= kLeafKinds) throw nb::value_error("kinds: 0 text, 1 element, 2 json, 3 number, 4 day, 5 key");
            if (!std::isfinite(numbers_[i])) throw nb::value_error("numbers: expected finite ones");
            if (weights_[i] < 0 || weights_[i] > 1) throw nb::value_error("weights: expected shares from 0 to 1");
        }
    }

    std::size_t count() const { return records_.size() - 1; }

    template <class Visit>
    void of(std::size_t record, Visit&& visit) const {
        for (auto i = static_cast<std::size_t>(records_[record]); i < static_cast<std::size_t>(records_[record + 1]); ++i) {
            visit(Leaf{paths_[i], weights_[i], static_cast<LeafKind>(kinds_[i]), numbers_[i], strings_[i]});
        }
    }

   private:
    std::span<const std::uint64_t> paths_;
    std::span<const double> weights_;
    std::span<const std::uint8_t> kinds_;
    std::span<const double> numbers_;
    Batch<std::uint8_t> strings_;
    std::span<const std::int64_t> records_;
};

std::pair<Output<std::uint64_t>, Output<std::uint32_t>> sketch_records(Hashes paths, Input<double> weights, Bytes kinds, Input<double> numbers, Bytes data,
                                                                       Offsets offsets, Offsets records, unsigned bits, std::size_t size, unsigned workers) {
    const Leaves leaves(paths, weights, kinds, numbers, data, offsets, records);
    check_bits(bits);
    check_size(size);
    check_workers(workers);
    if (leaves.count() > (std::size_t{1} << 40) / size) throw nb::value_error("size: the sketches of this batch would take more than 4 TiB");
    const std::size_t words = SimHasher(bits).words();
    std::vector<std::uint64_t> simhashes(leaves.count() * words);
    std::vector<std::uint32_t> minhashes(leaves.count() * size);
    {
        nb::gil_scoped_release release;
        for_each_document(leaves.count(), workers, [&] {
            return [&, sketcher = RecordSketcher(bits, size)](std::size_t i) mutable {
                sketcher.start();
                leaves.of(i, [&](const Leaf& leaf) { sketcher.add(leaf); });
                sketcher.finish(simhashes.data() + i * words, minhashes.data() + i * size);
            };
        });
    }
    return {give(std::move(simhashes)), give(std::move(minhashes))};
}

// The features of one record, ascending, and their weights.
std::pair<Output<std::uint64_t>, Output<double>> record_features(Hashes paths, Input<double> weights, Bytes kinds, Input<double> numbers, Bytes data,
                                                                 Offsets offsets, Offsets records) {
    const Leaves leaves(paths, weights, kinds, numbers, data, offsets, records);
    if (leaves.count() != 1) throw nb::value_error("records: expected the leaves of one");
    std::vector<std::uint64_t> hashes;
    std::vector<double> found;
    {
        nb::gil_scoped_release release;
        RecordSketcher sketcher(64, 1);
        leaves.of(0, [&](const Leaf& leaf) { sketcher.add(leaf); });
        for (const auto& [hash, weight] : sketcher.features()) {
            hashes.push_back(hash);
            found.push_back(weight);
        }
    }
    return {give(std::move(hashes)), give(std::move(found))};
}

}  // namespace

void bind_record(nb::module_& m) {
    m.def("sketch_records", &sketch_records, "paths"_a.noconvert(), "weights"_a.noconvert(), "kinds"_a.noconvert(), "numbers"_a.noconvert(),
          "data"_a.noconvert(), "offsets"_a.noconvert(), "records"_a.noconvert(), "bits"_a, "size"_a, "workers"_a);
    m.def("record_features", &record_features, "paths"_a.noconvert(), "weights"_a.noconvert(), "kinds"_a.noconvert(), "numbers"_a.noconvert(),
          "data"_a.noconvert(), "offsets"_a.noconvert(), "records"_a.noconvert());
}

}  // namespace lookalike
