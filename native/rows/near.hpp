// Near search over a store, from a text to the documents that are like it: everything between is done here, in one go.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/mapped_file.hpp"
#include "base/secret.hpp"
#include "rows/sqlite.hpp"
#include "segments/bands.hpp"
#include "sketch/minhash.hpp"

namespace lookalike {

// Documents that were added since a collection was looked at in full, and those that were removed. It never changes: whoever finds more makes
// another one.
struct NearTail {
    std::int64_t documents, next_row, version;  // of the collection, with these
    std::int64_t last_removal;                  // its number
    std::vector<std::int64_t> rows{};           // they ascend
    std::vector<std::uint64_t> digests{};
    std::vector<std::uint32_t> keys{};    // of the bands of each
    std::vector<std::int64_t> removed{};  // rows that are not among these; they ascend

    void remove(std::size_t place, std::size_t bands);
};

// What a collection was like when it was last looked at in full: a search holds as long as there is nothing new but a tail.
struct NearState {
    std::string record_path, store;  // the file of what was acknowledged, and the id that it names
    std::int64_t collection;         // its number
    std::int64_t sealed_row, generation;
    std::int64_t first_row;  // of the collection in the table
    std::vector<const BandTables*> tables;
    std::vector<const MappedFile*> files;   // that tables are mapped from
    std::span<const std::int64_t> removed;  // rows that tables may hold and that are not there any more; they ascend
    std::int64_t since, until;              // milliseconds since 1970: documents expire

    bool is_of_now() const;
    bool files_are_whole() const;
};

// The statements of a search.
struct NearStatements {
    std::string state;     // of a collection: its documents, next row, sealed row, generation and version; changes, id, chain and chain before of the store
    std::string row;       // its id, text, meta and checks
    std::string rows;      // from one up to another: each with its digest, its band keys and its checks
    std::string expiring;  // those of them that expire; an older store has no table of them
    std::string removed;   // of a collection, after the removal with a number: the number and the row of each
};

// A connection to the table of documents and the statements on it. For one thread at a time.
class StoredRows {
   public:
    // `log` is the log that would be there if somebody wrote, where the address takes the database for immutable; otherwise it is empty.
    StoredRows(const SqliteFunctions& sqlite, const std::string& address, const NearStatements& statements, std::string log)
        : log_(std::move(log)), connection_(sqlite, address), state_(connection_.prepare(statements.state)), row_(connection_.prepare(statements.row)),
          rows_(connection_.prepare(statements.rows)), expiring_(connection_.prepare_if_possible(statements.expiring)),
          removed_(connection_.prepare(statements.removed)) {}

    // Begins to read. What is read until the end is of one state: the known one with a tail, which is given, or made of it and what was
    // added and removed since; nothing where there is none, so that the collection is to be looked at again.
    std::shared_ptr<const NearTail> begin(const NearState& known, std::shared_ptr<const NearTail> tail, std::size_t bands);
    void end() {
        removed_->reset();
        rows_->reset();
        if (expiring_) expiring_->reset();
        row_->reset();
        state_->reset();
    }
    SqliteStatement& row() { return *row_; }

   private:
    // Whether there were so many.
    bool remove_rows(const NearState& known, std::size_t bands, std::int64_t count, NearTail& tail);
    bool add_rows(const NearState& known, std::size_t bands, std::int64_t end, NearTail& tail);

    std::string log_;
    SqliteConnection connection_;
    std::unique_ptr<SqliteStatement> state_, row_, rows_, expiring_, removed_;  // while the first is not reset, the transaction goes on
};

struct NearMatch {
    std::int64_t row;
    double score;
    std::variant<std::int64_t, std::string> id;
    std::string text;
    std::optional<std::string> meta;
};

struct NearFound {
    enum class Answer { kFound, kChanged, kUnfit } answer;  // kChanged: look at the collection again; kUnfit: search by the long way
    std::size_t candidates = 0, total = 0;                  // groups that share a band; documents that reach the threshold
    std::vector<NearMatch> matches;                         // the best of them, then the oldest first
};

struct NearOptions {
    std::size_t size, bands, rows;  // of a MinHash
    std::size_t most_candidates;
};

// The buffers of a search, and the recipe. For one thread at a time.
class NearSearcher {
   public:
    NearSearcher(const TextOptions& text, const NearOptions& options)
        : options_(options), shingler_(text, process_secret(), true), verifier_(text, process_secret(), false), hasher_(options.size), values_(options.size),
          keys_(options.bands) {}

    // The documents whose features have a Jaccard similarity of at least the threshold with those of the text, at most `limit`. The tail is
    // replaced by the one that was searched.
    NearFound run(std::span<const std::uint8_t> utf8, const NearState& known, std::shared_ptr<const NearTail>& tail, StoredRows& stored, double threshold,
                  std::size_t limit);

   private:
    NearFound search(std::span<const std::uint8_t> utf8, const NearState& known, const NearTail& tail, StoredRows& stored, double threshold, std::size_t limit);
    NearFound verified(const NearState& known, StoredRows& stored, double threshold, std::size_t limit, std::size_t candidates);

    NearOptions options_;
    SecretShingler shingler_, verifier_;  // of the query, with what its MinHash is made of; of stored texts
    MinHasher hasher_;
    std::vector<std::uint32_t> values_, keys_;
    std::vector<std::uint64_t> features_;  // of the query
    std::vector<NearGroup> groups_;
};

}  // namespace lookalike
