#include "base/keyed_hash.hpp"

#include <algorithm>
#include <bit>

#include "base/dispatch.hpp"
#include "base/hash.hpp"

namespace lookalike {
namespace {

struct SipState {
    std::uint64_t v0, v1, v2, v3;

    [[gnu::always_inline]] SipState(std::uint64_t k0, std::uint64_t k1)
        : v0(k0 ^ 0x736F6D6570736575ULL), v1(k1 ^ 0x646F72616E646F6DULL), v2(k0 ^ 0x6C7967656E657261ULL), v3(k1 ^ 0x7465646279746573ULL) {}

    [[gnu::always_inline]] void round() {
        v0 += v1, v1 = std::rotl(v1, 13), v1 ^= v0, v0 = std::rotl(v0, 32);
        v2 += v3, v3 = std::rotl(v3, 16), v3 ^= v2;
        v0 += v3, v3 = std::rotl(v3, 21), v3 ^= v0;
        v2 += v1, v1 = std::rotl(v1, 17), v1 ^= v2, v2 = std::rotl(v2, 32);
    }
    [[gnu::always_inline]] void absorb(std::uint64_t word) {
        v3 ^= word;
        round();
        v0 ^= word;
    }
    [[gnu::always_inline]] std::uint64_t finish() {
        v2 ^= 0xFF;
        round();
        round();
        round();
        return v0 ^ v1 ^ v2 ^ v3;
    }
};

constexpr std::size_t kShort = 7;     // bytes that lie with their number in one word
constexpr std::size_t kAtATime = 64;  // words that wait side by side, so that the loop over them is one of vectors

// out[i] = the hash of a string of up to seven bytes, given as its last word: the bytes, and their number in the highest byte.
[[gnu::always_inline]] inline void hash_last_words(std::uint64_t k0, std::uint64_t k1, const std::uint64_t* words, std::size_t count, std::uint64_t* out) {
    for (std::size_t i = 0; i < count; ++i) {
        SipState state(k0, k1);
        state.absorb(words[i]);
        out[i] = state.finish();
    }
}

}  // namespace

std::uint64_t siphash(const std::array<std::uint64_t, 2>& key, const std::uint8_t* p, std::size_t size) {
    SipState state(key[0], key[1]);
    std::uint64_t last = static_cast<std::uint64_t>(size) << 56;
    for (; size > kShort; p += 8, size -= 8) state.absorb(load64(p));
    for (std::size_t i = 0; i < size; ++i) last |= std::uint64_t{p[i]} << 8 * i;
    state.absorb(last);
    return state.finish();
}

LOOKALIKE_INLINED void keyed_tokens_here(const HashKey& key, const std::uint8_t* bytes, const std::size_t* begins, const std::size_t* ends, std::size_t count,
                                         std::uint64_t* out) {
    const std::uint64_t k0 = key.tokens[0], k1 = key.tokens[1];
    // As if all had at most seven bytes, without a branch; then those that have more.
    for (std::size_t done = 0; done < count; done += kAtATime) {
        std::uint64_t words[kAtATime];
        const std::size_t here = std::min(kAtATime, count - done);
        for (std::size_t i = 0; i < here; ++i) {
            const std::size_t size = ends[done + i] - begins[done + i];
            words[i] = (load64(bytes + begins[done + i]) & (~0ULL >> ((64 - 8 * size) & 63))) | static_cast<std::uint64_t>(size) << 56;
        }
        hash_last_words(k0, k1, words, here, out + done);
    }
    for (std::size_t i = 0; i < count; ++i) {
        if (ends[i] - begins[i] > kShort) out[i] = siphash(key.tokens, bytes + begins[i], ends[i] - begins[i]);
    }
}

void keyed_tokens(const HashKey& key, const std::uint8_t* bytes, const std::size_t* begins, const std::size_t* ends, std::size_t count, std::uint64_t* out) {
    return widest<keyed_tokens_here>(key, bytes, begins, ends, count, out);
}

LOOKALIKE_INLINED void keyed_tokens_of_one_size(const HashKey& key, const std::uint8_t* first, unsigned width, std::size_t count, std::uint64_t* out) {
    const std::uint64_t k0 = key.tokens[0], k1 = key.tokens[1], size = std::uint64_t{width} << 56, mask = (1ULL << 8 * width) - 1;
    for (std::size_t done = 0; done < count; done += kAtATime) {
        std::uint64_t words[kAtATime];
        const std::size_t here = std::min(kAtATime, count - done);
        for (std::size_t i = 0; i < here; ++i) {
            std::uint32_t word;
            std::memcpy(&word, first + (done + i) * width, sizeof word);
            words[i] = (word & mask) | size;
        }
        hash_last_words(k0, k1, words, here, out + done);
    }
}

void keyed_tokens(const HashKey& key, const std::uint8_t* first, unsigned width, std::size_t count, std::uint64_t* out) {
    return widest<keyed_tokens_of_one_size>(key, first, width, count, out);
}

LOOKALIKE_INLINED void finish_keyed_shingles_here(const HashKey& key, std::uint64_t* shingles, std::size_t count) {
    const std::uint64_t before = key.shingles[1], after = key.shingles[2];
    for (std::size_t k = 0; k < count; ++k) shingles[k] = mix(shingles[k] ^ before) ^ after;
}

void finish_keyed_shingles(const HashKey& key, std::uint64_t* shingles, std::size_t count) { return widest<finish_keyed_shingles_here>(key, shingles, count); }

}  // namespace lookalike
