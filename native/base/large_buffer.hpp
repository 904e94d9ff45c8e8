// Memory for millions of values that are written once, one after the other.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

#include "base/own_pages.hpp"

namespace lookalike {

// Uninitialised, and the system's own pages: asked for all at once, which costs less than one by one when they are first written, and
// given back at once when they are freed, which the heap does not promise. (Pages of 2 MB were tried: finding them cost more than
// they saved.)
template <class T>
class LargeBuffer {
   public:
    LargeBuffer() = default;
    explicit LargeBuffer(std::size_t capacity) : capacity_(capacity) {
        if (capacity == 0) return;
#ifdef LOOKALIKE_OWN_PAGES
        void* const memory = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc();
        data_ = static_cast<T*>(memory);
#else
        data_ = static_cast<T*>(::operator new(bytes()));
#endif
    }
    LargeBuffer(LargeBuffer&& other) noexcept { swap(other); }
    LargeBuffer& operator=(LargeBuffer&& other) noexcept {
        LargeBuffer taken(std::move(other));
        swap(taken);
        return *this;
    }
    ~LargeBuffer() {
        if (!data_) return;
#ifdef LOOKALIKE_OWN_PAGES
        munmap(data_, bytes());
#else
        ::operator delete(data_);
#endif
    }

    T* data() { return data_; }
    std::size_t capacity() const { return capacity_; }
    bool empty() const { return data_ == nullptr; }

   private:
    std::size_t bytes() const { return capacity_ * sizeof(T); }
    void swap(LargeBuffer& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(capacity_, other.capacity_);
    }

    T* data_ = nullptr;
    std::size_t capacity_ = 0;
};

}  // namespace lookalike
