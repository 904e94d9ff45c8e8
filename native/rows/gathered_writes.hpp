// Fewer and larger writes of SQLite's: of the write-ahead log, and of the database while the log is moved into it.
//
// SQLite writes a page at a time, and what the log has beside it in a call of its own. The system does most of its work for each call and for
// each of the small pieces that it then keeps of a file: the same bytes in pieces of 128 KB take less than half of its time.
//
// The calls on a file still arrive in the order in which SQLite makes them: what was gathered is written before any call that is not a write
// behind it. So it is written before it is synced, and nothing is acknowledged, or shown to readers, that was not. What a process that is killed has
// gathered was not committed, like any write that it had not come to.
#pragma once

#include <string>

#include "rows/sqlite.hpp"

namespace lookalike {

// Under which name (`vfs=NAME` in an address) the library opens files that way, for connections with synchronous=FULL; none where it cannot.
std::string gathering_files(const SqliteFunctions& sqlite);

}  // namespace lookalike
