// Whether bytes are well-formed UTF-8.
#pragma once

#include "base/platform.hpp"

namespace lookalike {

// Whether all of it is certainly well-formed: fast, and not told on every processor.
bool is_surely_utf8(const std::uint8_t* p, std::size_t size);

// Bytes of the well-formed UTF-8 sequence at p, which is not ASCII; 0 if it is ill-formed.
unsigned sequence_length(const std::uint8_t* p, const std::uint8_t* end);

bool is_utf8(const std::uint8_t* p, std::size_t size);

}  // namespace lookalike
