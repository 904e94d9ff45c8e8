#include "bind/numpy_arrays.hpp"

#include <nanobind/stl/string.h>

namespace lookalike {
namespace {

// What numpy says about itself to C: a table of functions, in which each keeps its place as long as the first number of the version does. It is
// looked up here rather than at compile time, so that nothing but these arrays needs numpy.
struct Numpy {
    using Version = unsigned (*)();
    using Empty = PyObject* (*)(int dimensions, const std::intptr_t* sizes, PyObject* type, int fortran);
    static constexpr std::size_t kVersion = 0, kEmpty = 184;

    Empty empty = nullptr;  // null: this numpy has another table, and is asked in Python
    nb::object slow_empty, types[2];

    Numpy() {
        const nb::module_ numpy = nb::module_::import_("numpy");
        slow_empty = numpy.attr("empty");
        types[0] = numpy.attr("dtype")("int64");
        types[1] = numpy.attr("dtype")("uint8");
        const nb::str core(nb::hasattr(numpy, "_core") ? "numpy._core._multiarray_umath" : "numpy.core._multiarray_umath");
        const nb::object table = nb::getattr(nb::module_::import_(core), "_ARRAY_API", nb::none());
        if (!PyCapsule_CheckExact(table.ptr())) return;
        auto* const functions = static_cast<void**>(PyCapsule_GetPointer(table.ptr(), nullptr));
        if (!functions) throw nb::python_error();
        const unsigned version = reinterpret_cast<Version>(functions[kVersion])() >> 24;
        if (version == 1 || version == 2) empty = reinterpret_cast<Empty>(functions[kEmpty]);
    }
};

// The first field behind what every object has.
struct ArrayFields {
    PyObject base;
    void* data;
};

NumpyArray slowly(const Numpy& numpy, const nb::object& type, std::size_t size) {
    nb::object array = numpy.slow_empty(size, type);
    Py_buffer view;
    if (PyObject_GetBuffer(array.ptr(), &view, PyBUF_WRITABLE)) throw nb::python_error();
    void* const data = view.buf;
    PyBuffer_Release(&view);
    return {std::move(array), data};
}

}  // namespace

NumpyArray new_numpy_array(ArrayType type, std::size_t size) {
    // Never given back: when the program ends, the interpreter may be gone before. No lock but the interpreter's: whoever waited for another with that in
    // hand might wait for ever. If two threads are the first, one is lost.
    static const Numpy* known = nullptr;
    if (!known) known = new Numpy;
    const nb::object& wanted = known->types[static_cast<std::size_t>(type)];
    if (!known->empty) return slowly(*known, wanted, size);
    const auto length = static_cast<std::intptr_t>(size);
    nb::object array = nb::steal(known->empty(1, &length, nb::object(wanted).release().ptr(), 0));
    if (!array.is_valid()) throw nb::python_error();
    void* const data = reinterpret_cast<ArrayFields*>(array.ptr())->data;
    return {std::move(array), data};
}

}  // namespace lookalike
