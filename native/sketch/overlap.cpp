#include "sketch/overlap.hpp"

namespace lookalike {

std::size_t intersection_size(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
    std::size_t i = 0, k = 0, common = 0;
    // Without branches on the data: the two arrays are hashes, so a branch would be mispredicted half of the time.
    while (i < a.size() && k < b.size()) {
        const std::uint64_t x = a[i], y = b[k];
        common += x == y;
        i += x <= y;
        k += y <= x;
    }
    return common;
}

}  // namespace lookalike
