// One state of a collection on disk, for searches that are done in one go: what was read of it in full once, what was added and removed since, and
// the documents themselves.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/mapped_file.hpp"
#include "rows/acknowledged.hpp"
#include "rows/sqlite.hpp"
#include "segments/bands.hpp"
#include "text/utf8.hpp"

namespace lookalike {

// Documents that were added since a collection was looked at in full, and those that were removed. It never changes: whoever finds more makes
// another one.
struct Tail {
    std::int64_t documents, next_row, version;  // of the collection, with these
    std::int64_t last_removal;                  // its number
    std::vector<std::int64_t> rows{};           // they ascend
    std::vector<std::uint64_t> numbers{};       // what each is searched by: of near search its digest, of SimHashes the fingerprint, or half of it
    std::vector<std::uint32_t> keys{};          // of near search the keys of the bands of each, of 128 bits the fingerprint in four pieces
    std::vector<std::int64_t> removed{};        // rows that are not among these; they ascend

    void remove(std::size_t place);
};

// What a collection was like when it was last looked at in full: a search holds as long as there is nothing new but a tail.
struct KnownState {
    std::string record_path, store;  // the file of what was acknowledged, and the id that it names
    std::int64_t collection;         // its number
    std::int64_t sealed_row, generation;
    std::int64_t first_row;                 // of the collection in the table
    std::vector<const MappedFile*> files;   // that segments are mapped from
    std::span<const std::int64_t> removed;  // rows that segments may hold and that are not there any more; they ascend
    std::int64_t since, until;              // milliseconds since 1970: documents expire

    bool is_of_now() const;
    bool files_are_whole() const;
    GoneRows gone(const Tail& tail) const { return {removed, tail.removed}; }
};

// The statements of searches.
struct StoredStatements {
    std::string state;     // of a collection: its documents, next row, sealed row, generation and version; changes, id, chain and chain before of the store
    std::string row;       // its id, text, meta and checks
    std::string near;      // rows from one up to another: each with its digest, its band keys and its checks
    std::string simhash;   // the same with the fingerprint
    std::string expiring;  // those of them that expire; an older store has no table of them
    std::string removed;   // of a collection, after the removal with a number: the number and the row of each
};

enum class SearchedBy { kNear, kSimhash };

struct StoredMatch {
    std::int64_t row;
    double score;  // of SimHashes the distance
    std::variant<std::int64_t, std::string> id;
    std::optional<std::string> text, meta;
};

// A connection to the table of documents and the statements on it. For one thread at a time.
class StoredRows {
   public:
    // `log` is the log that would be there if somebody wrote, where the address takes the database for immutable; otherwise it is empty.
    StoredRows(const SqliteFunctions& sqlite, const std::string& address, const StoredStatements& statements, std::string log)
        : log_(std::move(log)), connection_(sqlite, address), state_(connection_.prepare(statements.state)), row_(connection_.prepare(statements.row)),
          near_(connection_.prepare(statements.near)), simhash_(connection_.prepare(statements.simhash)),
          expiring_(connection_.prepare_if_possible(statements.expiring)), removed_(connection_.prepare(statements.removed)) {}

    // Begins to read. What is read until the end is of one state: the known one with a tail, which is given, or replaced by one that is made of
    // it and what was added and removed since. False where there is none, so that the collection is to be looked at again. `width` is how many
    // keys a row has.
    bool begin(const KnownState& known, std::shared_ptr<const Tail>& tail, SearchedBy by, std::size_t width);
    void end();
    // A row as it was written; nothing where it is not, or is none that this can read.
    std::optional<StoredMatch> read(const KnownState& known, std::int64_t row);

   private:
    // The collection's row, and that of the store.
    struct State {
        std::int64_t collection, documents, next_row, sealed_row, generation, version;
        std::uint64_t changes;
        std::string store, chain, before;
    };
    bool is_immutable() const { return !log_.empty(); }
    // Begins the transaction. Null where there is none, or it holds what no store has.
    const State* state(std::int64_t collection);
    // Whether there were so many.
    bool remove_rows(const KnownState& known, std::int64_t count, Tail& tail);
    bool add_rows(const KnownState& known, SearchedBy by, std::size_t width, std::int64_t end, Tail& tail);

    std::string log_;
    RecordFile record_;
    std::optional<State> seen_;  // the last one
    SqliteConnection connection_;
    std::unique_ptr<SqliteStatement> state_, row_, near_, simhash_, expiring_, removed_;  // while the first is not reset, the transaction goes on
};

constexpr std::size_t kMostRows = 4096;  // that are held at once; more of them are for the long way

struct StoredFound {
    enum class Answer { kFound, kChanged, kUnfit } answer;  // kChanged: look at the collection again; kUnfit: search by the long way
    std::size_t candidates = 0, total = 0;                  // what was looked at; documents that match
    std::vector<StoredMatch> matches;                       // the best of them, then the oldest first

    static StoredFound unfit() { return {Answer::kUnfit, 0, 0, {}}; }
    // Whether all texts are well-formed UTF-8.
    bool has_texts() const {
        return std::ranges::all_of(matches, [](const StoredMatch& match) {
            return !match.text || is_utf8(reinterpret_cast<const std::uint8_t*>(match.text->data()), match.text->size());
        });
    }
};

// What `search` finds of a tail, in one state of the collection. The tail is replaced by the one that was searched.
template <class Search>
StoredFound search_stored(const KnownState& known, std::shared_ptr<const Tail>& tail, StoredRows& stored, SearchedBy by, std::size_t width, Search&& search) {
    class Reading {  // from the beginning to the end
       public:
        explicit Reading(StoredRows& rows) : rows_(rows) {}
        Reading(const Reading&) = delete;
        Reading& operator=(const Reading&) = delete;
        ~Reading() { rows_.end(); }

       private:
        StoredRows& rows_;
    };
    const Reading reading(stored);
    if (!stored.begin(known, tail, by, width)) return {StoredFound::Answer::kChanged, 0, 0, {}};
    // A file that is cut or overwritten misleads: before a search, so that it does not run into it, and after one, so that it does not count.
    if (!known.files_are_whole()) return StoredFound::unfit();
    StoredFound found = search(*tail);
    return known.files_are_whole() && found.has_texts() ? std::move(found) : StoredFound::unfit();
}

}  // namespace lookalike
