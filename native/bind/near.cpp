// Python's view of near search over a store in one call. The interpreter's lock is let go once, for all of it.
#include "rows/near.hpp"

#include "base/idle.hpp"
#include "bind/band_tables.hpp"
#include "bind/held_texts.hpp"
#include "bind/lock_turns.hpp"
#include "bind/sqlite.hpp"

namespace lookalike {
namespace {

class HeldRows {
   public:
    HeldRows(const Sqlite& sqlite, const std::string& address, const std::string& state, const std::string& row, const std::string& rows,
             const std::string& expiring, const std::string& removed, std::string log)
        : rows_(std::make_unique<StoredRows>(sqlite.functions(), address, NearStatements{state, row, rows, expiring, removed}, std::move(log))) {}
    void close() { rows_.reset(); }
    StoredRows& rows() {
        if (!rows_) throw nb::value_error("the connection is closed");
        return *rows_;
    }

   private:
    std::unique_ptr<StoredRows> rows_;
};

// A state, with the arrays that it looks at, and the newest tail that somebody found.
class HeldState {
   public:
    HeldState(std::string record_path, std::string store, std::int64_t collection, std::int64_t documents, std::int64_t next_row, std::int64_t sealed_row,
              std::int64_t generation, std::int64_t version, std::int64_t first_row, nb::list tables, nb::list files, Input<std::int64_t> removed,
              std::int64_t last_removal, std::int64_t since, std::int64_t until)
        : tables_(std::move(tables)), files_(std::move(files)), removed_(std::move(removed)),
          state_{std::move(record_path), std::move(store), collection, sealed_row, generation, first_row, {}, {}, view(removed_), since, until},
          tail_(std::make_shared<const NearTail>(NearTail{documents, next_row, version, last_removal})) {
        for (const nb::handle each : tables_) {
            if (!nb::isinstance<BandTablesOfArrays>(each)) throw nb::type_error("tables: expected BandTables");
            state_.tables.push_back(&nb::cast<const BandTablesOfArrays&>(each).tables());
        }
        for (const nb::handle each : files_) {
            if (!nb::isinstance<MappedFile>(each)) throw nb::type_error("files: expected MappedFile");
            state_.files.push_back(&nb::cast<const MappedFile&>(each));
        }
    }
    const NearState& state() const { return state_; }
    // With the interpreter's lock.
    std::shared_ptr<const NearTail> tail() const { return tail_; }
    void keep(std::shared_ptr<const NearTail> tail) {
        if (tail->version > tail_->version) tail_ = std::move(tail);
    }

   private:
    nb::list tables_, files_;
    Input<std::int64_t> removed_;
    NearState state_;
    std::shared_ptr<const NearTail> tail_;
};

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

    // How many groups share a band, how many documents reach the threshold, and of the best of them the row, the score, the id, the text and
    // the meta; True where the collection is not as it was, False where the answer is not to be had this way.
    nb::object run(nb::str text, HeldState& state, HeldRows& rows, double threshold, std::size_t limit) {
        for (const BandTables* tables : state.state().tables) {
            if (tables->bands() != options_.bands) throw nb::value_error("state: its tables have another number of bands");
        }
        const HeldText held(text);
        StoredRows& stored = rows.rows();
        std::unique_ptr<Buffers> buffers = idle_.take([&] { return Buffers{NearSearcher(text_, options_), {}}; });
        NearFound found;
        std::shared_ptr<const NearTail> tail = state.tail();
        if (!state.state().files.empty()) renew_guard();
        {
            static LockTurns turns;  // of all that search: there is one lock
            const WithoutLock released(turns);
            found = buffers->searcher.run(as_utf8(held.view(), buffers->utf8), state.state(), tail, stored, threshold, limit);
        }
        state.keep(std::move(tail));
        idle_.give_back(std::move(buffers));
        if (found.answer != NearFound::Answer::kFound) return nb::bool_(found.answer == NearFound::Answer::kChanged);
        nb::list matches;
        for (const NearMatch& match : found.matches) {
            const nb::object id = std::visit([](const auto& value) { return given(value); }, match.id);
            const nb::object stored_text = given(match.text), meta = match.meta ? given(*match.meta) : nb::none();
            if (!id.is_valid() || !stored_text.is_valid() || !meta.is_valid()) {  // what SQLite has as a text is none
                PyErr_Clear();
                return nb::bool_(false);
            }
            matches.append(nb::make_tuple(match.row, match.score, id, stored_text, meta));
        }
        return nb::make_tuple(found.candidates, found.total, matches);
    }

   private:
    struct Buffers {
        NearSearcher searcher;
        std::vector<std::uint8_t> utf8;
    };
    static nb::object given(std::int64_t number) { return nb::int_(number); }
    static nb::object given(const std::string& text) { return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), nullptr)); }

    TextOptions text_;
    NearOptions options_;
    Idle<Buffers> idle_;
};

}  // namespace

void bind_near(nb::module_& m) {
    nb::class_<HeldRows>(m, "StoredRows")
        .def(nb::init<const Sqlite&, const std::string&, const std::string&, const std::string&, const std::string&, const std::string&, const std::string&,
                      std::string>(),
             "sqlite"_a, "address"_a, "state"_a, "row"_a, "rows"_a, "expiring"_a, "removed"_a, "log"_a, nb::keep_alive<1, 2>())
        .def("close", &HeldRows::close);
    nb::class_<HeldState>(m, "NearState")
        .def(nb::init<std::string, std::string, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, nb::list,
                      nb::list, Input<std::int64_t>, std::int64_t, std::int64_t, std::int64_t>(),
             "record_path"_a, "store"_a, "collection"_a, "documents"_a, "next_row"_a, "sealed_row"_a, "generation"_a, "version"_a, "first_row"_a, "tables"_a,
             "files"_a, "removed"_a.noconvert(), "last_removal"_a, "since"_a, "until"_a);
    nb::class_<NearSearchers>(m, "NearSearcher")
        .def(nb::init<unsigned, bool, unsigned, const Seed&, std::size_t, std::size_t, std::size_t, std::size_t>(), "mode"_a, "fold"_a, "ngram"_a, "seed"_a,
             "size"_a, "bands"_a, "rows"_a, "most_candidates"_a)
        .def("run", &NearSearchers::run, "text"_a, "state"_a, "rows"_a, "threshold"_a, "limit"_a);
}

}  // namespace lookalike
