#include "shingle.hpp"

namespace lookalike {

LOOKALIKE_CLONES
void hash_shingles(const std::uint64_t* tokens, std::size_t count, unsigned n, std::uint64_t key, std::uint64_t* out) {
    // One pass a position over a batch in the cache: each inner loop is a plain vector loop.
    const std::uint64_t* last = tokens + (n - 1);
    for (std::size_t k = 0; k < count; ++k) out[k] = last[k] ^ key;
    for (unsigned i = 0; i + 1 < n; ++i) {
        const int turn = static_cast<int>(kShingleRotation * (n - 1 - i) % 64);
        const std::uint64_t* token = tokens + i;
        for (std::size_t k = 0; k < count; ++k) out[k] ^= std::rotl(token[k], turn);
    }
    for (std::size_t k = 0; k < count; ++k) out[k] = mix(out[k]);
}

}  // namespace lookalike
