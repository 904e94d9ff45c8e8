// Documents as they are given, one by one: those that are plain pairs of an id and a text, as nearly all are, without a line of Python for each.
#include "bind/bind.hpp"

namespace lookalike {
namespace {

bool is_plain_id(PyObject* id, std::size_t most_bytes) {
    if (PyLong_CheckExact(id)) {
        int overflow = 0;
        const long long number = PyLong_AsLongLongAndOverflow(id, &overflow);
        if (number == -1 && PyErr_Occurred()) throw nb::python_error();
        return overflow == 0;
    }
    if (!PyUnicode_CheckExact(id)) return false;
    Py_ssize_t size = 0;
    const char* const utf8 = PyUnicode_AsUTF8AndSize(id, &size);
    if (utf8 == nullptr) {  // half a character
        PyErr_Clear();
        return false;
    }
    return size > 0 && static_cast<std::size_t>(size) <= most_bytes && std::memchr(utf8, '\0', static_cast<std::size_t>(size)) == nullptr;
}

bool is_plain(PyObject* item, std::size_t most_bytes) {
    if (!PyTuple_CheckExact(item) || PyTuple_Size(item) != 2) return false;
    PyObject* const text = PyTuple_GetItem(item, 1);
    __builtin_prefetch(text);  // what is not near comes while the id is looked at
    return is_plain_id(PyTuple_GetItem(item, 0), most_bytes) && PyUnicode_CheckExact(text);
}

void append(nb::list& to, PyObject* value) {
    if (PyList_Append(to.ptr(), value) != 0) throw nb::python_error();
}

// How many were taken, how many characters they have together, and why no more: an item that is not plain, in a list, or none, in an empty
// one; nothing where there are as many as were asked for.
std::tuple<std::size_t, std::size_t, std::optional<nb::list>> take_documents(nb::iterator from, nb::list ids, nb::list texts, std::size_t most,
                                                                             std::size_t characters, std::size_t most_id_bytes) {
    std::size_t taken = 0, length = 0;
    while (taken < most && length < characters) {
        const nb::object item = nb::steal(PyIter_Next(from.ptr()));
        if (!item.is_valid()) {
            if (PyErr_Occurred()) throw nb::python_error();
            return {taken, length, nb::list()};
        }
        if (!is_plain(item.ptr(), most_id_bytes)) {
            nb::list other;
            other.append(item);
            return {taken, length, other};
        }
        PyObject* const text = PyTuple_GetItem(item.ptr(), 1);
        append(ids, PyTuple_GetItem(item.ptr(), 0));
        append(texts, text);
        ++taken;
        length += static_cast<std::size_t>(PyUnicode_GetLength(text));
    }
    return {taken, length, std::nullopt};
}

}  // namespace

void bind_given(nb::module_& m) { m.def("take_documents", &take_documents, "documents"_a, "ids"_a, "texts"_a, "most"_a, "characters"_a, "most_id_bytes"_a); }

}  // namespace lookalike
