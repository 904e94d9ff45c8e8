// Python's view of files: what tells whether one was changed, and the guard of those that are mapped.
#include <sys/stat.h>

#include <cerrno>

#include "base/mapped_guard.hpp"
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

// It does not keep the mapping: whoever does has to release this before the memory is given back.
class MappingGuard {
   public:
    explicit MappingGuard(const Bytes& mapped) : mapping_(mapped.size() ? guard_mapping(mapped.data(), mapped.size()) : nullptr) {}
    MappingGuard(const MappingGuard&) = delete;
    MappingGuard& operator=(const MappingGuard&) = delete;
    ~MappingGuard() { release(); }

    bool was_cut() const { return cut_ || (mapping_ != nullptr && mapping_was_cut(mapping_)); }
    void release() {
        cut_ = was_cut();
        if (mapping_ != nullptr) release_mapping(std::exchange(mapping_, nullptr));
    }

   private:
    GuardedMapping mapping_;
    bool cut_ = false;
};

}  // namespace

void bind_mappings(nb::module_& m) {
    m.def("file_stamp", &file_stamp, "path"_a);
    m.def("renew_guard", &renew_guard);
    nb::class_<MappingGuard>(m, "MappingGuard")
        .def(nb::init<const Bytes&>(), "mapped"_a.noconvert())
        .def_prop_ro("was_cut", &MappingGuard::was_cut)
        .def("release", &MappingGuard::release);
}

}  // namespace lookalike
