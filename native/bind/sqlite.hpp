// SQLite as Python has loaded it, for what is bound elsewhere.
#pragma once

#include "bind/bind.hpp"
#include "rows/gathered_writes.hpp"
#include "rows/sqlite.hpp"

namespace lookalike {

class Sqlite {
   public:
    explicit Sqlite(const std::string& path) : functions_(sqlite_functions(path)) {}
    const SqliteFunctions& functions() const { return functions_; }
    // Sets that of the whole process, and returns what it was.
    std::int64_t soft_heap_limit(std::int64_t limit) const { return functions_.soft_heap_limit(limit); }
    std::string gathering_files() const { return lookalike::gathering_files(functions_); }

   private:
    SqliteFunctions functions_;
};

}  // namespace lookalike
