#include "sketch/nilsimsa.hpp"

namespace lookalike {
namespace {

// The table of Nilsimsa: what a generator of pseudorandom numbers that steps by 53 leaves, filled in so that each byte comes once.
constexpr std::array<std::uint8_t, 256> kTable = [] {
    std::array<std::uint8_t, 256> table{};
    unsigned j = 0;
    for (unsigned i = 0; i < 256; ++i) {
        j = (j * 53 + 1) & 255;
        j += j;
        if (j > 255) j -= 255;
        for (unsigned k = 0; k < i; ++k) {
            if (j == table[k]) {
                j = (j + 1) & 255;
                k = static_cast<unsigned>(-1);  // from the beginning: the new one may be there too
            }
        }
        table[i] = static_cast<std::uint8_t>(j);
    }
    return table;
}();

constexpr std::uint8_t bucket(unsigned a, unsigned b, unsigned c, unsigned n) {
    return static_cast<std::uint8_t>((kTable[(a + n) & 255] ^ kTable[b] * (n + n + 1)) + kTable[c ^ kTable[n]]);
}

}  // namespace

void NilsimsaState::update(const std::uint8_t* data, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
        const std::uint8_t byte = data[i];
        const auto [w0, w1, w2, w3] = window_;
        if (size_ > 1) ++counts_[bucket(byte, w0, w1, 0)];
        if (size_ > 2) {
            ++counts_[bucket(byte, w0, w2, 1)];
            ++counts_[bucket(byte, w1, w2, 2)];
        }
        if (size_ > 3) {
            ++counts_[bucket(byte, w0, w3, 3)];
            ++counts_[bucket(byte, w1, w3, 4)];
            ++counts_[bucket(byte, w2, w3, 5)];
            ++counts_[bucket(w3, w0, byte, 6)];
            ++counts_[bucket(w3, w2, byte, 7)];
        }
        window_ = {byte, w0, w1, w2};
        ++size_;
    }
}

std::array<std::uint8_t, 32> NilsimsaState::digest() const {
    const std::uint64_t trigrams = size_ < 3 ? 0 : size_ == 3 ? 1 : size_ == 4 ? 4 : 8 * size_ - 28;
    std::array<std::uint8_t, 32> digest{};
    for (unsigned i = 0; i < 256; ++i) {
        // A whole number is more than the mean where it is more than its whole part.
        if (counts_[i] > trigrams / 256) digest[31 - i / 8] |= static_cast<std::uint8_t>(1u << (i % 8));
    }
    return digest;
}

}  // namespace lookalike
