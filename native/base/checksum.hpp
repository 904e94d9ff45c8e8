// A 64-bit checksum of files that are read whole at every opening: as fast as memory, and certain to see one changed word.
#pragma once

#include <span>

#include "base/platform.hpp"

namespace lookalike {

// Eight lanes; word i goes into lane i % 8 as lane = rotl(lane ^ word, 29) * K, the last word padded with zeros. Each step
// is invertible, so a single changed word always changes its lane, and the lanes are joined in the same way.
std::uint64_t checksum(std::span<const std::uint8_t> data);

}  // namespace lookalike
