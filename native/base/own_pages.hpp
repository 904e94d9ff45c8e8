// Pages that are asked for, moved and given back by themselves, past the heap: it would keep them, and copy them where it can.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <span>

#include "base/system.hpp"

// Where AddressSanitizer watches, the heap: it knows where a block ends.
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define LOOKALIKE_WATCHED_HEAP
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define LOOKALIKE_WATCHED_HEAP
#endif

#ifdef LOOKALIKE_LINUX
#include <sys/mman.h>
#ifndef LOOKALIKE_WATCHED_HEAP
#define LOOKALIKE_OWN_PAGES
#endif
#endif

namespace lookalike {

inline constexpr std::size_t kAnyPage = std::size_t{1} << 16;  // a multiple of every usual size of pages

#ifdef LOOKALIKE_OWN_PAGES

inline constexpr std::size_t kOwnPages = std::size_t{4} << 20;   // from so many bytes on they are worth it
inline constexpr std::size_t kLargePage = std::size_t{2} << 20;  // what large pages are aligned to

inline void give_back_pages(void* first, std::size_t bytes) { munmap(first, bytes); }

// `bytes` or a few more, which it is then, with what the `old_bytes` at `old` hold, which are gone. Large pages are a wish: nothing depends on them.
inline void* moved_pages(void* old, std::size_t old_bytes, std::size_t& bytes) {
    if (bytes > std::numeric_limits<std::size_t>::max() / 2) throw std::bad_alloc();
    bytes = (bytes + kLargePage - 1) / kLargePage * kLargePage;
    void* const all = mmap(nullptr, bytes + kLargePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) throw std::bad_alloc();
    const std::size_t before = (kLargePage - reinterpret_cast<std::uintptr_t>(all) % kLargePage) % kLargePage;
    auto* const first = static_cast<std::uint8_t*>(all) + before;
    if (before) munmap(all, before);
    if (before < kLargePage) munmap(first + bytes, kLargePage - before);
    madvise(first, bytes, MADV_HUGEPAGE);
    if (old_bytes && mremap(old, old_bytes, old_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, first) == MAP_FAILED) {
        munmap(first, bytes);
        throw std::bad_alloc();
    }
    return first;
}

// Has the system make pages that are written soon, and clear them. A wish: otherwise they come when they are first written.
inline void make_pages(void* first, std::size_t bytes) {
    constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE of Linux 5.14, which older headers lack
    (void)madvise(first, bytes, kPopulateWrite);
}

// Gives back what lies behind the first `used` bytes; returns how many there are now.
inline std::size_t shorter_pages(void* first, std::size_t bytes, std::size_t used) {
    const std::size_t kept = (used + kAnyPage - 1) / kAnyPage * kAnyPage;
    if (kept >= bytes) return bytes;
    munmap(static_cast<std::uint8_t*>(first) + kept, bytes - kept);
    return kept;
}

#else

inline constexpr std::size_t kOwnPages = std::numeric_limits<std::size_t>::max();  // never
inline constexpr std::size_t kLargePage = std::size_t{2} << 20;

inline void make_pages(void*, std::size_t) {}
inline void give_back_pages(void*, std::size_t) {}
inline void* moved_pages(void*, std::size_t, std::size_t&) { throw std::bad_alloc(); }
inline std::size_t shorter_pages(void*, std::size_t bytes, std::size_t) { return bytes; }

#endif

// The pages of a mapped file that lie inside these numbers are not needed any more: the system may take them out of memory. Whoever reads them
// all the same gets what the file holds.
template <class T>
void page_out(std::span<const T> numbers) {
#if defined(LOOKALIKE_LINUX) && defined(MADV_PAGEOUT)
    const auto begin = reinterpret_cast<std::uintptr_t>(numbers.data()), end = begin + numbers.size_bytes();
    const std::uintptr_t first = (begin + kAnyPage - 1) / kAnyPage * kAnyPage, last = end / kAnyPage * kAnyPage;
    if (first < last) (void)madvise(reinterpret_cast<void*>(first), last - first, MADV_PAGEOUT);  // a wish: nothing depends on it
#else
    (void)numbers;
#endif
}

}  // namespace lookalike
