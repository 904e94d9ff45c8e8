// Nilsimsa (Damiani et al. 2004): 256 bits by which of 256 buckets the trigrams of a sliding window of five bytes fall into more often
// than on average.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lookalike {

class NilsimsaState {
   public:
    void update(const std::uint8_t* data, std::size_t size);
    std::uint64_t size() const { return size_; }
    std::array<std::uint8_t, 32> digest() const;  // the highest bits first

   private:
    std::array<std::uint64_t, 256> counts_{};
    std::array<std::uint8_t, 4> window_{};  // the last bytes, the newest first
    std::uint64_t size_ = 0;
};

}  // namespace lookalike
