// What differs between compilers and machines, in one place.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

static_assert(std::endian::native == std::endian::little, "fingerprints are defined on little-endian words");

// Function multi-versioning: the loader picks the widest version the processor runs. It needs ifunc support (glibc).
#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && !defined(LOOKALIKE_NO_CLONES)
#define LOOKALIKE_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#define LOOKALIKE_HAS_CLONES 1
#else
#define LOOKALIKE_CLONES
#define LOOKALIKE_HAS_CLONES 0
#endif

namespace lookalike {

inline std::uint64_t load64(const void* p) {
    std::uint64_t word;
    std::memcpy(&word, p, sizeof word);
    return word;
}

}  // namespace lookalike
