// An array that is written from front to end, without knowing how long it will be.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace lookalike {

// Uninitialised. Large blocks are not copied when they grow: `realloc` moves their pages.
template <class T>
class GrowingArray {
    static_assert(std::is_trivially_copyable_v<T>);

   public:
    const T* data() const { return data_.get(); }
    T* data() { return data_.get(); }
    std::size_t size() const { return size_; }

    // Room for so many elements behind the last one; they count from now on.
    T* add(std::size_t count) {
        if (size_ + count > capacity_) reserve(std::max(size_ + count, 2 * capacity_));
        T* const added = data_.get() + size_;
        size_ += count;
        return added;
    }

   private:
    struct Free {
        void operator()(T* memory) const { std::free(memory); }
    };

    void reserve(std::size_t capacity) {
        void* const bigger = std::realloc(data_.get(), capacity * sizeof(T));
        if (!bigger) throw std::bad_alloc();
        (void)data_.release();
        data_.reset(static_cast<T*>(bigger));
        capacity_ = capacity;
    }

    std::unique_ptr<T, Free> data_;
    std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace lookalike
