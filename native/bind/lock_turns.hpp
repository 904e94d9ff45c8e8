// The interpreter's lock, let go for a search and taken back in turn: whoever has it has little to do before it searches again.
#pragma once

#include "base/turns.hpp"
#include "bind/bind.hpp"

namespace lookalike {

// Those of all that search: there is one lock.
inline Turns& lock_turns() {
    static Turns turns;
    return turns;
}

// Without the lock while it lives.
class WithoutLock {
   public:
    WithoutLock() : thread_(PyEval_SaveThread()) { lock_turns().left(thread_); }
    WithoutLock(const WithoutLock&) = delete;
    WithoutLock& operator=(const WithoutLock&) = delete;
    ~WithoutLock() {
        lock_turns().wait(thread_);
        PyEval_RestoreThread(thread_);
        lock_turns().took(thread_);
    }

   private:
    PyThreadState* const thread_;
};

}  // namespace lookalike
