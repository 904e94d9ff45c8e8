// An array of numbers that is either owned or lies in memory that somebody else keeps alive, such as a mapped file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/system.hpp"

#ifdef LOOKALIKE_LINUX
#include <sys/mman.h>
#endif

namespace lookalike {

// What comes from outside and is not what it should be.
[[noreturn]] inline void refuse(const std::string& what) { throw std::invalid_argument(what); }

inline void require(bool holds, const char* what) {
    if (!holds) refuse(what);
}

// Columns were checked when they were opened. But a file that is mapped may be cut or overwritten while it is read (see
// base/mapped_guard.hpp): the answer is then thrown away, and until then every number that was read is brought within its bounds again.
// From `begin` to `end`, both within `size`.
struct Within {
    std::size_t begin, end;
    Within(std::size_t first, std::size_t last, std::size_t size) : begin(first < size ? first : size), end(last < size ? last : size) {
        if (end < begin) end = begin;
    }
    std::size_t size() const { return end - begin; }
};

template <class T>
std::span<const T> part_of(std::span<const T> column, std::size_t first, std::size_t last) {
    const Within part(first, last, column.size());
    return column.subspan(part.begin, part.size());
}

// Leaves new elements as they are: what is written anyway need not be cleared before. Large blocks lie in pages of 2 MB where the system
// has them: a search jumps about in hundreds of megabytes, and with pages of 4 KB finding the page costs more than reading it.
template <class T>
struct UninitializedAllocator : std::allocator<T> {
    T* allocate(std::size_t count) {
        if (!is_large(count)) return std::allocator<T>::allocate(count);
        if (count > std::size_t(-1) / sizeof(T) - kPage) throw std::bad_alloc();
        const std::size_t bytes = (count * sizeof(T) + kPage - 1) / kPage * kPage;
        void* const memory = std::aligned_alloc(kPage, bytes);
        if (!memory) throw std::bad_alloc();
#ifdef LOOKALIKE_LINUX
        (void)madvise(memory, bytes, MADV_HUGEPAGE);  // where it is refused, everything works all the same
#endif
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t count) noexcept {
        if (!is_large(count)) return std::allocator<T>::deallocate(memory, count);
        std::free(memory);
    }

    static constexpr std::size_t kPage = std::size_t{2} << 20;
    static constexpr bool is_large(std::size_t count) { return count >= 2 * kPage / sizeof(T); }

    template <class U>
    struct rebind {
        using other = UninitializedAllocator<U>;
    };
    template <class U>
    void construct(U* place) noexcept {
        ::new (static_cast<void*>(place)) U;
    }
    template <class U, class... Arguments>
    void construct(U* place, Arguments&&... arguments) {
        ::new (static_cast<void*>(place)) U(std::forward<Arguments>(arguments)...);
    }
};

template <class T>
using Buffer = std::vector<T, UninitializedAllocator<T>>;

template <class T>
class Column {
   public:
    Column() = default;
    Column(Buffer<T> values) : owned_(std::move(values)), view_(owned_) {}
    explicit Column(std::span<const T> outside) : view_(outside) {}
    // A moved vector keeps its memory, so the view stays true; a copied one would not.
    Column(Column&& other) noexcept : owned_(std::move(other.owned_)), view_(std::exchange(other.view_, {})) {}
    Column& operator=(Column&& other) noexcept {
        owned_ = std::move(other.owned_);
        view_ = std::exchange(other.view_, {});
        return *this;
    }
    Column(const Column&) = delete;
    Column& operator=(const Column&) = delete;

    std::size_t size() const { return view_.size(); }
    const T& operator[](std::size_t i) const { return view_[i]; }
    const T* data() const { return view_.data(); }
    std::span<const T> view() const { return view_; }

   private:
    Buffer<T> owned_;
    std::span<const T> view_;
};

using Column32 = Column<std::uint32_t>;
using Column64 = Column<std::uint64_t>;

}  // namespace lookalike
