// A list that is written from front to end, and then kept as long as somebody wants it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/own_pages.hpp"

#ifdef LOOKALIKE_OWN_PAGES
#include <unistd.h>
#endif

namespace lookalike {

#ifdef LOOKALIKE_OWN_PAGES

// The system's own pages, asked for a few at a time just before they are written: that costs less than one by one, and what the system has cleared is
// still in the cache. What is written stays where it is, so nobody copies it to keep it; trim() gives back what lies behind it.
template <class T>
class PagedList {
    static_assert(std::is_trivially_copyable_v<T>);

   public:
    PagedList() = default;
    PagedList(PagedList&& other) noexcept { swap(other); }
    PagedList& operator=(PagedList&& other) noexcept {
        PagedList taken(std::move(other));
        swap(taken);
        return *this;
    }
    ~PagedList() {
        if (data_) munmap(data_, mapped_);
    }

    T* data() { return data_; }
    const T* data() const { return data_; }
    std::size_t size() const { return size_; }
    std::size_t bytes() const { return ready_; }  // of memory
    void clear() { size_ = 0; }
    void shorten(std::size_t size) { size_ = size; }

    // Room for so many, if that is known; what is never written takes no memory.
    void reserve(std::size_t capacity) {
        if (capacity * sizeof(T) > mapped_) map(capacity);
    }

    void add(const T* values, std::size_t count) {
        if ((size_ + count) * sizeof(T) > ready_) make_ready(size_ + count);
        std::copy_n(values, count, data_ + size_);
        size_ += count;
    }

    void trim() {
        const std::size_t used = in_pages(size_ * sizeof(T), static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
        if (used == mapped_) return;
        munmap(reinterpret_cast<char*>(data_) + used, mapped_ - used);
        mapped_ = used;
        ready_ = std::min(ready_, used);
        if (used == 0) data_ = nullptr;
    }

   private:
    static constexpr std::size_t kStep = kAnyPage;

    static std::size_t in_pages(std::size_t bytes, std::size_t page) { return (bytes + page - 1) / page * page; }

    void map(std::size_t capacity) {
        const std::size_t bytes = in_pages(capacity * sizeof(T), kAnyPage);
        void* const found =
            data_ ? mremap(data_, mapped_, bytes, MREMAP_MAYMOVE) : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (found == MAP_FAILED) throw std::bad_alloc();
        data_ = static_cast<T*>(found);
        mapped_ = bytes;
    }

    void make_ready(std::size_t count) {
        if (count * sizeof(T) > mapped_) map(std::max(count, 2 * mapped_ / sizeof(T)));
        const std::size_t wanted = std::min(in_pages(count * sizeof(T), kStep), mapped_);
        make_pages(reinterpret_cast<char*>(data_) + ready_, wanted - ready_);
        ready_ = wanted;
    }

    void swap(PagedList& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(ready_, other.ready_);
        std::swap(mapped_, other.mapped_);
    }

    T* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t ready_ = 0, mapped_ = 0;  // bytes, in whole pages
};

#else

template <class T>
class HeapList {
   public:
    T* data() { return values_.data(); }
    const T* data() const { return values_.data(); }
    std::size_t size() const { return values_.size(); }
    std::size_t bytes() const { return values_.capacity() * sizeof(T); }
    void clear() { values_.clear(); }
    void shorten(std::size_t size) { values_.resize(size); }
    void reserve(std::size_t capacity) { values_.reserve(capacity); }
    void add(const T* values, std::size_t count) { values_.insert(values_.end(), values, values + count); }
    void trim() { values_.shrink_to_fit(); }

   private:
    std::vector<T> values_;
};

template <class T>
using PagedList = HeapList<T>;

#endif

}  // namespace lookalike
