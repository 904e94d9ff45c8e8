// Memory for millions of values that are written once, one after the other.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace lookalike {

// Uninitialised, and where the system has them on pages of 2 MB: asking it for each 4 KB costs as much as writing them. What is
// never written takes no memory.
template <class T>
class LargeBuffer {
   public:
    LargeBuffer() = default;
    explicit LargeBuffer(std::size_t capacity) : capacity_(capacity) {
#ifdef __linux__
        // The system gives pages, not an alignment: so much more that an aligned stretch is in it, and the ends are given back.
        const std::size_t length = bytes(), given = length + kPage;
        void* const memory = mmap(nullptr, given, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc();
        const std::size_t before = (kPage - reinterpret_cast<std::size_t>(memory) % kPage) % kPage;
        char* const begin = static_cast<char*>(memory) + before;
        if (before) munmap(memory, before);
        if (before < kPage) munmap(begin + length, kPage - before);
        madvise(begin, length, MADV_HUGEPAGE);  // a wish: without it everything works the same
        data_ = reinterpret_cast<T*>(begin);
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
#ifdef __linux__
        munmap(data_, bytes());
#else
        ::operator delete(data_);
#endif
    }

    T* data() { return data_; }
    std::size_t capacity() const { return capacity_; }
    bool empty() const { return data_ == nullptr; }

   private:
    static constexpr std::size_t kPage = std::size_t{2} << 20;

    std::size_t bytes() const { return (capacity_ * sizeof(T) + kPage - 1) / kPage * kPage; }
    void swap(LargeBuffer& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(capacity_, other.capacity_);
    }

    T* data_ = nullptr;
    std::size_t capacity_ = 0;
};

}  // namespace lookalike
