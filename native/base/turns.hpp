// Turns at something that sleeps whoever finds it taken, as a lock does. To be woken takes longer than what is done in a turn, so those who come wait
// awake, for some microseconds, while the last one that came is still there. It is a hint and no lock: if it is wrong, nothing is, but for the time.
//
// Whoever does not leave soon is not waited for again: waiting that was in vain halves the patience, waiting that was not restores it, and as soon as
// somebody else has come, that one counts.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace lookalike {

class Turns {
   public:
    // Before somebody takes a turn, which he has from here on, also where waiting was in vain: whoever comes in the next moment sees it.
    void wait(const void* self) {
        if (claimed(self) || !several_cores()) return;
        // Now and then all of the patience is tried: those who are there may have little to do again.
        const std::int64_t patience = waits_.fetch_add(1, std::memory_order_relaxed) % kProbes == 0 ? kMost : patience_.load(std::memory_order_relaxed);
        const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(patience);
        while (!claimed(self)) {
            for (int i = 0; i < kPauses; ++i) {
                pause();
                if (holder_.load(std::memory_order_relaxed) == nullptr) break;
            }
            if (std::chrono::steady_clock::now() >= end) {
                patience_.store(std::max(patience / 2, kLeast), std::memory_order_relaxed);
                holder_.store(self, std::memory_order_release);  // who leaves comes back behind this one, which may have to be woken first
                return;
            }
        }
        if (patience_.load(std::memory_order_relaxed) != kMost) patience_.store(kMost, std::memory_order_relaxed);
    }
    // As soon as it has begun: somebody else may have come before, and been later.
    void took(const void* self) { holder_.store(self, std::memory_order_release); }
    // As soon as it has ended. Somebody else may have come since.
    void left(const void* self) {
        const void* expected = self;
        holder_.compare_exchange_strong(expected, nullptr, std::memory_order_acq_rel);
    }

   private:
    static constexpr std::int64_t kLeast = 1'000, kMost = 100'000;  // nanoseconds
    static constexpr std::uint32_t kProbes = 16;
    static constexpr int kPauses = 8;  // and looks between two looks at the clock

    bool claimed(const void* self) {
        const void* holder = holder_.load(std::memory_order_relaxed);
        return (holder == nullptr && holder_.compare_exchange_strong(holder, self, std::memory_order_acq_rel)) || holder == self;
    }
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

    alignas(64) std::atomic<const void*> holder_{nullptr};  // the last one that came, unless it left since
    alignas(64) std::atomic<std::int64_t> patience_{kMost};
    std::atomic<std::uint32_t> waits_{0};
};

// A turn, as long as it lives.
class Turn {
   public:
    Turn(Turns& turns, const void* self) : turns_(turns), self_(self) {
        turns_.wait(self_);
        turns_.took(self_);
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() { turns_.left(self_); }

   private:
    Turns& turns_;
    const void* self_;
};

}  // namespace lookalike
