#include "base/secret.hpp"

#include <random>

#include "base/dispatch.hpp"

namespace lookalike {

std::uint64_t Secret::absorbed(std::uint64_t hash, std::uint64_t word) const {
    // Both halves: in the lower one alone the highest bit of a word would change nothing but the highest bit.
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(hash ^ word) * words;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// The hash of all words but the last; what is left of the token afterwards is the last.
std::uint64_t Secret::before_last(const std::uint8_t*& p, std::size_t& size) const {
    std::uint64_t hash = start;
    for (; size > 8; p += 8, size -= 8) hash = absorbed(hash, load64(p));
    return hash;
}

std::uint64_t Secret::of_long(const std::uint8_t* p, std::size_t size) const {
    const std::uint64_t whole = size * sizes;
    const std::uint64_t hash = before_last(p, size);
    std::uint64_t word = 0;
    std::memcpy(&word, p, size);
    return scatter(absorbed(hash, word) ^ whole);
}

std::uint64_t Secret::of_long_padded(const std::uint8_t* p, std::size_t size) const {
    const std::uint64_t whole = size * sizes;
    const std::uint64_t hash = before_last(p, size);
    return scatter(absorbed(hash, load64(p) & (~0ULL >> (64 - 8 * size))) ^ whole);
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

LOOKALIKE_INLINED void secret_tokens_here(const Secret& given, const std::uint8_t* bytes, const std::size_t* begins, const std::size_t* ends,
                                          const std::uint64_t* plain, std::size_t count, std::uint64_t* out) {
    const Secret secret = given;  // a copy that nothing else writes to
    for (std::size_t i = 0; i < count; ++i) out[i] = secret.of_short(plain[i], (ends[i] - begins[i]) & 63);
    for (std::size_t i = 0; i < count; ++i) {
        if (ends[i] - begins[i] > 8) out[i] = secret.of_long_padded(bytes + begins[i], ends[i] - begins[i]);
    }
}

void secret_tokens(const Secret& given, const std::uint8_t* bytes, const std::size_t* begins, const std::size_t* ends, const std::uint64_t* plain,
                   std::size_t count, std::uint64_t* out) {
    return widest<secret_tokens_here>(given, bytes, begins, ends, plain, count, out);
}

LOOKALIKE_INLINED void secret_tokens_of_one_size(const Secret& given, std::size_t size, const std::uint64_t* plain, std::size_t count, std::uint64_t* out) {
    const Secret secret = given;
    for (std::size_t i = 0; i < count; ++i) out[i] = secret.of_short(plain[i], size);
}

void secret_tokens(const Secret& given, std::size_t size, const std::uint64_t* plain, std::size_t count, std::uint64_t* out) {
    return widest<secret_tokens_of_one_size>(given, size, plain, count, out);
}

LOOKALIKE_INLINED void secret_tokens_of_sizes(const Secret& given, const std::uint32_t* sizes, const std::uint64_t* plain, std::size_t count,
                                              std::uint64_t* out) {
    const Secret secret = given;
    for (std::size_t i = 0; i < count; ++i) out[i] = secret.of_short(plain[i], sizes[i] & 63);
}

void secret_tokens(const Secret& given, const std::uint32_t* sizes, const std::uint64_t* plain, std::size_t count, std::uint64_t* out) {
    widest<secret_tokens_of_sizes>(given, sizes, plain, count, out);
}

LOOKALIKE_INLINED void secret_shingles_here(const std::uint64_t* tokens, std::size_t count, unsigned n, std::uint64_t* out) {
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

void secret_shingles(const std::uint64_t* tokens, std::size_t count, unsigned n, std::uint64_t* out) {
    return widest<secret_shingles_here>(tokens, count, n, out);
}

}  // namespace lookalike
