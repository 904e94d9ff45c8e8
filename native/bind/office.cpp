// Python's view of Office files: parts of packages, as bytes.
#include "bind/bind.hpp"
#include "office/sheet_text.hpp"
#include "office/text_runs.hpp"

namespace lookalike {
namespace {

std::string_view text_of(const Bytes& data) { return {reinterpret_cast<const char*>(data.data()), data.size()}; }

bool add_shared(SharedTexts& shared, Bytes xml) {
    nb::gil_scoped_release release;
    return shared.read(text_of(xml));
}

// None where the sheet is written in a way that is not read here.
nb::object sheet_text_(Bytes xml, const SharedTexts& shared, Bytes plain, std::uint64_t most_cells, std::size_t most_bytes) {
    std::optional<std::string> found;
    {
        nb::gil_scoped_release release;
        found = sheet_text(text_of(xml), shared, view(plain), {most_cells, most_bytes});
    }
    if (!found) return nb::none();
    return nb::str(found->data(), found->size());
}

std::optional<std::string> shown_number(Bytes written) {
    std::string out;
    if (!append_number(text_of(written), out)) return std::nullopt;
    return out;
}

nb::bytes join_text_runs_(Bytes xml, Bytes between) {
    std::string found;
    {
        nb::gil_scoped_release release;
        found = join_text_runs(text_of(xml), text_of(between));
    }
    return nb::bytes(found.data(), found.size());
}

}  // namespace

void bind_office(nb::module_& m) {
    nb::class_<SharedTexts>(m, "SharedTexts").def(nb::init<>()).def("__len__", &SharedTexts::size).def("read", &add_shared, "xml"_a.noconvert());
    m.def("sheet_text", &sheet_text_, "xml"_a.noconvert(), "shared"_a, "plain"_a.noconvert(), "most_cells"_a, "most_bytes"_a);
    m.def("join_text_runs", &join_text_runs_, "xml"_a.noconvert(), "between"_a.noconvert());
    m.def("shown_number", &shown_number, "written"_a.noconvert());
}

}  // namespace lookalike
