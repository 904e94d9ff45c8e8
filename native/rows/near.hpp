// Near search over a store, from a text to the documents that are like it: everything between is done here, in one go.
#pragma once

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

// What a collection was like when it was last looked at in full: a search holds as long as it still is.
struct NearState {
    std::string record_path, record;    // the file of what was acknowledged, and what was in it, before the rest was read
    std::int64_t collection;            // its number
    std::vector<std::int64_t> numbers;  // what the statement of the state gives before the last column
    std::string chain;                  // and in the last one
    std::int64_t first_row;             // of the collection in the table
    std::vector<const BandTables*> tables;
    std::vector<const MappedFile*> files;   // that tables are mapped from
    std::span<const std::int64_t> removed;  // rows that tables may hold and that are not there any more; they ascend
    std::int64_t since, until;              // milliseconds since 1970: documents expire

    bool is_of_now() const;
    bool files_are_whole() const;
};

// A connection to the table of documents and the statements on it. For one thread at a time.
class StoredRows {
   public:
    // `state` gives numbers and a chain, of a collection; `row` the id, the text, the meta and the checks of a row. `log` is the log that
    // would be there if somebody wrote, where the address takes the database for immutable; otherwise it is empty.
    StoredRows(const SqliteFunctions& sqlite, const std::string& address, const std::string& state, const std::string& row, std::string log)
        : log_(std::move(log)), connection_(sqlite, address), state_(connection_.prepare(state)), row_(connection_.prepare(row)) {}

    // Begins to read, and tells whether all is as it was. What is read until the end is of one state.
    bool begin(const NearState& known);
    void end() {
        row_->reset();
        state_->reset();
    }
    SqliteStatement& row() { return *row_; }

   private:
    std::string log_;
    SqliteConnection connection_;
    std::unique_ptr<SqliteStatement> state_, row_;  // while the first is not reset, the transaction goes on
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

    // The documents whose features have a Jaccard similarity of at least the threshold with those of the text, at most `limit`.
    NearFound run(std::span<const std::uint8_t> utf8, const NearState& known, StoredRows& stored, double threshold, std::size_t limit);

   private:
    NearFound search(std::span<const std::uint8_t> utf8, const NearState& known, StoredRows& stored, double threshold, std::size_t limit);
    NearFound verified(const NearState& known, StoredRows& stored, double threshold, std::size_t limit, std::size_t candidates);

    NearOptions options_;
    SecretShingler shingler_, verifier_;  // of the query, with what its MinHash is made of; of stored texts
    MinHasher hasher_;
    std::vector<std::uint32_t> values_, keys_;
    std::vector<std::uint64_t> features_;  // of the query
    std::vector<NearGroup> groups_;
};

}  // namespace lookalike
