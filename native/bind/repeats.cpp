// Python's view of passages that stand in a corpus more than once.
#include "passages/repeats.hpp"

#include "base/parallel.hpp"
#include "bind/bind.hpp"
#include "passages/units.hpp"
#include "text/words.hpp"

namespace lookalike {
namespace {

UnitOptions check_units(unsigned mode, bool fold, bool sentences) {
    if (mode == 3) throw nb::value_error("mode 3 makes no tokens");
    return {check_mode(mode), fold, sentences};
}

// Secret hashes of the units of texts, one text after the other, and where those of each begin.
std::pair<Output<std::uint64_t>, Output<std::int64_t>> unit_hashes(Bytes data, Offsets offsets, unsigned mode, bool fold, bool sentences) {
    const Batch<std::uint8_t> texts(data, offsets);
    const UnitOptions options = check_units(mode, fold, sentences);
    std::vector<std::uint64_t> hashes;
    std::vector<std::int64_t> ends{0};
    {
        nb::gil_scoped_release release;
        hashes.reserve(data.size() / 5);
        ends.reserve(texts.count() + 1);
        UnitReader reader(options, process_secret());
        for (std::size_t i = 0; i < texts.count(); ++i) {
            reader.append_hashes(texts[i], hashes);
            ends.push_back(static_cast<std::int64_t>(hashes.size()));
        }
        hashes.shrink_to_fit();
    }
    return {give(std::move(hashes)), give(std::move(ends))};
}

// Where wanted units of each text begin and end, in code points, and where the unit behind each begins; behind the last one that is the end of the
// text. `ends`: where the wanted ones of each text begin, one more than texts.
std::tuple<Output<std::uint32_t>, Output<std::uint32_t>, Output<std::uint32_t>> unit_spans(Bytes data, Offsets offsets, unsigned mode, bool fold,
                                                                                           bool sentences, Input<std::uint32_t> wanted, Offsets ends) {
    const Batch<std::uint8_t> texts(data, offsets);
    const Batch<std::uint32_t> places(wanted, ends);
    const UnitOptions options = check_units(mode, fold, sentences);
    if (texts.count() != places.count()) throw nb::value_error("ends: expected as many as offsets");
    std::vector<std::uint32_t> begins(wanted.size()), stops(wanted.size()), nexts(wanted.size());
    {
        nb::gil_scoped_release release;
        UnitReader reader(options, process_secret());
        std::vector<std::uint32_t> all_begins, all_ends;
        std::size_t done = 0;
        for (std::size_t i = 0; i < texts.count(); ++i) {
            if (places[i].empty()) continue;
            reader.find_spans(texts[i], all_begins, all_ends);
            all_begins.push_back(static_cast<std::uint32_t>(count_code_points(texts[i])));
            for (const std::uint32_t place : places[i]) {
                if (place >= all_ends.size()) throw std::invalid_argument("wanted: a text has fewer units");
                begins[done] = all_begins[place];
                stops[done] = all_ends[place];
                nexts[done++] = all_begins[place + 1];
            }
        }
    }
    return {give(std::move(begins)), give(std::move(stops)), give(std::move(nexts))};
}

// Keeps alive what it looks at.
class Repeats {
   public:
    Repeats(Hashes units, Offsets offsets, std::size_t length, bool within, unsigned workers, std::size_t memory) : units_(units), offsets_(offsets) {
        check_offsets_of_units();
        if (length < 1 || length > 1'000'000) throw nb::value_error("length: choose 1 to 1,000,000");
        check_workers(workers);
        nb::gil_scoped_release release;
        finder_.emplace(view(units_), view(offsets_), length, within, workers, memory, process_secret());
    }

    void mark(std::size_t first, std::size_t last) {
        check_documents(first, last);
        nb::gil_scoped_release release;
        finder_->mark(first, last);
    }
    void find(std::size_t first, std::size_t last) {
        check_documents(first, last);
        nb::gil_scoped_release release;
        finder_->find(first, last);
    }
    std::size_t slices() const { return finder_->slices(); }
    std::size_t candidates() const { return finder_->candidates(); }
    void collect(std::size_t slice) {
        if (slice >= finder_->slices()) throw nb::value_error("slice: there are fewer");
        nb::gil_scoped_release release;
        finder_->collect(slice);
    }
    // Five numbers for each passage: document, first unit, units, the document that stays, first unit there.
    Output<std::int64_t> decide(Offsets documents) {
        std::vector<std::int64_t> out;
        for (const std::int64_t document : view(documents)) {
            if (document < 0 || static_cast<std::size_t>(document) >= finder_->documents()) throw nb::value_error("documents: there are fewer");
        }
        {
            nb::gil_scoped_release release;
            const std::vector<Passage> found = finder_->decide(view(documents));
            out.reserve(5 * found.size());
            for (const Passage& each : found) out.insert(out.end(), {each.document, each.first, each.length, each.source, each.source_first});
        }
        return give(std::move(out));
    }

   private:
    void check_offsets_of_units() const {
        check_offsets(view(offsets_), units_.size());
        if (static_cast<std::size_t>(view(offsets_).back()) != units_.size()) throw nb::value_error("offsets: the last one must be the end of the units");
    }
    void check_documents(std::size_t first, std::size_t last) const {
        if (first > last || last > finder_->documents()) throw nb::value_error("documents: there are fewer");
    }

    Hashes units_;
    Offsets offsets_;
    std::optional<RepeatFinder> finder_;
};

}  // namespace

void bind_repeats(nb::module_& m) {
    m.def("unit_hashes", &unit_hashes, "data"_a.noconvert(), "offsets"_a.noconvert(), "mode"_a, "fold"_a, "sentences"_a);
    m.def("unit_spans", &unit_spans, "data"_a.noconvert(), "offsets"_a.noconvert(), "mode"_a, "fold"_a, "sentences"_a, "wanted"_a.noconvert(),
          "ends"_a.noconvert());
    nb::class_<Repeats>(m, "Repeats")
        .def(nb::init<Hashes, Offsets, std::size_t, bool, unsigned, std::size_t>(), "units"_a.noconvert(), "offsets"_a.noconvert(), "length"_a, "within"_a,
             "workers"_a, "memory"_a)
        .def("mark", &Repeats::mark, "first"_a, "last"_a)
        .def("find", &Repeats::find, "first"_a, "last"_a)
        .def("slices", &Repeats::slices)
        .def("candidates", &Repeats::candidates)
        .def("collect", &Repeats::collect, "slice"_a)
        .def("decide", &Repeats::decide, "documents"_a.noconvert());
}

}  // namespace lookalike
