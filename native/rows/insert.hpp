// Documents into the database of a store: a whole batch in one call, from where its values are.
#pragma once

#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "rows/sqlite.hpp"
#include "text/text_view.hpp"

namespace lookalike {

struct NoValue {};
struct BytesValue {
    std::string_view bytes;
};
using RowValue = std::variant<NoValue, std::int64_t, TextView, BytesValue>;

// One number for each row, or as many bytes for each, one after the other, or whatever each has.
struct PiecesColumn {
    const char* bytes;
    std::size_t width;
};
using RowColumn = std::variant<std::span<const std::int64_t>, PiecesColumn, std::vector<RowValue>>;

struct NewRows {
    std::int64_t first_row;      // in the table
    std::int64_t first_checked;  // in the collection: the number that checks are made with
    std::size_t count;
    std::vector<RowColumn> columns;   // each with a value for each row; a text with half a character (a lone surrogate) is stored as bytes
    std::vector<std::size_t> places;  // of the columns' checks
};

// What became of it: SQLite's extended error, 0 for none, and its words.
struct RowsInserted {
    int error;
    std::string message;
    std::vector<std::uint32_t> checks;  // of all rows, as they are stored
};

class ReadyColumn;
struct Utf8Value {
    std::string_view utf8;
};
using ReadyValue = std::variant<NoValue, std::int64_t, Utf8Value, BytesValue>;  // as SQLite takes them

// Writes over a connection that somebody else opened and closes, after this.
class RowWriter {
   public:
    RowWriter(const SqliteFunctions& sqlite, sqlite3* connection) : sqlite_(sqlite), connection_(connection) {}
    RowWriter(const RowWriter&) = delete;
    RowWriter& operator=(const RowWriter&) = delete;
    ~RowWriter();

    // Calls a statement for each row. Its parameters are the number of the row, a value of each column, and the checks of the row. Rows before
    // one that fails stay: whoever began the transaction ends it.
    RowsInserted insert(const std::string& sql, const NewRows& rows);

    // From now on SQLite tells after each commit how many pages the write-ahead log has. Takes the place of its automatic checkpoints.
    void watch_log();
    // None where nothing was committed since.
    std::optional<int> log_pages() const { return log_pages_; }

   private:
    bool prepare(const std::string& sql);
    bool bind(int parameter, const ReadyValue& value);
    bool insert_row(std::int64_t row, std::span<const ReadyColumn> columns, std::size_t k, std::span<const std::uint32_t> checks);

    const SqliteFunctions& sqlite_;
    sqlite3* connection_;
    sqlite3_stmt* statement_ = nullptr;  // of the last time: batches of a collection have the same
    std::string sql_;
    bool watches_log_ = false;
    std::optional<int> log_pages_;
};

}  // namespace lookalike
