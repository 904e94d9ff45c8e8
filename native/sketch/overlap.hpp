// The size of the intersection of two sets or multisets, as ascending arrays.
#pragma once

#include <span>

#include "base/platform.hpp"

namespace lookalike {

std::size_t intersection_size(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b);

}  // namespace lookalike
