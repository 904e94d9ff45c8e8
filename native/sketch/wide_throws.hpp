// The late throws of a MinHash with AVX-512: as throw_at_empty, without arrays of throws.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lookalike {

constexpr std::size_t kFeaturesAtATime = 8;

// Whether sketches of this size have this way on this processor.
bool knows_wide_throws(std::size_t size);

// Rounds 1 to size - 1, until no bin is empty; tells whether none is. As if every throw had been tried. `features` is followed by copies of one of them, up to
// a multiple of kFeaturesAtATime, which `count` leaves out. Only where knows_wide_throws(size).
bool throw_wide(const std::uint64_t* features, std::size_t count, std::uint32_t* bins, std::size_t size, unsigned value_bits);

}  // namespace lookalike
