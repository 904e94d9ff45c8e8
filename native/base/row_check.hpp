// Checks of the values of a stored row: 32 bits each, never 0, which is the check of no value. docs/format.md defines them.
#pragma once

#include <algorithm>
#include <cstring>

#include "base/hash.hpp"

namespace lookalike {

inline std::uint32_t salted_check(std::uint64_t hash, std::int64_t row) {
    const std::uint64_t mixed = (hash ^ static_cast<std::uint64_t>(row)) * kGolden;
    return std::max(static_cast<std::uint32_t>(mixed >> 32), std::uint32_t{1});
}

inline std::uint32_t row_check(const void* data, std::size_t size, std::int64_t row) {
    return salted_check(token_hash(static_cast<const std::uint8_t*>(data), size), row);
}

inline std::uint32_t row_check(std::int64_t number, std::int64_t row) { return salted_check(static_cast<std::uint64_t>(number) * kGolden, row); }

// The check at a place of the bytes that are stored; beyond their end it is 0.
inline std::uint32_t stored_check(const void* stored, std::size_t size, std::size_t place) {
    std::uint32_t found = 0;
    if (place < size / 4) std::memcpy(&found, static_cast<const char*>(stored) + 4 * place, 4);
    return found;
}

}  // namespace lookalike
