// From tokens to their hashes, and from those to shingle hashes.
#pragma once

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

#include "base/hash.hpp"
#include "base/keyed_hash.hpp"

namespace lookalike {

// out[i] = the hash of bytes[begins[i]] … bytes[ends[i] - 1]; eight readable bytes must lie beyond the last one. At most TokenEdges::kRoom tokens, none empty.
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

// How tokens and shingles are hashed: as version 1 does, which everybody can do, or with a key.
class Hashing {
   public:
    constexpr Hashing(std::uint64_t seed = 0) : start_(mix(seed)) {}  // NOLINT: a seed is the hashing of version 1
    constexpr Hashing(std::uint64_t seed, const HashKey& key) : start_(mix(seed) ^ key.shingles[0]), key_(key) {}

    const HashKey* key() const { return key_ ? &*key_ : nullptr; }

    // As hash_tokens and hash_shingles, which they are without a key.
    void tokens(const std::uint8_t* bytes, const std::size_t* begins, const std::size_t* ends, std::size_t count, std::uint64_t* out) const {
        key_ ? keyed_tokens(*key_, bytes, begins, ends, count, out) : hash_tokens(bytes, begins, ends, count, out);
    }
    void shingles(const std::uint64_t* tokens, std::size_t count, unsigned n, std::uint64_t* out) const {
        hash_shingles(tokens, count, n, start_, out);
        if (key_) finish_keyed_shingles(*key_, out, count);
    }
    std::uint64_t string(const std::uint8_t* p, std::size_t size, Tag tag = Tag::text) const {
        return key_ ? siphash(tag == Tag::text ? key_->tokens : key_->integers, p, size) : token_hash(p, size, tag);
    }

   private:
    std::uint64_t start_;
    std::optional<HashKey> key_;
};

// Takes tokens and hands on shingle hashes in batches that stay in the first-level cache.
// A text of fewer than n tokens has one shingle, made of all of them; a text of none has none.
class Shingler {
   public:
    static constexpr std::size_t kMost = 1024;  // tokens at a time

    Shingler(unsigned n, const Hashing& hashing) : n_(n), hashing_(hashing), tokens_(kBatch + kMost + n), shingles_(kBatch + kMost + 1) {}

    void start() { held_ = 0, emitted_ = false; }

    // Where further tokens are written, up to kMost of them, …
    std::uint64_t* room() { return tokens_.data() + held_; }

    // … and so many are there now.
    template <class Consume>
    void added(std::size_t count, Consume&& consume) {
        held_ += count;
        if (held_ >= kBatch + n_) drain(consume);
    }

    template <class Consume>
    void finish(Consume&& consume) {
        if (held_ >= n_) {
            drain(consume);
        } else if (held_ > 0 && !emitted_) {
            hashing_.shingles(tokens_.data(), 1, static_cast<unsigned>(held_), shingles_.data());
            consume(shingles_.data(), std::size_t{1});
        }
    }

   private:
    static constexpr std::size_t kBatch = 256;  // small ones wait for more

    template <class Consume>
    void drain(Consume&& consume) {
        const std::size_t count = held_ - n_ + 1;
        hashing_.shingles(tokens_.data(), count, n_, shingles_.data());
        consume(shingles_.data(), count);
        std::memmove(tokens_.data(), tokens_.data() + count, (n_ - 1) * sizeof(std::uint64_t));
        held_ = n_ - 1;
        emitted_ = true;
    }

    unsigned n_;
    Hashing hashing_;
    std::vector<std::uint64_t> tokens_, shingles_;
    std::size_t held_ = 0;
    bool emitted_ = false;
};

}  // namespace lookalike
