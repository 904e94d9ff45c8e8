// Checks of the values of a stored row: 32 bits each, never 0, which is the check of no value. docs/format.md defines them.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

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

// Those of rows that follow each other. Each step of token_hash waits for the one before, so the processor takes these steps for four values in
// the time of one; what is left of the longer ones follows.
inline constexpr std::size_t kCheckedTogether = 4;
inline std::array<std::uint32_t, kCheckedTogether> row_checks(const std::array<std::string_view, kCheckedTogether>& values, std::int64_t first_row) {
    constexpr std::size_t kWord = 8;
    const auto byte_at = [&](std::size_t k, std::size_t at) { return reinterpret_cast<const std::uint8_t*>(values[k].data()) + at; };
    std::array<std::uint64_t, kCheckedTogether> states;
    std::size_t all = ~std::size_t{0};  // bytes of whole words that none of them ends with
    for (std::size_t k = 0; k < kCheckedTogether; ++k) {
        states[k] = values[k].size() * kGolden;
        all = std::min(all, values[k].empty() ? 0 : (values[k].size() - 1) / kWord * kWord);
    }
    for (std::size_t at = 0; at < all; at += kWord) {
        for (std::size_t k = 0; k < kCheckedTogether; ++k) states[k] = absorb(states[k], load64(byte_at(k, at)));
    }
    std::array<std::uint32_t, kCheckedTogether> checks;
    for (std::size_t k = 0; k < kCheckedTogether; ++k) {
        std::size_t at = all;
        for (; values[k].size() - at > kWord; at += kWord) states[k] = absorb(states[k], load64(byte_at(k, at)));
        std::uint64_t last = 0;
        if (!values[k].empty()) std::memcpy(&last, byte_at(k, at), values[k].size() - at);  // an empty value may lie nowhere
        checks[k] = salted_check(finish(absorb(states[k], last)), first_row + static_cast<std::int64_t>(k));
    }
    return checks;
}

// The check at a place of the bytes that are stored; beyond their end it is 0.
inline std::uint32_t stored_check(const void* stored, std::size_t size, std::size_t place) {
    std::uint32_t found = 0;
    if (place < size / 4) std::memcpy(&found, static_cast<const char*>(stored) + 4 * place, 4);
    return found;
}

}  // namespace lookalike
