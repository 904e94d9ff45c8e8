// Checks of the values of a row: a store compares what it reads with what was written. They look at Python's own objects, and so keep the GIL.
#include <algorithm>

#include "base/row_check.hpp"
#include "bind/bind.hpp"
#include "bind/held_texts.hpp"

namespace lookalike {
namespace {

constexpr std::size_t kMaxPlaces = 64;

std::uint32_t check_of(PyObject* value, std::int64_t row) {
    if (value == Py_None) return 0;
    Py_ssize_t size = 0;
    if (PyUnicode_Check(value)) {
        const char* data = PyUnicode_AsUTF8AndSize(value, &size);
        if (data == nullptr) throw nb::python_error();
        return row_check(data, static_cast<std::size_t>(size), row);
    }
    if (PyBytes_Check(value)) return row_check(PyBytes_AsString(value), static_cast<std::size_t>(PyBytes_Size(value)), row);
    if (PyByteArray_Check(value)) return row_check(PyByteArray_AsString(value), static_cast<std::size_t>(PyByteArray_Size(value)), row);
    if (PyLong_Check(value)) {
        const long long number = PyLong_AsLongLong(value);
        if (number == -1 && PyErr_Occurred()) throw nb::python_error();
        return row_check(static_cast<std::int64_t>(number), row);
    }
    throw nb::type_error("a value of a row is a number of 64 bits, a str, bytes or None");
}

// Texts as databases take them: one with half a character (a lone surrogate) as bytes, which three of them stand for.
nb::list stored_texts(nb::list texts) {
    nb::list stored;
    for (nb::handle text : texts) {
        if (!text.is_none() && !PyUnicode_Check(text.ptr())) throw nb::type_error("a text is a str or None");
        if (text.is_none() || storable(text)) {
            stored.append(text);
            continue;
        }
        if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) throw nb::python_error();
        PyErr_Clear();
        nb::object bytes = nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogatepass"));
        if (!bytes.is_valid()) throw nb::python_error();
        stored.append(bytes);
    }
    return stored;
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

// The checks of rows from the first on, as they are stored: column c has its check at 4 * places[c], and what no column has is 0.
nb::list packed_checks(nb::list columns, std::vector<std::size_t> places, std::int64_t first_row) {
    if (places.empty() || places.size() != columns.size()) throw nb::value_error("places: expected one for each column");
    if (*std::max_element(places.begin(), places.end()) >= kMaxPlaces) throw nb::value_error("places: expected numbers below 64");
    const std::size_t width = *std::max_element(places.begin(), places.end()) + 1, count = Items(columns[0]).size();
    std::vector<std::uint32_t> checks(width * count);
    for (std::size_t c = 0; c < places.size(); ++c) {
        const Items values(columns[c]);
        if (values.size() != count) throw nb::value_error("columns: expected a value for each row");
        for (std::size_t i = 0; i < count; ++i) checks[i * width + places[c]] = check_of(values[i], first_row + static_cast<std::int64_t>(i));
    }
    nb::list packed;
    for (std::size_t i = 0; i < count; ++i) packed.append(nb::bytearray(checks.data() + i * width, 4 * width));
    return packed;
}

// Rows as they are read: tuples of the number of the row, a value for each place, and the stored checks. The rows, by their place in
// the list, and the columns, at most so many, whose values differ from their checks. A check beyond the end of the stored bytes is 0. A
// row without checks is passed over, or if all have some, its column is that of the checks.
std::vector<std::pair<std::size_t, std::size_t>> wrong_values(nb::list rows, std::vector<std::size_t> places, bool all_checked, std::size_t most) {
    std::vector<std::pair<std::size_t, std::size_t>> found;
    const Items all(rows);
    for (std::size_t i = 0; i < all.size() && found.size() < most; ++i) {
        const Items row(all[i]);
        if (row.size() != places.size() + 2) throw nb::value_error("rows: expected a number, one value for each place, and the checks");
        PyObject* const stored = row[row.size() - 1];
        if (stored == Py_None) {
            if (all_checked) found.emplace_back(i, places.size());
            continue;
        }
        if (!PyBytes_Check(stored) || !PyLong_Check(row[0])) throw nb::type_error("rows are numbers, and checks are bytes or None");
        const long long number = PyLong_AsLongLong(row[0]);
        if (number == -1 && PyErr_Occurred()) throw nb::python_error();
        const auto size = static_cast<std::size_t>(PyBytes_Size(stored));
        for (std::size_t c = 0; c < places.size() && found.size() < most; ++c) {
            if (check_of(row[c + 1], number) != stored_check(PyBytes_AsString(stored), size, places[c])) found.emplace_back(i, c);
        }
    }
    return found;
}

}  // namespace

void bind_checks(nb::module_& m) {
    m.def("stored_texts", &stored_texts, "texts"_a);
    m.def("packed_checks", &packed_checks, "columns"_a, "places"_a, "first_row"_a);
    m.def("wrong_values", &wrong_values, "rows"_a, "places"_a, "all_checked"_a, "most"_a);
}

}  // namespace lookalike
