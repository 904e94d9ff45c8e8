// The rows of a block that stay, written as the bytes they came in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace lookalike {

// A stretch of the block.
struct KeptStretch {
    const std::uint8_t* data;
    std::size_t size;
};

// Where the rows stand that stay, neighbours as one stretch. `extents` are begin and end of each row, in a file of which the block begins at `offset`. Returns
// false where one is not in the block.
bool kept_stretches(std::span<const std::uint8_t> block, std::int64_t offset, std::span<const std::int64_t> extents, std::span<const std::uint8_t> kept,
                    std::vector<KeptStretch>& stretches);

// Writes stretches from the first one that is not done. Whoever calls takes care of what the system has against it, by errno, and may go on.
class StretchWriter {
   public:
    explicit StretchWriter(std::vector<KeptStretch> stretches) : left_(std::move(stretches)) {}
    bool done() const { return first_ == left_.size(); }
    // As many as the system takes at a time; how many bytes it took, or below 0.
    std::ptrdiff_t write_some(int file);

   private:
    std::vector<KeptStretch> left_;
    std::size_t first_ = 0;
};

}  // namespace lookalike
