// What differs between compilers and machines, in one place.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

static_assert(std::endian::native == std::endian::little, "fingerprints are defined on little-endian words");

namespace lookalike {

inline std::uint64_t load64(const void* p) {
    std::uint64_t word;
    std::memcpy(&word, p, sizeof word);
    return word;
}

}  // namespace lookalike
