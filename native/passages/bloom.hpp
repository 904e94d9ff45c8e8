// A Bloom filter in blocks of 512 bits, for streams: it never forgets what it has seen, and sometimes takes for seen what is new.
//
// All bits of an item lie in one block, so that it costs one access to memory. Which they are depends on a secret: nobody can write an item that
// is taken for another. A block gets more items than another by chance; lookalike.deduping.bloom.sizes computes the rate of errors with that.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/secret.hpp"

namespace lookalike {

class BloomFilter {
   public:
    static constexpr std::size_t kBlockBits = 512, kWords = kBlockBits / 64;

    BloomFilter(std::size_t blocks, unsigned hashes, const Secret& secret) : words_(blocks * kWords), blocks_(blocks), hashes_(hashes), secret_(secret) {}

    // Whether an item of two words was seen before; from now on it was.
    bool add(std::uint64_t low, std::uint64_t high);

   private:
    std::vector<std::uint64_t> words_;
    std::size_t blocks_;
    unsigned hashes_;
    Secret secret_;
};

}  // namespace lookalike
