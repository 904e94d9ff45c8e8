// An array that is written from front to end, without knowing how long it will be.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "base/own_pages.hpp"

namespace lookalike {

// Pages behind what has been written, which somebody is to have made.
struct PagesAhead {
    void* first = nullptr;
    std::size_t bytes = 0;  // 0: nothing is to be done
};

// Uninitialised. Large blocks are the system's own pages, large ones where it has them: to have a page made when it is first written costs more than to fill
// it, and this is one in 512. They are not copied when they grow: their pages move.
template <class T>
class GrowingArray {
    static_assert(std::is_trivially_copyable_v<T>);

   public:
    GrowingArray() = default;
    GrowingArray(GrowingArray&& other) noexcept { swap(other); }
    GrowingArray& operator=(GrowingArray&& other) noexcept {
        GrowingArray taken(std::move(other));
        swap(taken);
        return *this;
    }
    ~GrowingArray() {
        if (pages_) {
            give_back_pages(data_, pages_);
        } else {
            std::free(data_);
        }
    }

    const T* data() const { return data_; }
    T* data() { return data_; }
    std::size_t size() const { return size_; }
    bool has_room(std::size_t count) const { return size_ + count <= capacity_; }
    void clear() { size_ = 0; }  // the memory stays

    // Room for so many elements behind the last one, which do not count yet.
    T* room(std::size_t count) {
        if (size_ + count > capacity_) resize(std::max(size_ + count, 2 * capacity_));
        return data_ + size_;
    }

    // The same, and they count from now on.
    T* add(std::size_t count) {
        T* const added = room(count);
        size_ += count;
        return added;
    }

    // Room for so many, if that is known; what is never written takes no memory.
    void reserve(std::size_t capacity) {
        if (capacity > capacity_) resize(capacity);
    }

    // Has the next large page made, if the end comes near it and nobody has been told so before. To be called by threads that take turns, while others
    // write: two that find a page missing at the same time would both clear one, and one of these is thrown away. The pages are made by what is returned.
    PagesAhead next_pages() {
        if (!pages_ || size_ * sizeof(T) + kLargePage / 4 < ready_ || ready_ >= pages_) return {};
        const PagesAhead next{reinterpret_cast<std::uint8_t*>(data_) + ready_, std::min(kLargePage, pages_ - ready_)};
        ready_ += next.bytes;
        return next;
    }

    // Gives back what is not used.
    void trim() {
        if (size_ == 0 || size_ == capacity_) return;
        if (!pages_) return resize(size_);
        pages_ = shorter_pages(data_, pages_, size_ * sizeof(T));
        ready_ = std::min(ready_, pages_);
        capacity_ = pages_ / sizeof(T);
    }

   private:
    void resize(std::size_t capacity) {
        if (!pages_ && capacity * sizeof(T) < kOwnPages) {
            void* const moved = std::realloc(data_, capacity * sizeof(T));
            if (!moved) throw std::bad_alloc();
            data_ = static_cast<T*>(moved);
            capacity_ = capacity;
            return;
        }
        std::size_t bytes = capacity * sizeof(T);
        T* const moved = static_cast<T*>(moved_pages(data_, pages_, bytes));
        if (!pages_ && data_) {
            std::memcpy(moved, data_, size_ * sizeof(T));
            std::free(data_);
        }
        data_ = moved;
        pages_ = bytes;
        capacity_ = bytes / sizeof(T);
    }

    void swap(GrowingArray& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
        std::swap(pages_, other.pages_);
        std::swap(ready_, other.ready_);
    }

    T* data_ = nullptr;
    std::size_t size_ = 0, capacity_ = 0;
    std::size_t pages_ = 0;  // bytes of them; 0: it lies on the heap
    std::size_t ready_ = 0;  // bytes of pages that somebody makes or has made
};

}  // namespace lookalike
