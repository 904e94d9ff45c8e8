// A 64-bit checksum of files that are read whole at every opening: as fast as memory, and certain to see one changed word.
#pragma once

#include <span>

#include "base/platform.hpp"

namespace lookalike {

// Eight lanes; word i goes into lane i % 8 as lane = rotl(lane ^ word, 29) * K, the last word padded with zeros. Each step
// is invertible, so a single changed word always changes its lane, and the lanes are joined in the same way.
std::uint64_t checksum(std::span<const std::uint8_t> data);

// The same of data that come in pieces.
class Checksum {
   public:
    static constexpr std::size_t kLanes = 8, kStep = 8 * kLanes;  // bytes

    Checksum();
    // All pieces but the last have a multiple of kStep bytes.
    void add(std::span<const std::uint8_t> piece);
    bool takes_more() const { return size_ % kStep == 0; }
    std::uint64_t value() const;

   private:
    std::uint64_t lanes_[kLanes], size_ = 0;
};

}  // namespace lookalike
