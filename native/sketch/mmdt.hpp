// mmdt: a file as a grey picture, made small twice (16 by 16 and 64 by 64 pixels, by a Lanczos filter), and sums of stretches of its pixels.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace lookalike::mmdt {

using Digest = std::array<std::uint8_t, 20>;  // 4 bytes by which digests are looked up, then the 16 that are compared

Digest hash(std::span<const std::uint8_t> data);

}  // namespace lookalike::mmdt
