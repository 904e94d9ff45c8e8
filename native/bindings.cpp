// The module. Only this file and bind_*.cpp know Python; kernels see contiguous buffers.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "platform.hpp"

namespace nb = nanobind;

void bind_text(nb::module_& m);
void bind_sketch(nb::module_& m);
void bind_passages(nb::module_& m);
void bind_fuzzy(nb::module_& m);
void bind_hamming(nb::module_& m);
void bind_postings(nb::module_& m);

namespace {

// Which version of the kernels this processor runs.
std::string cpu_level() {
#if LOOKALIKE_HAS_CLONES
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        return "x86-64-v4 (AVX-512)";
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) return "x86-64-v3 (AVX2)";
    return "x86-64 (SSE2)";
#else
    return "portable";
#endif
}

}  // namespace

NB_MODULE(_native, m) {
    // Arguments are noconvert everywhere: nanobind would otherwise cast a float array to integers in silence.
    m.doc() = "Kernels over contiguous buffers. Private: use the package.";
    m.def("cpu_level", &cpu_level);
    bind_text(m);
    bind_sketch(m);
    bind_passages(m);
    bind_fuzzy(m);
    bind_hamming(m);
    bind_postings(m);
}
