#include "base/secret.hpp"

#include <random>

namespace lookalike {

std::uint64_t Secret::of_long(const std::uint8_t* p, std::size_t size) const {
    const std::uint64_t whole = size;
    std::uint64_t hash = start;
    const auto absorb_word = [&](std::uint64_t word) {
        // Both halves: in the lower one alone the highest bit of a word would change nothing but the highest bit.
        __extension__ using Wide = unsigned __int128;
        const Wide product = static_cast<Wide>(hash ^ word) * words;
        hash = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
    };
    for (; size > 8; p += 8, size -= 8) absorb_word(load64(p));
    std::uint64_t last = 0;
    if (size) std::memcpy(&last, p, size);
    absorb_word(last);
    return finish(hash, whole);
}

const Secret& process_secret() {
    static const Secret secret = [] {
        std::random_device device;
        std::array<std::uint64_t, Secret::kWords> random;
        for (std::uint64_t& word : random) word = std::uint64_t{device()} << 32 | device();
        return Secret(random);
    }();
    return secret;
}

LOOKALIKE_CLONES
void secret_tokens(const Secret& given, const std::uint8_t* bytes, const std::size_t* begins, const std::size_t* ends, const std::uint64_t* plain,
                   std::size_t count, std::uint64_t* out) {
    const Secret secret = given;  // a copy that nothing else writes to
    for (std::size_t i = 0; i < count; ++i) out[i] = secret.finish(plain[i], ends[i] - begins[i]);
    for (std::size_t i = 0; i < count; ++i) {
        if (ends[i] - begins[i] > 8) out[i] = secret.of_long(bytes + begins[i], ends[i] - begins[i]);
    }
}

LOOKALIKE_CLONES
void secret_tokens(const Secret& given, std::size_t size, const std::uint64_t* plain, std::size_t count, std::uint64_t* out) {
    const Secret secret = given;
    for (std::size_t i = 0; i < count; ++i) out[i] = secret.finish(plain[i], size);
}

LOOKALIKE_CLONES
void secret_shingles(const std::uint64_t* tokens, std::size_t count, unsigned n, std::uint64_t* out) {
    if (n == kUsual) {
        for (std::size_t k = 0; k < count; ++k) out[k] = turned_together<kUsual>(tokens + k);
        return;
    }
    const std::uint64_t* last = tokens + (n - 1);
    for (std::size_t k = 0; k < count; ++k) out[k] = last[k];
    for (unsigned i = 0; i + 1 < n; ++i) {
        const int turn = static_cast<int>(kShingleRotation * (n - 1 - i) % 64);
        const std::uint64_t* token = tokens + i;
        for (std::size_t k = 0; k < count; ++k) out[k] ^= std::rotl(token[k], turn);
    }
}

}  // namespace lookalike
