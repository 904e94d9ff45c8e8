// The interpreter's lock, let go for a search and taken back.
//
// Whoever finds the lock taken sleeps until it is free, and to be woken takes longer than a short search: two threads that search would
// be slower than one. So a thread that comes back from a search waits awake, for some microseconds, while the last one that came back
// still holds the lock: that one has little to do before it searches again. Whoever does not let go soon is not waited for again: waiting
// that was in vain halves the patience, waiting that was not restores it, and as soon as somebody else has the lock, that one counts.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "bind/bind.hpp"

namespace lookalike {

class LockTurns {
   public:
    // Before a thread takes the lock.
    void wait(const void* self) {
        const void* const holder = holder_.load(std::memory_order_acquire);
        if (holder == nullptr || holder == self || !several_cores()) return;
        // Now and then all of the patience is tried: those who have the lock may have little to do again.
        const std::int64_t patience = ++waits_ % kProbes == 0 ? kMost : patience_.load(std::memory_order_relaxed);
        const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(patience);
        while (holder_.load(std::memory_order_acquire) != nullptr) {
            if (std::chrono::steady_clock::now() >= end) {
                patience_.store(std::max(patience / 2, kLeast), std::memory_order_relaxed);
                return;
            }
            for (int i = 0; i < 16; ++i) pause();
        }
        patience_.store(kMost, std::memory_order_relaxed);
    }
    // As soon as it has it.
    void took(const void* self) { holder_.store(self, std::memory_order_release); }
    // As soon as it has let go of it. Somebody else may have taken it since.
    void left(const void* self) {
        const void* expected = self;
        holder_.compare_exchange_strong(expected, nullptr, std::memory_order_acq_rel);
    }

   private:
    static constexpr std::int64_t kLeast = 1'000, kMost = 50'000;  // nanoseconds
    static constexpr std::uint32_t kProbes = 16;

    static bool several_cores() {
        static const bool several = std::thread::hardware_concurrency() > 1;
        return several;
    }
    static void pause() {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        asm volatile("yield");
#endif
    }

    std::atomic<const void*> holder_{nullptr};  // the thread that was the last to come back, unless it let go since
    std::atomic<std::int64_t> patience_{kMost};
    std::atomic<std::uint32_t> waits_{0};
};

// Without the lock while it lives.
class WithoutLock {
   public:
    explicit WithoutLock(LockTurns& turns) : turns_(turns), thread_(PyEval_SaveThread()) { turns_.left(thread_); }
    WithoutLock(const WithoutLock&) = delete;
    WithoutLock& operator=(const WithoutLock&) = delete;
    ~WithoutLock() {
        turns_.wait(thread_);
        PyEval_RestoreThread(thread_);
        turns_.took(thread_);
    }

   private:
    LockTurns& turns_;
    PyThreadState* const thread_;
};

}  // namespace lookalike
