// An array that is written from front to end, without knowing how long it will be.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "base/system.hpp"

#ifdef LOOKALIKE_LINUX
#include <sys/mman.h>
#endif

namespace lookalike {

// Uninitialised. Large blocks are asked for in large pages where the system has them: to have a page made when it is first written costs more than to fill
// it, and this is one in 512. They are not copied when they grow: `realloc` moves their pages.
template <class T>
class GrowingArray {
    static_assert(std::is_trivially_copyable_v<T>);

   public:
    const T* data() const { return data_.get(); }
    T* data() { return data_.get(); }
    std::size_t size() const { return size_; }

    // Room for so many elements behind the last one; they count from now on.
    T* add(std::size_t count) {
        if (size_ + count > capacity_) resize(std::max(size_ + count, 2 * capacity_));
        T* const added = data_.get() + size_;
        size_ += count;
        return added;
    }

    // Room for so many, if that is known; what is never written takes no memory.
    void reserve(std::size_t capacity) {
        if (capacity > capacity_) resize(capacity);
    }

    // Gives back what is not used.
    void trim() {
        if (size_ > 0 && size_ < capacity_) resize(size_);
    }

   private:
    static constexpr std::size_t kLarge = std::size_t{4} << 20;

    struct Free {
        void operator()(T* memory) const { std::free(memory); }
    };

    void resize(std::size_t capacity) {
        void* const moved = std::realloc(data_.get(), capacity * sizeof(T));
        if (!moved) throw std::bad_alloc();
        (void)data_.release();
        data_.reset(static_cast<T*>(moved));
        capacity_ = capacity;
#ifdef LOOKALIKE_LINUX
        if (capacity * sizeof(T) < kLarge) return;
        constexpr std::uintptr_t kPage = 4096;
        const std::uintptr_t first = (reinterpret_cast<std::uintptr_t>(moved) + kPage - 1) / kPage * kPage;
        madvise(reinterpret_cast<void*>(first), capacity * sizeof(T) - kPage, MADV_HUGEPAGE);  // a wish: nothing depends on it
#endif
    }

    std::unique_ptr<T, Free> data_;
    std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace lookalike
