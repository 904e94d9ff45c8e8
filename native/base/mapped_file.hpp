// A file that is mapped, with its guard, and how it was when it was mapped: one that is cut or overwritten misleads its reader.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <utility>

#include "base/mapped_guard.hpp"

namespace lookalike {

// Neither the mapping nor the descriptor is this one's: whoever owns them releases this before they are given back. Until then any thread
// may ask.
class MappedFile {
   public:
    MappedFile(const void* data, std::size_t size, int descriptor)
        : mapping_(size ? guard_mapping(data, size) : nullptr), descriptor_(descriptor), stamp_(stamp()) {}
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    ~MappedFile() { release(); }

    bool was_cut() const { return cut_ || (mapping_ != nullptr && mapping_was_cut(mapping_)); }
    // A file that was replaced or removed is not changed: the mapping is of the file that it was.
    bool changed() const { return was_cut() || (descriptor_ >= 0 && stamp() != stamp_); }
    void release() {
        cut_ = was_cut();
        descriptor_ = -1;
        if (mapping_ != nullptr) release_mapping(std::exchange(mapping_, nullptr));
    }

   private:
    using Stamp = std::pair<std::int64_t, std::int64_t>;  // its size, and when it was last written to

    Stamp stamp() const {
        struct stat status;
        if (fstat(descriptor_, &status) != 0) return {-1, -1};
#ifdef __APPLE__
        const timespec written = status.st_mtimespec;
#else
        const timespec written = status.st_mtim;
#endif
        return {static_cast<std::int64_t>(status.st_size), static_cast<std::int64_t>(written.tv_sec) * 1'000'000'000 + written.tv_nsec};
    }

    GuardedMapping mapping_;
    int descriptor_;
    Stamp stamp_;
    bool cut_ = false;
};

}  // namespace lookalike
