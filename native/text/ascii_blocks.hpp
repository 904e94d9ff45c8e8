// ASCII in blocks of 64 bytes: lower case, and a bit for what each byte is.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lookalike {

constexpr std::size_t kAsciiBytes = 64;  // of a block

// Lower-cases blocks, if they are to be folded, as long as they are ASCII, and returns how many are. `words` gets a word for each with the bits of its letters and
// digits, `spaces` one with those of its white space. Of a block that is not ASCII alone, the first one, the bits of its ASCII are right too.
std::size_t fold_ascii_blocks(const std::uint8_t* source, std::size_t blocks, bool fold, std::uint8_t* target, std::uint64_t* words, std::uint64_t* spaces);

}  // namespace lookalike
