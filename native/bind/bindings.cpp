// The module. Only the files of this folder know Python; kernels see contiguous buffers.
#include "base/checksum.hpp"
#include "base/dispatch.hpp"
#include "bind/bind.hpp"
#include "bind/lock_turns.hpp"

namespace lookalike {

void bind_text(nb::module_& m);
void bind_checks(nb::module_& m);
void bind_elements(nb::module_& m);
void bind_given(nb::module_& m);
void bind_mappings(nb::module_& m);
void bind_record(nb::module_& m);
void bind_sketch(nb::module_& m);
void bind_single(nb::module_& m);
void bind_compared(nb::module_& m);
void bind_edits(nb::module_& m);
void bind_passages(nb::module_& m);
void bind_fuzzy(nb::module_& m);
void bind_hamming(nb::module_& m);
void bind_dedupe(nb::module_& m);
void bind_leaders(nb::module_& m);
void bind_repeats(nb::module_& m);
void bind_containment(nb::module_& m);
void bind_fuzzy_segments(nb::module_& m);
void bind_bands(nb::module_& m);
void bind_direct(nb::module_& m);
void bind_rows(nb::module_& m);
void bind_reading(nb::module_& m);
void bind_postings(nb::module_& m);
void bind_pages(nb::module_& m);
void bind_office(nb::module_& m);
void bind_word_mover(nb::module_& m);
void bind_vectors(nb::module_& m);

}  // namespace lookalike

namespace {

std::uint64_t checksum_of(lookalike::Bytes data) {
    const lookalike::WithoutLock released;
    return lookalike::checksum(lookalike::view(data));
}

void add_to(lookalike::Checksum& sum, lookalike::Bytes piece) {
    if (!sum.takes_more()) throw nb::value_error("piece: all but the last must have a multiple of 64 bytes");
    const lookalike::WithoutLock released;
    sum.add(lookalike::view(piece));
}

}  // namespace

NB_MODULE(_native, m) {
    using namespace lookalike;
    // What a module's cache still holds when the interpreter ends is no leak, and no user can do anything about it.
    nb::set_leak_warnings(false);
    // Arguments are noconvert everywhere: nanobind would otherwise cast a float array to integers in silence.
    m.doc() = "Kernels over contiguous buffers. Private: use the package.";
    m.def("cpu_level", &level_name);
    m.def("checksum", &checksum_of, "data"_a.noconvert());
    nb::class_<Checksum>(m, "Checksum").def(nb::init<>()).def("add", &add_to, "piece"_a.noconvert()).def("value", &Checksum::value);
    bind_text(m);
    bind_checks(m);
    bind_elements(m);
    bind_given(m);
    bind_mappings(m);
    bind_sketch(m);
    bind_single(m);
    bind_record(m);
    bind_compared(m);
    bind_edits(m);
    bind_passages(m);
    bind_fuzzy(m);
    bind_hamming(m);
    bind_dedupe(m);
    bind_leaders(m);
    bind_repeats(m);
    bind_containment(m);
    bind_fuzzy_segments(m);
    bind_bands(m);
    bind_rows(m);  // before what takes its classes
    bind_reading(m);
    bind_direct(m);
    bind_postings(m);
    bind_pages(m);
    bind_office(m);
    bind_word_mover(m);
    bind_vectors(m);
}
