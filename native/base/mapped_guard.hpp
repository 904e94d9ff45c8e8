// Files that are mapped may be cut by others while they are read, and the system then sends SIGBUS, which ends the process. Within a
// guarded mapping it does not: from the page that is gone on, the mapping becomes one of zeros, it is marked as cut, and reading goes on.
// Whoever read throws away what was found. So what reads mapped columns has to be safe on zeros, wherever they appear, and at any moment.
//
// A fault elsewhere goes to the handler that was there before, as do signals that somebody sends. These functions are called by one
// thread at a time (with the GIL); faults may happen in any thread. On other systems than Linux nothing is guarded.
#pragma once

#include <cstddef>

namespace lookalike {

using GuardedMapping = struct GuardedMappingEntry*;

// Until it is released. The handler is there while there are guarded mappings.
GuardedMapping guard_mapping(const void* data, std::size_t size);
void release_mapping(GuardedMapping mapping);
bool mapping_was_cut(const GuardedMappingEntry* mapping);

// Somebody may have put another handler before ours since: ours is to come first.
void renew_guard();
// Whether that would change nothing. Any thread may ask, without the GIL.
bool guard_is_first();

}  // namespace lookalike
