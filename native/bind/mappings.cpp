// Python's view of files: what tells whether one was changed, and the guard of those that are mapped.
#include <sys/stat.h>

#include <cerrno>

#include "base/mapped_file.hpp"
#include "bind/bind.hpp"

namespace lookalike {
namespace {

using Stamp = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

// Whether a file is still the one it was, and as it was, without reading it: its device, number, size, and when it was last written to
// and changed in any way, in nanoseconds. None where there is none.
std::optional<Stamp> file_stamp(const std::string& path) {
    struct stat status;
    if (stat(path.c_str(), &status) != 0) {
        if (errno == ENOENT) return std::nullopt;
        PyErr_SetFromErrnoWithFilename(PyExc_OSError, path.c_str());
        throw nb::python_error();
    }
#ifdef __APPLE__
    const timespec written = status.st_mtimespec, changed = status.st_ctimespec;
#else
    const timespec written = status.st_mtim, changed = status.st_ctim;
#endif
    const auto nanoseconds = [](const timespec& time) { return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec; };
    return Stamp(static_cast<std::int64_t>(status.st_dev), static_cast<std::int64_t>(status.st_ino), static_cast<std::int64_t>(status.st_size),
                 nanoseconds(written), nanoseconds(changed));
}

}  // namespace

void bind_mappings(nb::module_& m) {
    m.def("file_stamp", &file_stamp, "path"_a);
    m.def("renew_guard", &renew_guard);
    nb::class_<MappedFile>(m, "MappedFile")
        .def(
            "__init__", [](MappedFile* made, const Bytes& mapped, int descriptor) { new (made) MappedFile(mapped.data(), mapped.size(), descriptor); },
            "mapped"_a.noconvert(), "descriptor"_a)
        .def_prop_ro("was_cut", &MappedFile::was_cut)
        .def("changed", &MappedFile::changed)
        .def("release", &MappedFile::release);
}

}  // namespace lookalike
