// The same work on all documents of a batch, by several threads. Each document's result has its own place, so the bytes
// do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace lookalike {

// make_worker() returns a callable (document index) with its own scratch space.
template <class MakeWorker>
void for_each_document(std::size_t count, unsigned workers, MakeWorker&& make_worker) {
    constexpr std::size_t kStride = 64;  // documents taken at a time
    workers = static_cast<unsigned>(std::clamp<std::size_t>(workers, 1, count / kStride + 1));
    if (workers == 1) {
        auto work = make_worker();
        for (std::size_t i = 0; i < count; ++i) work(i);
        return;
    }
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex guard;
    const auto run = [&] {
        try {
            auto work = make_worker();
            for (std::size_t first; (first = next.fetch_add(kStride)) < count;) {
                for (std::size_t i = first; i < std::min(first + kStride, count); ++i) work(i);
            }
        } catch (...) {
            const std::lock_guard lock(guard);
            failure = std::current_exception();
            next = count;
        }
    };
    std::vector<std::thread> threads;
    for (unsigned t = 1; t < workers; ++t) threads.emplace_back(run);
    run();
    for (std::thread& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace lookalike
