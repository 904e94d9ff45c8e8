// SQLite without Python: the library that Python itself has loaded, so that there is one in the process. Two would each forget the other's
// locks: POSIX gives up all locks of a process on a file when any descriptor of it is closed.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "base/platform.hpp"
#include "base/turns.hpp"
#include "rows/sqlite_files.hpp"

struct sqlite3;
struct sqlite3_mutex;
struct sqlite3_stmt;

namespace lookalike {

// The functions that are called, as SQLite's stable interface declares them.
struct SqliteFunctions {
    int (*open)(const char*, sqlite3**, int, const char*);
    int (*close)(sqlite3*);
    int (*prepare)(sqlite3*, const char*, int, sqlite3_stmt**, const char**);
    int (*finalize)(sqlite3_stmt*);
    int (*step)(sqlite3_stmt*);
    int (*reset)(sqlite3_stmt*);
    int (*bind_int64)(sqlite3_stmt*, int, std::int64_t);
    int (*bind_text)(sqlite3_stmt*, int, const char*, std::uint64_t, void (*)(void*), unsigned char);
    int (*bind_blob)(sqlite3_stmt*, int, const void*, std::uint64_t, void (*)(void*));
    int (*bind_double)(sqlite3_stmt*, int, double);
    int (*bind_null)(sqlite3_stmt*, int);
    int (*bind_parameter_count)(sqlite3_stmt*);
    int (*column_count)(sqlite3_stmt*);
    int (*column_type)(sqlite3_stmt*, int);
    std::int64_t (*column_int64)(sqlite3_stmt*, int);
    double (*column_double)(sqlite3_stmt*, int);
    const unsigned char* (*column_text)(sqlite3_stmt*, int);
    const void* (*column_blob)(sqlite3_stmt*, int);
    int (*column_bytes)(sqlite3_stmt*, int);
    int (*busy_timeout)(sqlite3*, int);
    int (*get_autocommit)(sqlite3*);
    void* (*wal_hook)(sqlite3*, int (*)(void*, sqlite3*, const char*, int), void*);
    int (*extended_errcode)(sqlite3*);
    const char* (*errmsg)(sqlite3*);
    int (*auto_extension)(void (*)());
    int (*cancel_auto_extension)(void (*)());
    std::int64_t (*soft_heap_limit)(std::int64_t);
    // Null in libraries that are too old for them, or made for one thread.
    sqlite3_mutex* (*db_mutex)(sqlite3*);
    void (*mutex_enter)(sqlite3_mutex*);
    void (*mutex_leave)(sqlite3_mutex*);
    SqliteVfs* (*vfs_find)(const char*);
    int (*vfs_register)(SqliteVfs*, int);
    SqliteFile* (*database_file_object)(const char*);
};

// Those of the library behind a module that is loaded, or of the program where `path` is empty. Throws std::runtime_error where there are none.
SqliteFunctions sqlite_functions(const std::string& path);

// The connections that one thread opens, as long as this lives: SQLite shows each new one to whoever asked for that. One thread of a process
// may watch at a time.
class OpenedConnections {
   public:
    explicit OpenedConnections(const SqliteFunctions& sqlite);
    OpenedConnections(const OpenedConnections&) = delete;
    OpenedConnections& operator=(const OpenedConnections&) = delete;
    ~OpenedConnections();

    // The only one that was opened; null where there was none, or several.
    sqlite3* only() const { return count_ == 1 ? last_ : nullptr; }

   private:
    static int seen(sqlite3* connection, const char** message, const void* routines);
    static void (*entry())();

    const SqliteFunctions& sqlite_;
    sqlite3* last_ = nullptr;
    std::size_t count_ = 0;
};

// A connection as one thread has it for many calls: each of them locks it, and to lock what one has costs a tenth. Nothing that is called
// meanwhile may wait for the interpreter's lock.
class HeldConnection {
   public:
    HeldConnection(const SqliteFunctions& sqlite, sqlite3* connection)
        : sqlite_(sqlite), mutex_(sqlite.db_mutex && sqlite.mutex_enter && sqlite.mutex_leave ? sqlite.db_mutex(connection) : nullptr) {
        if (mutex_ != nullptr) sqlite_.mutex_enter(mutex_);
    }
    HeldConnection(const HeldConnection&) = delete;
    HeldConnection& operator=(const HeldConnection&) = delete;
    ~HeldConnection() {
        if (mutex_ != nullptr) sqlite_.mutex_leave(mutex_);
    }

   private:
    const SqliteFunctions& sqlite_;
    sqlite3_mutex* mutex_;
};

constexpr int kSqliteRow = 100, kSqliteDone = 101, kSqliteInteger = 1, kSqliteFloat = 2, kSqliteText = 3, kSqliteBlob = 4, kSqliteNull = 5;

// What SQLite says is wrong, with its extended code.
struct SqliteError : std::runtime_error {
    SqliteError(int its_code, const std::string& message) : std::runtime_error(message), code(its_code) {}
    int code;
};

// SQLite counts its memory under one lock for all connections, and takes it twice for every value that is read. It is waited for awake.
Turns& sqlite_turns();

// A statement of a connection, prepared for many uses.
class SqliteStatement {
   public:
    // Throws SqliteError where the database has not what it asks for.
    SqliteStatement(const SqliteFunctions& sqlite, sqlite3* connection, const std::string& sql);
    SqliteStatement(const SqliteStatement&) = delete;
    SqliteStatement& operator=(const SqliteStatement&) = delete;
    ~SqliteStatement() { sqlite_.finalize(statement_); }

    // Whether there is a row. Anything that goes wrong is as if there were none: whoever needs the reason asks again by another way.
    bool first(std::int64_t argument) {
        sqlite_.reset(statement_);
        return sqlite_.bind_int64(statement_, 1, argument) == 0 && next();
    }
    bool first(std::int64_t one, std::int64_t other) {
        sqlite_.reset(statement_);
        return sqlite_.bind_int64(statement_, 1, one) == 0 && sqlite_.bind_int64(statement_, 2, other) == 0 && next();
    }
    bool next() { return step() == kSqliteRow; }
    // SQLite's result.
    int step() { return sqlite_.step(statement_); }
    void reset() { sqlite_.reset(statement_); }
    // Whether they could be bound. Texts and bytes are copied.
    bool bind(int place, std::int64_t number) { return sqlite_.bind_int64(statement_, place, number) == 0; }
    bool bind(int place, double number) { return sqlite_.bind_double(statement_, place, number) == 0; }
    bool bind_nothing(int place) { return sqlite_.bind_null(statement_, place) == 0; }
    bool bind_text(int place, std::string_view utf8) { return sqlite_.bind_text(statement_, place, start_of(utf8), utf8.size(), copied(), kSqliteUtf8) == 0; }
    bool bind_bytes(int place, std::string_view bytes) { return sqlite_.bind_blob(statement_, place, start_of(bytes), bytes.size(), copied()) == 0; }
    int parameters() const { return sqlite_.bind_parameter_count(statement_); }
    int columns() const { return sqlite_.column_count(statement_); }
    int type(int column) const { return sqlite_.column_type(statement_, column); }
    std::int64_t number(int column) const { return sqlite_.column_int64(statement_, column); }
    double real(int column) const { return sqlite_.column_double(statement_, column); }
    // A text in UTF-8, or bytes; valid until the next step or reset.
    std::string_view text(int column) const {
        const auto* data = reinterpret_cast<const char*>(sqlite_.column_text(statement_, column));
        return {data, data ? static_cast<std::size_t>(sqlite_.column_bytes(statement_, column)) : 0};
    }
    std::string_view blob(int column) const {
        const auto* data = static_cast<const char*>(sqlite_.column_blob(statement_, column));
        return {data, data ? static_cast<std::size_t>(sqlite_.column_bytes(statement_, column)) : 0};
    }

   private:
    static constexpr unsigned char kSqliteUtf8 = 1;

    // SQLite takes a null pointer for NULL.
    static const char* start_of(std::string_view bytes) { return bytes.data() == nullptr ? "" : bytes.data(); }
    static void (*copied())(void*) { return reinterpret_cast<void (*)(void*)>(-1); }  // SQLITE_TRANSIENT

    const SqliteFunctions& sqlite_;
    sqlite3_stmt* statement_ = nullptr;
};

// A connection that reads, for one thread at a time.
class SqliteConnection {
   public:
    // `address` is a URI. Throws std::runtime_error where it cannot be opened.
    SqliteConnection(const SqliteFunctions& sqlite, const std::string& address);
    SqliteConnection(const SqliteConnection&) = delete;
    SqliteConnection& operator=(const SqliteConnection&) = delete;
    ~SqliteConnection() { sqlite_.close(connection_); }

    std::unique_ptr<SqliteStatement> prepare(const std::string& sql) const { return std::make_unique<SqliteStatement>(sqlite_, connection_, sql); }
    // Nothing where the database has not what it asks for.
    std::unique_ptr<SqliteStatement> prepare_if_possible(const std::string& sql) const {
        try {
            return prepare(sql);
        } catch (const std::runtime_error&) {
            return nullptr;
        }
    }
    bool in_transaction() const { return sqlite_.get_autocommit(connection_) == 0; }
    // What went wrong last.
    SqliteError error() const { return {sqlite_.extended_errcode(connection_), sqlite_.errmsg(connection_)}; }

   private:
    const SqliteFunctions& sqlite_;
    sqlite3* connection_ = nullptr;
};

}  // namespace lookalike
