// Texts that Python holds in two bytes for each character, as UTF-8: blocks of them at once, where the processor can.
#pragma once

#include <span>

#include "base/platform.hpp"

namespace lookalike {

// How many units were encoded, and bytes written: all but fewer than 64, or none. Writes nothing beyond what all of the units take.
struct EncodedBlocks {
    std::size_t units, bytes;
};
EncodedBlocks encode_blocks(std::span<const std::uint16_t> units, std::uint8_t* out);

}  // namespace lookalike
