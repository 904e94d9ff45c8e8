#include "text/shingle.hpp"

#include "base/dispatch.hpp"
#include "text/short_tokens.hpp"

namespace lookalike {

void hash_tokens(const std::uint8_t* bytes, const std::size_t* begins, const std::size_t* ends, std::size_t count, std::uint64_t* out) {
    LongTokens longs;
    hash_short_tokens(bytes, begins, ends, count, out, longs);
    for (std::size_t k = 0; k < longs.count; ++k) {
        const std::size_t i = longs.numbers[k];
        out[i] = token_hash_padded(bytes + begins[i], ends[i] - begins[i]);
    }
}

constexpr std::size_t kSide = 32;

// As mix, step by step for all: a product waits long for the one before it, so others must be under way.
LOOKALIKE_INLINED void mix_side_by_side(std::uint64_t (&x)[kSide]) {
    for (std::uint64_t& word : x) word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9ULL;
    for (std::uint64_t& word : x) word = (word ^ word >> 27) * 0x94D049BB133111EBULL;
    for (std::uint64_t& word : x) word ^= word >> 31;
}

// Tokens from which on a shingle is made of the one before it, by what left and what came. Each waits for the one before it; of fewer tokens all are put together anew,
// many at a time.
constexpr unsigned kWorthRolling = 8;

LOOKALIKE_INLINED void hash_shingles_here(const std::uint64_t* tokens, std::size_t count, unsigned n, std::uint64_t key, std::uint64_t* out) {
    if (n == kUsual) {
        std::size_t k = 0;
        for (; k + kSide <= count; k += kSide) {
            std::uint64_t x[kSide];
            for (std::size_t i = 0; i < kSide; ++i) x[i] = key ^ turned_together<kUsual>(tokens + k + i);
            mix_side_by_side(x);
            for (std::size_t i = 0; i < kSide; ++i) out[k + i] = x[i];
        }
        for (; k < count; ++k) out[k] = mix(key ^ turned_together<kUsual>(tokens + k));
        return;
    }
    if (n >= kWorthRolling && count > 0) {
        std::uint64_t rolled = 0;
        for (unsigned i = 0; i < n; ++i) rolled = std::rotl(rolled, kShingleRotation) ^ tokens[i];
        out[0] = rolled ^ key;
        const int gone = static_cast<int>(kShingleRotation * n % 64);
        for (std::size_t k = 1; k < count; ++k) {
            rolled = std::rotl(rolled, kShingleRotation) ^ std::rotl(tokens[k - 1], gone) ^ tokens[k + n - 1];
            out[k] = rolled ^ key;
        }
        for (std::size_t k = 0; k < count; ++k) out[k] = mix(out[k]);
        return;
    }
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

void hash_shingles(const std::uint64_t* tokens, std::size_t count, unsigned n, std::uint64_t key, std::uint64_t* out) {
    return widest<hash_shingles_here>(tokens, count, n, key, out);
}

}  // namespace lookalike
