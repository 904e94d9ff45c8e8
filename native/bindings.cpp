// The module. bind_*.cpp files alone know Python; kernels see contiguous buffers.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

void bind_fuzzy(nb::module_& m);

NB_MODULE(_native, m) {
    m.doc() = "Kernels over contiguous buffers. Private: use the package.";
    bind_fuzzy(m);
}
