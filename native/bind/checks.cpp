// Checks of the values of a row: a store compares what it reads with what was written. They look at Python's own objects, and so keep the GIL.
#include <algorithm>

#include "bind/bind.hpp"
#include "base/hash.hpp"

namespace lookalike {
namespace {

// 32 bits of a hash and a row, never 0, which is the check of None.
std::uint32_t salted(std::uint64_t hash, std::int64_t row) {
    const std::uint64_t mixed = (hash ^ static_cast<std::uint64_t>(row)) * kGolden;
    return std::max(static_cast<std::uint32_t>(mixed >> 32), std::uint32_t{1});
}

std::uint64_t hash_of(const char* data, Py_ssize_t size) {
    return token_hash(reinterpret_cast<const std::uint8_t*>(data), static_cast<std::size_t>(size));
}

std::uint32_t check_of(PyObject* value, std::int64_t row) {
    if (value == Py_None) return 0;
    Py_ssize_t size = 0;
    if (PyUnicode_Check(value)) {
        const char* data = PyUnicode_AsUTF8AndSize(value, &size);
        if (data == nullptr) throw nb::python_error();
        return salted(hash_of(data, size), row);
    }
    if (PyBytes_Check(value)) return salted(hash_of(PyBytes_AsString(value), PyBytes_Size(value)), row);
    if (PyByteArray_Check(value)) return salted(hash_of(PyByteArray_AsString(value), PyByteArray_Size(value)), row);
    if (PyLong_Check(value)) {
        const long long number = PyLong_AsLongLong(value);
        if (number == -1 && PyErr_Occurred()) throw nb::python_error();
        return salted(static_cast<std::uint64_t>(number) * kGolden, row);
    }
    throw nb::type_error("a value of a row is a number of 64 bits, a str, bytes or None");
}

// A list or a tuple, whose items are borrowed: nothing here runs Python code that could change it.
class Items {
   public:
    explicit Items(nb::handle items) : items_(items.ptr()), list_(PyList_Check(items_)) {
        if (!list_ && !PyTuple_Check(items_)) throw nb::type_error("expected a list or a tuple");
        size_ = list_ ? PyList_Size(items_) : PyTuple_Size(items_);
    }
    std::size_t size() const { return static_cast<std::size_t>(size_); }
    PyObject* operator[](std::size_t i) const {
        return list_ ? PyList_GetItem(items_, static_cast<Py_ssize_t>(i)) : PyTuple_GetItem(items_, static_cast<Py_ssize_t>(i));
    }

   private:
    PyObject* items_;
    bool list_;
    Py_ssize_t size_;
};

// The checks of the values of one column, in rows from the first on.
Output<std::uint32_t> value_checks(nb::object values, std::int64_t first_row) {
    const Items items(values);
    std::vector<std::uint32_t> checks(items.size());
    for (std::size_t i = 0; i < checks.size(); ++i) checks[i] = check_of(items[i], first_row + static_cast<std::int64_t>(i));
    return give(std::move(checks));
}

// The places and columns, at most so many, whose values differ from their stored checks. Column c has its check at 4 * positions[c];
// one beyond the end of the stored bytes is 0. A row without stored checks is passed over.
std::vector<std::pair<std::size_t, std::size_t>> wrong_values(nb::object rows, nb::list columns, std::vector<std::size_t> positions, nb::object stored,
                                                              std::size_t most) {
    const Items numbers(rows), checks(stored);
    if (positions.size() != columns.size()) throw nb::value_error("positions: expected one for each column");
    if (checks.size() != numbers.size()) throw nb::value_error("stored: expected one for each row");
    std::vector<std::pair<std::size_t, std::size_t>> found;
    for (std::size_t c = 0; c < positions.size(); ++c) {
        const Items values(columns[c]);
        if (values.size() != numbers.size()) throw nb::value_error("columns: expected a value for each row");
        for (std::size_t i = 0; i < values.size() && found.size() < most; ++i) {
            if (checks[i] == Py_None) continue;
            if (!PyBytes_Check(checks[i]) || !PyLong_Check(numbers[i])) throw nb::type_error("rows are numbers, and checks are bytes or None");
            const auto size = static_cast<std::size_t>(PyBytes_Size(checks[i]));
            std::uint32_t expected = 0;
            if (positions[c] < size / 4) std::memcpy(&expected, PyBytes_AsString(checks[i]) + 4 * positions[c], 4);
            const long long row = PyLong_AsLongLong(numbers[i]);
            if (row == -1 && PyErr_Occurred()) throw nb::python_error();
            if (check_of(values[i], row) != expected) found.emplace_back(i, c);
        }
    }
    return found;
}

}  // namespace
}  // namespace lookalike

void bind_checks(nb::module_& m) {
    using namespace lookalike;
    using namespace nb::literals;
    m.def("value_checks", &value_checks, "values"_a, "first_row"_a);
    m.def("wrong_values", &wrong_values, "rows"_a, "columns"_a, "positions"_a, "stored"_a, "most"_a);
}
