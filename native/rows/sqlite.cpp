#include "rows/sqlite.hpp"

#include <dlfcn.h>

#include <stdexcept>

namespace lookalike {
namespace {

constexpr int kReadOnly = 0x1, kUri = 0x40, kNoMutex = 0x8000, kPatience = 5000;  // milliseconds, as Python has

template <class Function>
void find_if_there(void* library, const char* name, Function*& function) {
    // Names that the whole program sees come first: that is how the module itself was linked.
    void* found = dlsym(RTLD_DEFAULT, name);
    if (found == nullptr) found = dlsym(library, name);
    function = reinterpret_cast<Function*>(found);
}

template <class Function>
void find(void* library, const char* name, Function*& function) {
    find_if_there(library, name, function);
    if (function == nullptr) throw std::runtime_error(std::string(name) + " is not to be had");
}

thread_local OpenedConnections* watching = nullptr;

}  // namespace

SqliteFunctions sqlite_functions(const std::string& path) {
    void* const library = dlopen(path.empty() ? nullptr : path.c_str(), RTLD_NOW | RTLD_NOLOAD);  // never given back: the module stays loaded
    if (library == nullptr) throw std::runtime_error(path + " is not loaded");
    SqliteFunctions made;
    find(library, "sqlite3_open_v2", made.open);
    find(library, "sqlite3_close", made.close);
    find(library, "sqlite3_prepare_v2", made.prepare);
    find(library, "sqlite3_finalize", made.finalize);
    find(library, "sqlite3_step", made.step);
    find(library, "sqlite3_reset", made.reset);
    find(library, "sqlite3_bind_int64", made.bind_int64);
    find(library, "sqlite3_bind_text64", made.bind_text);
    find(library, "sqlite3_bind_blob64", made.bind_blob);
    find(library, "sqlite3_bind_double", made.bind_double);
    find(library, "sqlite3_bind_null", made.bind_null);
    find(library, "sqlite3_bind_parameter_count", made.bind_parameter_count);
    find(library, "sqlite3_column_count", made.column_count);
    find(library, "sqlite3_column_type", made.column_type);
    find(library, "sqlite3_column_int64", made.column_int64);
    find(library, "sqlite3_column_double", made.column_double);
    find(library, "sqlite3_column_text", made.column_text);
    find(library, "sqlite3_column_blob", made.column_blob);
    find(library, "sqlite3_column_bytes", made.column_bytes);
    find(library, "sqlite3_busy_timeout", made.busy_timeout);
    find(library, "sqlite3_get_autocommit", made.get_autocommit);
    find(library, "sqlite3_wal_hook", made.wal_hook);
    find(library, "sqlite3_extended_errcode", made.extended_errcode);
    find(library, "sqlite3_errmsg", made.errmsg);
    find(library, "sqlite3_auto_extension", made.auto_extension);
    find(library, "sqlite3_cancel_auto_extension", made.cancel_auto_extension);
    find(library, "sqlite3_soft_heap_limit64", made.soft_heap_limit);
    find_if_there(library, "sqlite3_db_mutex", made.db_mutex);
    find_if_there(library, "sqlite3_mutex_enter", made.mutex_enter);
    find_if_there(library, "sqlite3_mutex_leave", made.mutex_leave);
    find_if_there(library, "sqlite3_vfs_find", made.vfs_find);
    find_if_there(library, "sqlite3_vfs_register", made.vfs_register);
    find_if_there(library, "sqlite3_database_file_object", made.database_file_object);
    return made;
}

Turns& sqlite_turns() {
    static Turns turns;
    return turns;
}

SqliteStatement::SqliteStatement(const SqliteFunctions& sqlite, sqlite3* connection, const std::string& sql) : sqlite_(sqlite) {
    if (sqlite_.prepare(connection, sql.c_str(), static_cast<int>(sql.size()), &statement_, nullptr) != 0 || statement_ == nullptr)
        throw SqliteError(sqlite_.extended_errcode(connection), sqlite_.errmsg(connection));
}

OpenedConnections::OpenedConnections(const SqliteFunctions& sqlite) : sqlite_(sqlite) {
    watching = this;
    sqlite_.auto_extension(entry());
}

OpenedConnections::~OpenedConnections() {
    sqlite_.cancel_auto_extension(entry());
    watching = nullptr;
}

int OpenedConnections::seen(sqlite3* connection, const char**, const void*) {
    if (watching != nullptr) {  // other threads open connections of their own
        watching->last_ = connection;
        ++watching->count_;
    }
    return 0;
}

void (*OpenedConnections::entry())() { return reinterpret_cast<void (*)()>(&seen); }  // SQLite's own type for it

SqliteConnection::SqliteConnection(const SqliteFunctions& sqlite, const std::string& address) : sqlite_(sqlite) {
    if (sqlite_.open(address.c_str(), &connection_, kReadOnly | kUri | kNoMutex, nullptr) != 0) {
        sqlite_.close(connection_);
        throw std::runtime_error("a database cannot be opened: " + address);
    }
    sqlite_.busy_timeout(connection_, kPatience);
}

}  // namespace lookalike
