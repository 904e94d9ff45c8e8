// Work that several threads do together, with a step in the middle that one does alone. To start threads twice would cost as much again as they save where
// each step takes a fraction of a millisecond.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace lookalike {

// Items 0 to count - 1, which threads take some at a time.
class SharedItems {
   public:
    void begin(std::size_t count, unsigned workers) {
        count_ = count;
        stride_ = std::clamp<std::size_t>(count / (std::size_t{16} * workers), 1, 64);
        next_ = 0;
    }
    template <class Work>
    void take(Work&& work) {
        for (std::size_t first; (first = next_.fetch_add(stride_)) < count_;) {
            for (std::size_t i = first; i < std::min(first + stride_, count_); ++i) work(i);
        }
    }
    void leave() { next_ = count_; }

   private:
    std::size_t count_ = 0, stride_ = 1;
    std::atomic<std::size_t> next_{0};
};

// make_worker() returns something with first(i) and second(i), and a scratch space of its own. All threads do first(i) for i below `count`; then the caller
// alone does `between`, which returns for how many all do second(i).
template <class MakeWorker, class Between>
void in_two_steps(std::size_t count, unsigned workers, MakeWorker&& make_worker, Between&& between) {
    SharedItems items[2];
    items[0].begin(count, workers);
    std::atomic<unsigned> busy{0};  // threads that may have taken an item of the first step
    std::atomic<bool> second{false};
    std::exception_ptr failure;
    std::mutex guard;
    const auto fail = [&] {
        const std::lock_guard lock(guard);
        if (!failure) failure = std::current_exception();
        items[0].leave();
    };
    const auto wait_for = [](auto&& condition) {
        for (unsigned looks = 0; !condition(); ++looks) {
            if (looks > 64) std::this_thread::yield();
        }
    };
    std::vector<std::jthread> others;
    others.reserve(workers - 1);
    const auto help = [&] {
        ++busy;
        bool counted = true;
        try {
            auto worker = make_worker();
            items[0].take([&](std::size_t i) { worker.first(i); });
            --busy;
            counted = false;
            wait_for([&] { return second.load(); });
            items[1].take([&](std::size_t i) { worker.second(i); });
        } catch (...) {
            fail();
            if (counted) --busy;
        }
    };
    try {
        while (others.size() + 1 < workers) others.emplace_back(help);
    } catch (const std::system_error&) {
        // No more threads to be had: those that run do the work.
    }
    try {
        auto worker = make_worker();
        items[0].take([&](std::size_t i) { worker.first(i); });
        wait_for([&] { return busy.load() == 0; });
        bool failed;
        {
            const std::lock_guard lock(guard);
            failed = failure != nullptr;
        }
        items[1].begin(failed ? 0 : between(), workers);
        second = true;
        items[1].take([&](std::size_t i) { worker.second(i); });
    } catch (...) {
        fail();
        wait_for([&] { return busy.load() == 0; });
        if (!second) items[1].begin(0, workers);
        items[1].leave();
        second = true;
    }
    others.clear();  // joins
    if (failure) std::rethrow_exception(failure);
}

}  // namespace lookalike
