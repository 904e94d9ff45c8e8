// Python's view of searches over a store in one call. The interpreter's lock is let go once, for all of it.
#include <unistd.h>

#include "base/idle.hpp"
#include "bind/band_tables.hpp"
#include "bind/found_matches.hpp"
#include "bind/hamming_segment.hpp"
#include "bind/held_texts.hpp"
#include "bind/lock_turns.hpp"
#include "bind/sqlite.hpp"
#include "rows/near.hpp"
#include "rows/simhash.hpp"
#include "text/ideographs.hpp"

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

// What there was to find, as Python gets it. Without matches: the collection is not as it was, or the answer is not to be had this way.
struct Outcome {
    StoredFound::Answer answer;
    std::size_t candidates;  // how much was looked at
    nb::object matches;

    bool is_found() const { return matches.is_valid(); }
    // With how much was looked at; True where the collection is not as it was, False where the answer is not to be had this way.
    nb::object shown() const {
        return is_found() ? nb::object(nb::make_tuple(candidates, matches)) : nb::object(nb::bool_(answer == StoredFound::Answer::kChanged));
    }
};

// What `run` finds, called without the interpreter's lock, and what `made` makes of it.
template <class State, class Run, class Made>
Outcome without_lock(State& state, Run&& run, Made&& made) {
    StoredFound found = StoredFound::unfit();
    std::shared_ptr<const Tail> tail = state.tail();
    bool guarded = true;
    {
        const WithoutLock released;
        guarded = state.state().known.files.empty() || guard_is_first();
        if (guarded) found = run(tail);
    }
    if (!guarded) {
        renew_guard();
        const WithoutLock released;
        found = run(tail);
    }
    state.keep(std::move(tail));
    return {found.answer, found.candidates, found.answer == StoredFound::Answer::kFound ? made(found) : nb::object()};
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

    using State = HeldNearState;

    // What was looked at are groups that share a band.
    Outcome search(nb::handle text, HeldNearState& state, HeldRows& rows, double threshold, std::size_t limit, const MatchMaker& maker, bool with_text) {
        for (const BandTables* tables : state.state().parts) {
            if (tables->bands() != options_.bands) throw nb::value_error("state: its tables have another number of bands");
        }
        const HeldText held(text);
        StoredRows& stored = rows.rows();
        std::unique_ptr<Buffers> buffers = idle_.take([&] { return Buffers{NearSearcher(text_, options_), {}}; });
        Outcome found = without_lock(
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
    nb::object run(nb::str text, HeldNearState& state, HeldRows& rows, double threshold, std::size_t limit, const MatchMaker& maker, bool with_text) {
        return search(text, state, rows, threshold, limit, maker, with_text).shown();
    }

    std::size_t most_candidates() const { return options_.most_candidates; }

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

    using State = HeldSimhashState;

    Outcome search(nb::handle text, HeldSimhashState& state, HeldRows& rows, unsigned k, std::size_t limit, const MatchMaker& maker, bool with_text) {
        check_distance(k);
        for (const HammingSegment* segment : state.state().parts) {
            if (segment->bits() != bits_) throw nb::value_error("state: its segments have another number of bits");
        }
        const HeldText held(text);
        StoredRows& stored = rows.rows();
        std::unique_ptr<SimhashSearcher> searcher = idle_.take([&] { return SimhashSearcher(text_, bits_, unique_); });
        Outcome found = without_lock(
            state, [&](std::shared_ptr<const Tail>& tail) { return searcher->run(held.view(), state.state(), tail, stored, k, limit); },
            [&](const StoredFound& all) {
                return maker.made(all, text, with_text, [&](const StoredMatch& each) {
                    return MatchMaker::Scored{nb::float_(1 - each.score / bits_), nb::int_(static_cast<unsigned>(each.score))};
                });
            });
        idle_.give_back(std::move(searcher));
        return found;
    }
    nb::object run(nb::str text, HeldSimhashState& state, HeldRows& rows, unsigned k, std::size_t limit, const MatchMaker& maker, bool with_text) {
        return search(text, state, rows, k, limit, maker, with_text).shown();
    }

   private:
    TextOptions text_;
    unsigned bits_;
    bool unique_;
    Idle<SimhashSearcher> idle_;
};

// A way to search, with all that was decided on beforehand, and the state that it looks at.
template <class Searchers, class Least, class Note>
struct UsualWay {
    UsualWay(nb::object its_searchers, nb::object its_state, nb::object its_maker, Least its_least, std::size_t its_limit, Note its_note)
        : owned{std::move(its_searchers), std::move(its_state), std::move(its_maker)}, searchers(given<Searchers>(owned[0])),
          state(given<typename Searchers::State>(owned[1])), maker(given<MatchMaker>(owned[2])), least(its_least), limit(its_limit), note(std::move(its_note)) {
    }

    template <class Type>
    static Type& given(nb::handle object) {
        if (!nb::isinstance<Type>(object)) throw nb::type_error("searcher, state, maker: expected those of one way to search");
        return nb::cast<Type&>(object);
    }

    std::array<nb::object, 3> owned;
    Searchers& searchers;
    typename Searchers::State& state;
    const MatchMaker& maker;
    Least least;
    std::size_t limit;
    Note note;
};

// Searches as nearly everybody asks for them, from a text to its matches without a step of Python. Each function, class and number that Python touches
// counts who uses it, and threads that search fetch these counts from each other's processor: that takes longer than all that is done with them.
class UsualSearches {
   public:
    using Notes = std::tuple<std::size_t, nb::list, nb::list>;

    // Connections that nobody uses, at most so many; `give_back` takes one with which not all went well, or that may be one too many.
    UsualSearches(nb::list idle, nb::callable give_back, std::size_t most_idle)
        : idle_(std::move(idle)), give_back_(std::move(give_back)), most_idle_(most_idle), opened_(nb::steal(PyUnicode_InternFromString("opened"))),
          notes_(nb::steal(PyUnicode_InternFromString("notes"))) {}
    UsualSearches(const UsualSearches&) = delete;
    UsualSearches& operator=(const UsualSearches&) = delete;

    // How the next ones are done. `note` gets how many candidates there were, where these are more than what is verified, and says the notes on it.
    void near(nb::object searchers, nb::object state, nb::object maker, double threshold, std::size_t limit, nb::callable note) {
        if (!is_closed_) near_ = std::make_shared<const Near>(std::move(searchers), std::move(state), std::move(maker), threshold, limit, std::move(note));
    }
    // `notes` are on texts of up to so many characters each: those on other texts, and those on texts of mostly ideographs.
    void simhash(nb::object searchers, nb::object state, nb::object maker, unsigned k, std::size_t limit, const std::vector<Notes>& notes) {
        if (!is_closed_) simhash_ = std::make_shared<const Simhash>(std::move(searchers), std::move(state), std::move(maker), k, limit, notes);
    }
    // For good.
    void close() {
        is_closed_ = true;
        near_.reset();
        simhash_.reset();
    }

    // None: it may be found the next time, or by what does not hold a state already. False: the answer is not to be had this way.
    nb::object find(nb::handle text, nb::handle by) {
        if (!PyUnicode_CheckExact(text.ptr()) || process_ != getpid()) return nb::none();
        if (by.is_none() || is(by, "near")) {
            return searched(near_, text, [&](const Near& way, const Outcome& found) {
                if (found.candidates > way.searchers.most_candidates()) nb::setattr(found.matches, notes_, way.note(found.candidates));
            });
        }
        if (!is(by, "simhash")) return nb::none();
        return searched(simhash_, text, [&](const Simhash& way, const Outcome& found) {
            if (const nb::list* const notes = notes_on(way, text)) nb::setattr(found.matches, notes_, nb::list(*notes));
        });
    }

   private:
    using Near = UsualWay<NearSearchers, double, nb::callable>;
    using Simhash = UsualWay<SimhashSearchers, unsigned, std::vector<Notes>>;

    static bool is(nb::handle by, const char* name) { return PyUnicode_CheckExact(by.ptr()) && PyUnicode_CompareWithASCIIString(by.ptr(), name) == 0; }

    template <class Way, class Note>
    nb::object searched(const std::shared_ptr<const Way>& newest, nb::handle text, Note&& note) {
        const std::size_t count = idle_.size();
        if (!newest || count == 0) return nb::none();
        const std::shared_ptr<const Way> way = newest;  // there may be a newer one soon
        const nb::object held = idle_[count - 1];
        if (PyList_SetSlice(idle_.ptr(), static_cast<Py_ssize_t>(count - 1), static_cast<Py_ssize_t>(count), nullptr) != 0) throw nb::python_error();
        Outcome found{StoredFound::Answer::kChanged, 0, {}};
        bool good = true;
        try {
            const nb::object rows = nb::getattr(held, opened_);
            if (!rows.is_none()) found = way->searchers.search(text, way->state, nb::cast<HeldRows&>(rows), way->least, way->limit, way->maker, false);
        } catch (const std::exception&) {  // the long way says what there is to say
            good = false;
        }
        if (!found.is_found() || is_closed_ || idle_.size() >= most_idle_) {
            give_back_(held, good);
        } else if (PyList_Append(idle_.ptr(), held.ptr()) != 0) {
            throw nb::python_error();
        }
        if (!found.is_found()) return found.answer == StoredFound::Answer::kUnfit && good ? nb::object(nb::bool_(false)) : nb::none();
        note(*way, found);
        return std::move(found.matches);
    }

    // Null where there are none.
    static const nb::list* notes_on(const Simhash& way, nb::handle text) {
        const auto characters = static_cast<std::size_t>(PyUnicode_GetLength(text.ptr()));
        const auto of_length = std::ranges::find_if(way.note, [&](const Notes& each) { return characters <= std::get<0>(each); });
        if (of_length == way.note.end()) return nullptr;
        const auto& [_, others, on_ideographs] = *of_length;
        const nb::list& notes = is_ideographic(HeldText(text).view(), characters) ? on_ideographs : others;
        return notes.size() == 0 ? nullptr : &notes;
    }

    nb::list idle_;
    nb::callable give_back_;
    std::size_t most_idle_;
    nb::object opened_, notes_;
    pid_t process_ = getpid();
    bool is_closed_ = false;
    std::shared_ptr<const Near> near_;
    std::shared_ptr<const Simhash> simhash_;
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
    nb::class_<UsualSearches>(m, "UsualSearches")
        .def(nb::init<nb::list, nb::callable, std::size_t>(), "idle"_a, "give_back"_a, "most_idle"_a)
        .def("near", &UsualSearches::near, "searcher"_a, "state"_a, "maker"_a, "threshold"_a, "limit"_a, "note"_a)
        .def("simhash", &UsualSearches::simhash, "searcher"_a, "state"_a, "maker"_a, "k"_a, "limit"_a, "notes"_a)
        .def("close", &UsualSearches::close)
        .def("find", &UsualSearches::find, "text"_a.none(), "by"_a.none());
}

}  // namespace lookalike
