#include "passages/bloom.hpp"

#include <cstring>

namespace lookalike {

bool BloomFilter::add(std::uint64_t low, std::uint64_t high) {
    __extension__ using Wide = unsigned __int128;
    std::uint8_t item[16];
    std::memcpy(item, &low, 8);
    std::memcpy(item + 8, &high, 8);
    const std::uint64_t hash = secret_.of(item, sizeof item);
    const std::uint64_t first = mix(hash ^ secret_.longs[0]);
    std::uint64_t* const block = words_.data() + kWords * static_cast<std::size_t>((static_cast<Wide>(first) * blocks_) >> 64);
    std::uint64_t state = hash, bits = 0;
    bool seen = true;
    for (unsigned i = 0; i < hashes_; ++i, bits >>= 9) {
        if (i % 7 == 0) bits = mix(state += kGolden);  // seven places of nine bits in a word
        const std::uint64_t place = bits % kBlockBits, bit = std::uint64_t{1} << place % 64;
        seen = seen && (block[place / 64] & bit) != 0;
        block[place / 64] |= bit;
    }
    return seen;
}

}  // namespace lookalike
