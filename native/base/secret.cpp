#include "base/secret.hpp"

#include <random>

#include "base/dispatch.hpp"
#include "text/short_tokens.hpp"

#if LOOKALIKE_HAS_LEVELS
#include "base/intrinsics.hpp"
#endif

namespace lookalike {

Secret::Secret(const std::array<std::uint64_t, kWords>& random) : tokens{random[0], random[1]} {
    std::uint64_t drawn = 0;
    const auto draw = [&] {
        std::uint8_t number[8];
        for (unsigned i = 0; i < 8; ++i) number[i] = static_cast<std::uint8_t>(drawn >> 8 * i);
        ++drawn;
        return siphash({random[2], random[3]}, number, sizeof number);
    };
    sizes = draw();
    for (std::uint64_t& word : longs) word = draw();
    for (std::uint64_t& word : positions) word = draw();
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

std::uint64_t Secret::word_of_long(const std::uint8_t* p, std::size_t size) const {
    if (size > kLongest) return siphash(tokens, p, size);
    std::uint64_t sum = longs[0] + size * longs[1];
    const std::uint64_t* factor = longs.data() + 2;
    const auto add = [&](std::uint64_t two) {
        sum += (two & 0xFFFFFFFF) * factor[0] + (two >> 32) * factor[1];
        factor += 2;
    };
    for (; size > 8; p += 8, size -= 8) add(load64(p));
    add(load64(p) & (~0ULL >> (64 - 8 * size)));
    return sum;
}

LOOKALIKE_INLINED void secret_words_of_edges(const Secret& given, const TokenEdges& edges, const std::uint64_t* plain, std::uint64_t* words) {
    const std::uint64_t secret_sizes = given.sizes;  // copies that nothing else writes to
    const std::size_t ended = edges.ended;
    for (std::size_t i = 0; i < ended; ++i) words[i] = plain[i] ^ secret_sizes >> ((edges.ends[i] - edges.begins[i]) & 63);
}

void hash_tokens_twice(const Secret& secret, const std::uint8_t* bytes, const TokenEdges& edges, std::uint64_t* plain, std::uint64_t* words) {
    LongTokens longs;
    hash_short_tokens(bytes, edges.begins, edges.ends, edges.ended, plain, longs);
    widest<secret_words_of_edges>(secret, edges, plain, words);
    for (std::size_t k = 0; k < longs.count; ++k) {
        const std::size_t i = longs.numbers[k], size = edges.ends[i] - edges.begins[i];
        plain[i] = token_hash_padded(bytes + edges.begins[i], size);
        words[i] = secret.word_of_long(bytes + edges.begins[i], size);
    }
}

LOOKALIKE_INLINED void secret_words_of_sizes(const Secret& given, const std::uint32_t* sizes, const std::uint64_t* plain, std::size_t count,
                                             std::uint64_t* words) {
    const std::uint64_t secret_sizes = given.sizes;  // a copy that nothing else writes to
    for (std::size_t i = 0; i < count; ++i) words[i] = plain[i] ^ secret_sizes >> (sizes[i] & 63);
}

void secret_words(const Secret& given, const std::uint32_t* sizes, const std::uint64_t* plain, std::size_t count, std::uint64_t* words) {
    widest<secret_words_of_sizes>(given, sizes, plain, count, words);
}

void secret_words(const Secret& given, std::size_t size, const std::uint64_t* plain, std::size_t count, std::uint64_t* words) {
    const std::uint64_t mask = given.sizes >> size;
    for (std::size_t i = 0; i < count; ++i) words[i] = plain[i] ^ mask;
}

namespace {

std::uint64_t product_of_halves(std::uint64_t word, std::uint64_t key) {
    const auto low = static_cast<std::uint32_t>(word) + static_cast<std::uint32_t>(key);
    const auto high = static_cast<std::uint32_t>(word >> 32) + static_cast<std::uint32_t>(key >> 32);
    return std::uint64_t{low} * high;
}

#if LOOKALIKE_HAS_LEVELS
// By hand: compilers make three multiplications of one here.
LOOKALIKE_AVX2 std::size_t shingles_by_four(const std::uint64_t* words, std::size_t count, unsigned n, const std::uint64_t* positions, std::uint64_t* out) {
    std::size_t k = 0;
    for (; k + 4 <= count; k += 4) {
        __m256i sum = _mm256_setzero_si256();
        for (unsigned i = 0; i < n; ++i) {
            const __m256i word = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words + k + i));
            const __m256i halves = _mm256_add_epi32(word, _mm256_set1_epi64x(static_cast<long long>(positions[n - 1 - i])));
            sum = _mm256_add_epi64(sum, _mm256_mul_epu32(halves, _mm256_srli_epi64(halves, 32)));
        }
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + k), sum);
    }
    return k;
}
#endif

}  // namespace

void secret_shingles(const Secret& secret, const std::uint64_t* words, std::size_t count, unsigned n, std::uint64_t* out) {
    std::size_t k = 0;
#if LOOKALIKE_HAS_LEVELS
    if (kLevel != Level::plain) {
        k = n == kUsual ? shingles_by_four(words, count, kUsual, secret.positions.data(), out)
                        : shingles_by_four(words, count, n, secret.positions.data(), out);
    }
#endif
    for (; k < count; ++k) {
        std::uint64_t sum = 0;
        for (unsigned i = 0; i < n; ++i) sum += product_of_halves(words[k + i], secret.positions[n - 1 - i]);
        out[k] = sum;
    }
}

}  // namespace lookalike
