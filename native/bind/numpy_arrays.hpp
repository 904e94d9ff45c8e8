// Small arrays of numpy, made by numpy's own functions in C: by way of a memoryview each takes a third of a microsecond.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <type_traits>

namespace lookalike {

namespace nb = nanobind;

enum class ArrayType : std::uint8_t { int64, uint8 };

// A new array of one dimension, and where its numbers are to be written. The interpreter's lock is held.
struct NumpyArray {
    nb::object array;
    void* data;
};
NumpyArray new_numpy_array(ArrayType type, std::size_t size);

// The same of numbers that are here.
template <class T>
T* new_numbers(nb::object& array, std::size_t size) {
    static_assert(std::is_same_v<T, std::int64_t> || std::is_same_v<T, std::uint8_t>);
    NumpyArray made = new_numpy_array(std::is_same_v<T, std::int64_t> ? ArrayType::int64 : ArrayType::uint8, size);
    array = std::move(made.array);
    return static_cast<T*>(made.data);
}

}  // namespace lookalike
