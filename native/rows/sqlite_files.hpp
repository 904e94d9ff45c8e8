// What SQLite's stable interface says of files and of whoever opens them (sqlite3_file, sqlite3_io_methods, sqlite3_vfs): its header is not
// needed to build, as its library is the one that Python has loaded.
#pragma once

#include <cstdint>

namespace lookalike {

struct SqliteFileMethods;
struct SqliteFile {
    const SqliteFileMethods* methods;
};

struct SqliteFileMethods {
    int version;
    int (*close)(SqliteFile*);
    int (*read)(SqliteFile*, void* data, int size, std::int64_t offset);
    int (*write)(SqliteFile*, const void* data, int size, std::int64_t offset);
    int (*truncate)(SqliteFile*, std::int64_t size);
    int (*sync)(SqliteFile*, int flags);
    int (*file_size)(SqliteFile*, std::int64_t* size);
    int (*lock)(SqliteFile*, int level);
    int (*unlock)(SqliteFile*, int level);
    int (*check_reserved_lock)(SqliteFile*, int* found);
    int (*file_control)(SqliteFile*, int what, void* argument);
    int (*sector_size)(SqliteFile*);
    int (*device_characteristics)(SqliteFile*);
    // From version 2 on: the memory that connections share, the index of the write-ahead log.
    int (*shared_map)(SqliteFile*, int region, int size, int extend, void volatile** found);
    int (*shared_lock)(SqliteFile*, int first, int count, int flags);
    void (*shared_barrier)(SqliteFile*);
    int (*shared_unmap)(SqliteFile*, int remove);
    // From version 3 on.
    int (*fetch)(SqliteFile*, std::int64_t offset, int size, void** found);
    int (*unfetch)(SqliteFile*, std::int64_t offset, void* found);
};

struct SqliteVfs {
    int version;
    int file_bytes;  // of what `open` makes, which SQLite allocates
    int most_path_bytes;
    SqliteVfs* next;  // SQLite's
    const char* name;
    void* own;
    int (*open)(SqliteVfs*, const char* name, SqliteFile*, int flags, int* opened_flags);
    int (*remove)(SqliteVfs*, const char* name, int sync_folder);
    int (*access)(SqliteVfs*, const char* name, int flags, int* found);
    int (*full_path)(SqliteVfs*, const char* name, int size, char* found);
    void* (*open_library)(SqliteVfs*, const char* name);
    void (*library_error)(SqliteVfs*, int size, char* message);
    void (*(*symbol)(SqliteVfs*, void* library, const char* name))();
    void (*close_library)(SqliteVfs*, void* library);
    int (*randomness)(SqliteVfs*, int size, char* bytes);
    int (*sleep)(SqliteVfs*, int microseconds);
    int (*current_time)(SqliteVfs*, double* days);
    int (*last_error)(SqliteVfs*, int size, char* message);
    // From version 2 on.
    int (*current_time_int64)(SqliteVfs*, std::int64_t* milliseconds);
    // From version 3 on.
    int (*set_system_call)(SqliteVfs*, const char* name, void (*call)());
    void (*(*system_call)(SqliteVfs*, const char* name))();
    const char* (*next_system_call)(SqliteVfs*, const char* name);
};

constexpr int kSqliteOpenMainDatabase = 0x100, kSqliteOpenLog = 0x80000;
constexpr int kSqlitePowersafeOverwrite = 0x1000;                       // of a device: a write leaves what is beside it as it was
constexpr int kSqliteCheckpointDone = 37, kSqliteCheckpointStart = 39;  // of file_control
constexpr int kSqliteSharedUnlock = 1, kSqliteSharedExclusive = 8;      // flags of shared_lock

}  // namespace lookalike
