// Python's view of searches over a store in one call. The interpreter's lock is let go once, for all of it.
#include "base/idle.hpp"
#include "bind/band_tables.hpp"
#include "bind/found_matches.hpp"
#include "bind/hamming_segment.hpp"
#include "bind/held_texts.hpp"
#include "bind/lock_turns.hpp"
#include "bind/sqlite.hpp"
#include "rows/near.hpp"
#include "rows/simhash.hpp"

namespace lookalike {
namespace {

class HeldRows {
   public:
    HeldRows(const Sqlite& sqlite, const std::string& address, const std::string& state, const std::string& row, const std::string& near,
             const std::string& simhash, const std::string& expiring, const std::string& removed, std::string log)
        : rows_(std::make_unique<StoredRows>(sqlite.functions(), address, StoredStatements{state, row, near, simhash, expiring, removed}, std::move(log))) {}
    void close() { rows_.reset(); }
    StoredRows& rows() {
        if (!rows_) throw nb::value_error("the connection is closed");
        return *rows_;
    }

   private:
    std::unique_ptr<StoredRows> rows_;
};

const BandTables& part_of(const BandTablesOfArrays& held) { return held.tables(); }
const HammingSegment& part_of(const HeldHammingSegment& held) { return held.segment(); }

// A state, with the arrays that it looks at, and the newest tail that somebody found. `Held` is what Python has of a segment.
template <class State, class Held>
class HeldState {
   public:
    HeldState(std::string record_path, std::string store, std::int64_t collection, std::int64_t documents, std::int64_t next_row, std::int64_t sealed_row,
              std::int64_t generation, std::int64_t version, std::int64_t first_row, nb::list parts, nb::list files, Input<std::int64_t> removed,
              std::int64_t last_removal, std::int64_t since, std::int64_t until)
        : parts_(std::move(parts)), files_(std::move(files)), removed_(std::move(removed)),
          state_{{std::move(record_path), std::move(store), collection, sealed_row, generation, first_row, {}, view(removed_), since, until}, {}},
          tail_(std::make_shared<const Tail>(Tail{documents, next_row, version, last_removal})) {
        for (const nb::handle each : parts_) {
            if (!nb::isinstance<Held>(each)) throw nb::type_error("parts: expected segments of this kind");
            state_.parts.push_back(&part_of(nb::cast<const Held&>(each)));
        }
        for (const nb::handle each : files_) {
            if (!nb::isinstance<MappedFile>(each)) throw nb::type_error("files: expected MappedFile");
            state_.known.files.push_back(&nb::cast<const MappedFile&>(each));
        }
    }
    const State& state() const { return state_; }
    // With the interpreter's lock.
    std::shared_ptr<const Tail> tail() const { return tail_; }
    void keep(std::shared_ptr<const Tail> tail) {
        if (tail->version > tail_->version) tail_ = std::move(tail);
    }

   private:
    nb::list parts_, files_;
    Input<std::int64_t> removed_;
    State state_;
    std::shared_ptr<const Tail> tail_;
};

using HeldNearState = HeldState<NearState, BandTablesOfArrays>;
using HeldSimhashState = HeldState<SimhashState, HeldHammingSegment>;

// What `run` finds, called without the interpreter's lock: how much was looked at, and what `made` makes of it; True where the collection is not as it
// was, False where the answer is not to be had this way.
template <class State, class Run, class Made>
nb::object without_lock(State& state, Run&& run, Made&& made) {
    StoredFound found;
    std::shared_ptr<const Tail> tail = state.tail();
    if (!state.state().known.files.empty()) renew_guard();
    {
        const WithoutLock released;
        found = run(tail);
    }
    state.keep(std::move(tail));
    if (found.answer != StoredFound::Answer::kFound) return nb::bool_(found.answer == StoredFound::Answer::kChanged);
    const nb::object matches = made(found);
    return matches.is_valid() ? nb::object(nb::make_tuple(found.candidates, matches)) : nb::object(nb::bool_(false));
}

// A recipe, ready for use by any number of threads: each has buffers of its own, which are kept for the next.
class NearSearchers {
   public:
    NearSearchers(unsigned mode, bool fold, unsigned ngram, const Seed& seed, std::size_t size, std::size_t bands, std::size_t rows,
                  std::size_t most_candidates)
        : text_(check_text(mode, fold, ngram, seed)), options_{check_size(size), bands, rows, most_candidates} {
        if (bands < 1 || rows < 1 || bands > size || rows > size / bands)
            throw nb::value_error("bands, rows: choose 1 or more, with bands * rows at most the size");
    }
    NearSearchers(const NearSearchers&) = delete;
    NearSearchers& operator=(const NearSearchers&) = delete;

    // What was looked at are groups that share a band.
    nb::object run(nb::str text, HeldNearState& state, HeldRows& rows, double threshold, std::size_t limit, const MatchMaker& maker, bool with_text) {
        for (const BandTables* tables : state.state().parts) {
            if (tables->bands() != options_.bands) throw nb::value_error("state: its tables have another number of bands");
        }
        const HeldText held(text);
        StoredRows& stored = rows.rows();
        std::unique_ptr<Buffers> buffers = idle_.take([&] { return Buffers{NearSearcher(text_, options_), {}}; });
        const nb::object found = without_lock(
            state,
            [&](std::shared_ptr<const Tail>& tail) {
                return buffers->searcher.run(as_utf8(held.view(), buffers->utf8), state.state(), tail, stored, threshold, limit);
            },
            [&](const StoredFound& all) {
                return maker.made(all, text, with_text,
                                  [](const StoredMatch& each) { return MatchMaker::Scored{nb::float_(each.score), nb::float_(1 - each.score)}; });
            });
        idle_.give_back(std::move(buffers));
        return found;
    }

   private:
    struct Buffers {
        NearSearcher searcher;
        std::vector<std::uint8_t> utf8;
    };

    TextOptions text_;
    NearOptions options_;
    Idle<Buffers> idle_;
};

class SimhashSearchers {
   public:
    SimhashSearchers(unsigned mode, bool fold, unsigned ngram, const Seed& seed, unsigned bits, bool unique)
        : text_(check_text(mode, fold, ngram, seed)), bits_(check_bits(bits)), unique_(unique) {}
    SimhashSearchers(const SimhashSearchers&) = delete;
    SimhashSearchers& operator=(const SimhashSearchers&) = delete;

    nb::object run(nb::str text, HeldSimhashState& state, HeldRows& rows, unsigned k, std::size_t limit, const MatchMaker& maker, bool with_text) {
        check_distance(k);
        for (const HammingSegment* segment : state.state().parts) {
            if (segment->bits() != bits_) throw nb::value_error("state: its segments have another number of bits");
        }
        const HeldText held(text);
        StoredRows& stored = rows.rows();
        std::unique_ptr<SimhashSearcher> searcher = idle_.take([&] { return SimhashSearcher(text_, bits_, unique_); });
        const nb::object found = without_lock(
            state, [&](std::shared_ptr<const Tail>& tail) { return searcher->run(held.view(), state.state(), tail, stored, k, limit); },
            [&](const StoredFound& all) {
                return maker.made(all, text, with_text, [&](const StoredMatch& each) {
                    return MatchMaker::Scored{nb::float_(1 - each.score / bits_), nb::int_(static_cast<unsigned>(each.score))};
                });
            });
        idle_.give_back(std::move(searcher));
        return found;
    }

   private:
    TextOptions text_;
    unsigned bits_;
    bool unique_;
    Idle<SimhashSearcher> idle_;
};

template <class State>
void bind_state(nb::module_& m, const char* name) {
    nb::class_<State>(m, name).def(nb::init<std::string, std::string, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                                            std::int64_t, nb::list, nb::list, Input<std::int64_t>, std::int64_t, std::int64_t, std::int64_t>(),
                                   "record_path"_a, "store"_a, "collection"_a, "documents"_a, "next_row"_a, "sealed_row"_a, "generation"_a, "version"_a,
                                   "first_row"_a, "parts"_a, "files"_a, "removed"_a.noconvert(), "last_removal"_a, "since"_a, "until"_a);
}

}  // namespace

void bind_direct(nb::module_& m) {
    nb::class_<HeldRows>(m, "StoredRows")
        .def(nb::init<const Sqlite&, const std::string&, const std::string&, const std::string&, const std::string&, const std::string&, const std::string&,
                      const std::string&, std::string>(),
             "sqlite"_a, "address"_a, "state"_a, "row"_a, "near"_a, "simhash"_a, "expiring"_a, "removed"_a, "log"_a, nb::keep_alive<1, 2>())
        .def("close", &HeldRows::close);
    nb::class_<MatchMaker>(m, "MatchMaker")
        .def(nb::init<nb::type_object, nb::type_object, nb::str, std::optional<nb::callable>, nb::object>(), "match"_a, "matches"_a, "scale"_a,
             "explain"_a.none(), "settings"_a);
    bind_state<HeldNearState>(m, "NearState");
    bind_state<HeldSimhashState>(m, "SimhashState");
    nb::class_<NearSearchers>(m, "NearSearcher")
        .def(nb::init<unsigned, bool, unsigned, const Seed&, std::size_t, std::size_t, std::size_t, std::size_t>(), "mode"_a, "fold"_a, "ngram"_a, "seed"_a,
             "size"_a, "bands"_a, "rows"_a, "most_candidates"_a)
        .def("run", &NearSearchers::run, "text"_a, "state"_a, "rows"_a, "threshold"_a, "limit"_a, "maker"_a, "with_text"_a);
    nb::class_<SimhashSearchers>(m, "SimhashSearcher")
        .def(nb::init<unsigned, bool, unsigned, const Seed&, unsigned, bool>(), "mode"_a, "fold"_a, "ngram"_a, "seed"_a, "bits"_a, "unique"_a)
        .def("run", &SimhashSearchers::run, "text"_a, "state"_a, "rows"_a, "k"_a, "limit"_a, "maker"_a, "with_text"_a);
}

}  // namespace lookalike
