// From tokens to their hashes, and from those to shingle hashes.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "base/hash.hpp"

namespace lookalike {

// out[i] = the hash of bytes[begins[i]] … bytes[ends[i] - 1]; eight readable bytes must lie beyond the last one.
void hash_tokens(const std::uint8_t* bytes, const std::size_t* begins, const std::size_t* ends, std::size_t count, std::uint64_t* out);

// out[k] = mix(key ^ XOR of rotl(tokens[k + i], 13 * (n - 1 - i))) for k < count; tokens holds count + n - 1 hashes.
void hash_shingles(const std::uint64_t* tokens, std::size_t count, unsigned n, std::uint64_t key, std::uint64_t* out);

// The XOR of rotl(tokens[i], 13 * (n - 1 - i)), for an n that the compiler knows: a loop over it is one pass.
template <unsigned n>
[[gnu::always_inline]] inline std::uint64_t turned_together(const std::uint64_t* tokens) {
    std::uint64_t out = tokens[n - 1];
    for (unsigned i = 0; i + 1 < n; ++i) out ^= std::rotl(tokens[i], static_cast<int>(kShingleRotation * (n - 1 - i) % 64));
    return out;
}

constexpr unsigned kUsual = 5;  // tokens in a shingle, unless somebody asks for another number

// Takes tokens one by one and hands on shingle hashes in batches that stay in the first-level cache.
// A text of fewer than n tokens has one shingle, made of all of them; a text of none has none.
class Shingler {
   public:
    Shingler(unsigned n, std::uint64_t seed) : n_(n), key_(mix(seed)), tokens_(kBatch + n), shingles_(kBatch + 1) {}

    void start() { held_ = 0, emitted_ = false; }

    template <class Consume>
    void add(std::uint64_t token, Consume&& consume) {
        tokens_[held_++] = token;
        if (held_ == tokens_.size()) drain(consume);
    }

    // Tokens made by token(0), token(1), …
    template <class Make, class Consume>
    void add_all(std::size_t count, Make&& token, Consume&& consume) {
        for (std::size_t done = 0; done < count;) {
            const std::size_t room = std::min(tokens_.size() - held_, count - done);
            std::uint64_t* out = tokens_.data() + held_;
            for (std::size_t i = 0; i < room; ++i) out[i] = token(done + i);
            held_ += room;
            done += room;
            if (held_ == tokens_.size()) drain(consume);
        }
    }

    template <class Consume>
    void finish(Consume&& consume) {
        if (held_ >= n_) {
            drain(consume);
        } else if (held_ > 0 && !emitted_) {
            hash_shingles(tokens_.data(), 1, static_cast<unsigned>(held_), key_, shingles_.data());
            consume(shingles_.data(), std::size_t{1});
        }
    }

   private:
    static constexpr std::size_t kBatch = 1024;

    template <class Consume>
    void drain(Consume&& consume) {
        const std::size_t count = held_ - n_ + 1;
        hash_shingles(tokens_.data(), count, n_, key_, shingles_.data());
        consume(shingles_.data(), count);
        std::memmove(tokens_.data(), tokens_.data() + count, (n_ - 1) * sizeof(std::uint64_t));
        held_ = n_ - 1;
        emitted_ = true;
    }

    unsigned n_;
    std::uint64_t key_;
    std::vector<std::uint64_t> tokens_, shingles_;
    std::size_t held_ = 0;
    bool emitted_ = false;
};

}  // namespace lookalike
