#include "rows/gathered_writes.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>

#include "rows/sqlite_files.hpp"

namespace lookalike {
namespace {

constexpr char kName[] = "lookalike-gathering";
constexpr std::size_t kMostGathered = (128 << 10) - 1;  // SQLite's own methods write no more in one call

// Writes that follow each other, until they are written in one.
class Gathered {
   public:
    int write(SqliteFile* to, const void* data, std::size_t size, std::int64_t offset) {
        if (offset != end() || size_ + size > kMostGathered) {
            if (const int error = flush(to)) return error;
            start_ = offset;
        }
        if (bytes_ == nullptr) bytes_.reset(new (std::nothrow) char[kMostGathered]);
        if (bytes_ == nullptr || size > kMostGathered) return to->methods->write(to, data, static_cast<int>(size), offset);
        std::memcpy(bytes_.get() + size_, data, size);
        size_ += size;
        return 0;
    }
    // What cannot be written stays.
    int flush(SqliteFile* to) {
        if (size_ == 0) return 0;
        const int error = to->methods->write(to, bytes_.get(), static_cast<int>(size_), start_);
        if (error == 0) size_ = 0;
        return error;
    }
    void forget() { size_ = 0; }

   private:
    std::int64_t end() const { return start_ + static_cast<std::int64_t>(size_); }

    std::unique_ptr<char[]> bytes_;
    std::int64_t start_ = 0;
    std::size_t size_ = 0;
};

// Reads that follow each other, of a file that nobody writes meanwhile.
class ReadAhead {
   public:
    int read(SqliteFile* from, void* data, std::size_t size, std::int64_t offset) {
        if (!has(size, offset)) take(from, size, offset);
        last_end_ = offset + static_cast<std::int64_t>(size);
        if (!has(size, offset)) return from->methods->read(from, data, static_cast<int>(size), offset);
        std::memcpy(data, bytes_.get() + (offset - start_), size);
        return 0;
    }
    void forget() { size_ = 0; }

   private:
    bool has(std::size_t size, std::int64_t offset) const {
        return offset >= start_ && offset + static_cast<std::int64_t>(size) <= start_ + static_cast<std::int64_t>(size_);
    }
    // Nothing where this read is not behind the last one, or there is no more.
    void take(SqliteFile* from, std::size_t size, std::int64_t offset) {
        forget();
        std::int64_t end = 0;
        if (offset < last_end_ || offset > last_end_ + kBetweenPages || from->methods->file_size(from, &end) != 0) return;
        const std::int64_t found = std::min(end - offset, static_cast<std::int64_t>(kMostGathered));
        if (found < static_cast<std::int64_t>(size)) return;
        if (bytes_ == nullptr) bytes_.reset(new (std::nothrow) char[kMostGathered]);
        if (bytes_ == nullptr || from->methods->read(from, bytes_.get(), static_cast<int>(found), offset) != 0) return;
        start_ = offset;
        size_ = static_cast<std::size_t>(found);
    }

    static constexpr std::int64_t kBetweenPages = 24;  // of a log

    std::unique_ptr<char[]> bytes_;
    std::int64_t start_ = 0;
    std::int64_t last_end_ = 0;
    std::size_t size_ = 0;
};

// A database or its log. Behind it is the file below, in the memory that SQLite gave.
struct GatheringFile : SqliteFile {
    SqliteFileMethods own_methods;
    Gathered gathered;
    ReadAhead ahead;  // of a log
    bool gathers = false;
    GatheringFile* database = nullptr;  // of a log
    GatheringFile* log = nullptr;       // of a database

    SqliteFile* below() { return reinterpret_cast<SqliteFile*>(this + 1); }
    int flush() { return gathered.flush(below()); }
};
static_assert(sizeof(GatheringFile) % 8 == 0);  // as SQLite aligns what it allocates

GatheringFile& of(SqliteFile* file) { return *static_cast<GatheringFile*>(file); }

// A method of the file below, called when everything was written.
template <auto kMethod>
struct Behind;
template <class... Arguments, int (*SqliteFileMethods::*kMethod)(SqliteFile*, Arguments...)>
struct Behind<kMethod> {
    static int call(SqliteFile* file, Arguments... arguments) {
        if (const int error = of(file).flush()) return error;
        SqliteFile* const below = of(file).below();
        return (below->methods->*kMethod)(below, arguments...);
    }
};

// One that has nothing to do with what is in the file.
template <auto kMethod>
struct Passed;
template <class Result, class... Arguments, Result (*SqliteFileMethods::*kMethod)(SqliteFile*, Arguments...)>
struct Passed<kMethod> {
    static Result call(SqliteFile* file, Arguments... arguments) {
        SqliteFile* const below = of(file).below();
        return (below->methods->*kMethod)(below, arguments...);
    }
};
template <class Result, class... Arguments, Result (*SqliteVfs::*kMethod)(SqliteVfs*, Arguments...)>
struct Passed<kMethod> {
    static Result call(SqliteVfs* vfs, Arguments... arguments) {
        auto* const below = static_cast<SqliteVfs*>(vfs->own);
        return (below->*kMethod)(below, arguments...);
    }
};

int close_file(SqliteFile* file) {
    GatheringFile& closed = of(file);
    if (closed.database != nullptr) closed.database->log = nullptr;
    if (closed.log != nullptr) closed.log->database = nullptr;
    SqliteFile* const below = closed.below();
    const int result = below->methods->close(below);
    closed.~GatheringFile();  // with what is of no transaction that was committed
    return result;
}

int read_file(SqliteFile* file, void* data, int size, std::int64_t offset) {
    GatheringFile& from = of(file);
    const bool is_moved = from.database != nullptr && from.database->gathers;
    if (!is_moved) return Behind<&SqliteFileMethods::read>::call(file, data, size, offset);
    if (const int error = from.flush()) return error;
    return from.ahead.read(from.below(), data, static_cast<std::size_t>(size), offset);
}

int write_file(SqliteFile* file, const void* data, int size, std::int64_t offset) {
    GatheringFile& to = of(file);
    to.ahead.forget();
    if (!to.gathers) return Behind<&SqliteFileMethods::write>::call(file, data, size, offset);
    const int error = to.gathered.write(to.below(), data, static_cast<std::size_t>(size), offset);
    if (error != 0 && to.database == nullptr) to.gathered.forget();  // the log still has all of it
    return error;
}

// Of a database behind its log: the last of what makes a checkpoint valid, with the sync that follows.
int truncate_file(SqliteFile* file, std::int64_t size) {
    const int error = Behind<&SqliteFileMethods::truncate>::call(file, size);
    if (error != 0 && of(file).database == nullptr) of(file).gathered.forget();
    return error;
}

// Whether a checkpoint that begins moves all that the log has. Then SQLite truncates and syncs the database before it says that anything was
// moved; of a part it says so at once, and readers look for it in the database. The numbers are where SQLite's documents of the format have them.
bool moves_everything(SqliteFile* database) {
    constexpr std::size_t kFrames = 16, kAttempted = 128;
    constexpr int kRegionBytes = 32768;
    void volatile* region = nullptr;
    if (database->methods->version < 2 || database->methods->shared_map(database, 0, kRegionBytes, 0, &region) != 0 || region == nullptr) return false;
    const auto number_at = [&](std::size_t at) { return *reinterpret_cast<std::uint32_t volatile*>(static_cast<char volatile*>(region) + at); };
    return number_at(kFrames) == number_at(kAttempted);
}

int control_file(SqliteFile* file, int what, void* argument) {
    GatheringFile& controlled = of(file);
    if (what == kSqliteCheckpointStart) {
        controlled.gathers = moves_everything(controlled.below());
        if (controlled.log != nullptr) controlled.log->ahead.forget();
    }
    if (what == kSqliteCheckpointDone) {
        controlled.gathers = false;
        if (controlled.log != nullptr) controlled.log->ahead.forget();
        controlled.flush();  // where that fails, so does what follows
    }
    return Passed<&SqliteFileMethods::file_control>::call(file, what, argument);
}

int lock_shared(SqliteFile* file, int first, int count, int flags) {
    constexpr int kWriter = 0;
    // The end of a transaction that writes. If it was undone its pages are of no use, and others may write next.
    if (first == kWriter && flags == (kSqliteSharedUnlock | kSqliteSharedExclusive) && of(file).log != nullptr) of(file).log->gathered.forget();
    return Passed<&SqliteFileMethods::shared_lock>::call(file, first, count, flags);
}

// Before readers are shown a transaction. With synchronous=FULL the log was synced by now.
void order_shared(SqliteFile* file) {
    if (of(file).log != nullptr) of(file).log->flush();
    Passed<&SqliteFileMethods::shared_barrier>::call(file);
}

SqliteFileMethods methods_over(const SqliteFileMethods& below) {
    using M = SqliteFileMethods;
    return {std::min(below.version, 3),
            close_file,
            read_file,
            write_file,
            truncate_file,
            Behind<&M::sync>::call,
            Behind<&M::file_size>::call,
            Passed<&M::lock>::call,
            Passed<&M::unlock>::call,
            Passed<&M::check_reserved_lock>::call,
            control_file,
            Passed<&M::sector_size>::call,
            Passed<&M::device_characteristics>::call,
            Passed<&M::shared_map>::call,
            lock_shared,
            order_shared,
            Passed<&M::shared_unmap>::call,
            Behind<&M::fetch>::call,
            Behind<&M::unfetch>::call};
}

SqliteFile* (*database_of)(const char* log_name) = nullptr;

// The database that a log is of, if it is one of ours, which can tell when a transaction ends.
GatheringFile* gathering_database(const char* log_name) {
    SqliteFile* const found = database_of(log_name);
    return found != nullptr && found->methods != nullptr && found->methods->close == close_file ? &of(found) : nullptr;
}

int open_file(SqliteVfs* vfs, const char* name, SqliteFile* memory, int flags, int* opened_flags) {
    auto* const below_vfs = static_cast<SqliteVfs*>(vfs->own);
    if (name == nullptr || (flags & (kSqliteOpenMainDatabase | kSqliteOpenLog)) == 0) return below_vfs->open(below_vfs, name, memory, flags, opened_flags);
    auto* const file = new (memory) GatheringFile;
    SqliteFile* const below = file->below();
    file->methods = below->methods = nullptr;
    const int error = below_vfs->open(below_vfs, name, below, flags, opened_flags);
    if (error != 0) {
        if (below->methods != nullptr) below->methods->close(below);
        return error;
    }
    file->own_methods = methods_over(*below->methods);
    file->methods = &file->own_methods;
    if ((flags & kSqliteOpenLog) != 0 && (below->methods->device_characteristics(below) & kSqlitePowersafeOverwrite) != 0) {
        file->database = gathering_database(name);
        if (file->database != nullptr) file->database->log = file;
        file->gathers = file->database != nullptr;
    }
    return 0;
}

SqliteVfs vfs_over(SqliteVfs& below) {
    using V = SqliteVfs;
    return {std::min(below.version, 3),
            below.file_bytes + static_cast<int>(sizeof(GatheringFile)),
            below.most_path_bytes,
            nullptr,
            kName,
            &below,
            open_file,
            Passed<&V::remove>::call,
            Passed<&V::access>::call,
            Passed<&V::full_path>::call,
            Passed<&V::open_library>::call,
            Passed<&V::library_error>::call,
            Passed<&V::symbol>::call,
            Passed<&V::close_library>::call,
            Passed<&V::randomness>::call,
            Passed<&V::sleep>::call,
            Passed<&V::current_time>::call,
            Passed<&V::last_error>::call,
            Passed<&V::current_time_int64>::call,
            Passed<&V::set_system_call>::call,
            Passed<&V::system_call>::call,
            Passed<&V::next_system_call>::call};
}

}  // namespace

std::string gathering_files(const SqliteFunctions& sqlite) {
    static std::mutex one_at_a_time;
    static SqliteVfs made;
    const std::lock_guard turn(one_at_a_time);
    if (sqlite.vfs_find == nullptr || sqlite.vfs_register == nullptr || sqlite.database_file_object == nullptr) return {};
    if (sqlite.vfs_find(kName) != nullptr) return kName;
    SqliteVfs* const below = sqlite.vfs_find(nullptr);
    if (below == nullptr || made.own != nullptr) return {};  // or it would be in the lists of two libraries
    made = vfs_over(*below);
    database_of = sqlite.database_file_object;
    if (sqlite.vfs_register(&made, 0) == 0) return kName;
    made.own = nullptr;
    return {};
}

}  // namespace lookalike
