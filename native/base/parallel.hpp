// The same work on all documents of a batch, by several threads. Each document's result has its own place, so the bytes
// do not depend on the number of threads.
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

// make_worker() returns a callable (document index) with its own scratch space.
template <class MakeWorker>
void for_each_document(std::size_t count, unsigned workers, MakeWorker&& make_worker) {
    // Documents taken at a time: few, because they differ in size, but not so few that threads queue for the next.
    const std::size_t stride = std::clamp<std::size_t>(count / (std::size_t{16} * workers), 1, 64);
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex guard;
    const auto run = [&] {
        try {
            auto work = make_worker();
            for (std::size_t first; (first = next.fetch_add(stride)) < count;) {
                for (std::size_t i = first; i < std::min(first + stride, count); ++i) work(i);
            }
        } catch (...) {
            const std::lock_guard lock(guard);
            failure = std::current_exception();
            next = count;
        }
    };
    std::vector<std::jthread> others;
    const std::size_t helpers = std::min<std::size_t>(workers - 1, count / stride);
    others.reserve(helpers);
    try {
        while (others.size() < helpers) others.emplace_back(run);
    } catch (const std::system_error&) {
        // No more threads to be had: those that run do the work.
    }
    run();
    others.clear();  // joins
    if (failure) std::rethrow_exception(failure);
}

}  // namespace lookalike
