// Reading a database by statements, without the interpreter's lock: rows come in pieces, as copies that belong to whoever asked.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "rows/sqlite.hpp"

namespace lookalike {

// Rows that were read: their values, one row after the other.
class ReadRows {
   public:
    struct Value {
        int type;             // SQLite's
        std::int64_t number;  // of a text or bytes: where it begins
        double real;
        std::size_t size;
    };

    std::size_t width() const { return width_; }
    std::size_t count() const { return width_ == 0 ? 0 : values_.size() / width_; }
    const Value& value(std::size_t row, std::size_t column) const { return values_[row * width_ + column]; }
    // Of a text or bytes.
    std::string_view bytes(const Value& of) const {
        return of.size == 0 ? std::string_view() : std::string_view(bytes_).substr(static_cast<std::size_t>(of.number), of.size);
    }
    bool is_piece() const { return count() >= kPieceRows || bytes_.size() >= kPieceBytes; }

    // The row where a statement stands.
    void add(const SqliteStatement& from);
    // Whether they are what was written: the number of a row, a value for each place, and the checks. Where they are not, or hold what no
    // document has, somebody else says what is wrong.
    bool are_whole(std::span<const std::size_t> places, bool all_checked) const;
    // Keeps the memory for what is read next.
    void clear();

   private:
    bool is_whole(std::size_t row, std::span<const std::size_t> places, bool all_checked) const;

    static constexpr std::size_t kPieceRows = 1024, kPieceBytes = std::size_t{1} << 20;  // from here on they are handed over

    std::size_t width_ = 0;
    std::vector<Value> values_;
    std::string bytes_;
};

struct ReadText {
    std::string_view utf8;
};
struct ReadBytes {
    std::string_view bytes;
};
using ReadParameter = std::variant<std::monostate, std::int64_t, double, ReadText, ReadBytes>;

// A connection that changes nothing. Threads may share it: they take turns.
class ReadConnection {
   public:
    // `address` is a URI. Throws std::runtime_error where it cannot be opened; whatever goes wrong later is a SqliteError.
    ReadConnection(const SqliteFunctions& sqlite, const std::string& address) : connection_(std::in_place, sqlite, address) {}

    // What is read between the two is of one state. With the end, statements end too that are on their way.
    void begin();
    void end();
    void close();

    using Run = std::uint64_t;  // a statement on its way, or 0: at its end

    // The first piece of what a statement finds.
    Run start(const std::string& sql, std::span<const ReadParameter> parameters, ReadRows& found);
    // The next one. Returns the same, or 0.
    Run more(Run run, ReadRows& found);
    void stop(Run run);
    // What a statement with one parameter finds for each number. Returns for how many of them this is a piece.
    std::size_t each(const std::string& sql, std::span<const std::int64_t> numbers, ReadRows& found);

   private:
    struct Kept {
        std::string sql;
        std::unique_ptr<SqliteStatement> statement;
        Run run = 0;  // 0: in nobody's use
    };
    static constexpr std::size_t kMostKept = 64;

    const SqliteConnection& connection() const;
    Kept& prepared(const std::string& sql);
    Kept* running(Run run);
    // Adds rows until they are a piece; whether there may be more.
    bool fill(SqliteStatement& statement, ReadRows& found);
    void run(const std::string& sql);
    void require(bool fine) const;

    std::mutex turns_;
    std::optional<SqliteConnection> connection_;
    std::list<Kept> kept_;  // the last one that was used first
    Run last_ = 0;
};

}  // namespace lookalike
