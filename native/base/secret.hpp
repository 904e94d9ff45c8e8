// Hashes that nobody can aim at: what is called verified is decided by them.
//
// The hash of recipe version 1 is known to everybody, and a chain of bijections: whoever wants to finds two texts with equal hashes. So
// where two texts are said to be equal, or to share features, the hashes are made with a secret, which is drawn anew for every process or
// run. Texts are written without knowing it, so texts that differ have different hashes but for chance.
//
// The secret hash of a token t of up to eight bytes, with h the hash of version 1, which is a bijection of the tokens of one such size:
//
//     x = (h ^ sizes >> |t|) * last;  secret = x ^ x >> 32
//
// and of a longer one:
//
//     h = start;  for each 8-byte word w of t, the last one padded with zeros:  h = low ^ high, the halves of the 128-bit product (h ^ w) * words
//     x = (h ^ |t| * sizes) * last;  secret = x ^ x >> 32
//
// A shift costs a vector a third of what a multiplication does, and what two sizes make of `sizes` differs in bits that nobody knows.
//
// A feature of n tokens is the XOR of rotl(secret(t[i]), 13 * (n - 1 - i)). One multiplication is enough there: texts whose features of version
// 1 collide by their tokens' hashes differ in tokens at several places, by hashes that are turned against each other, so at least one of the
// differences is in low bits, and what a secret factor makes of it nobody knows. Secrets never leave the machine, and no result depends on them.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "text/text_source.hpp"

namespace lookalike {

struct Secret {
    static constexpr std::size_t kWords = 4;
    std::uint64_t sizes, last, start, words;

    explicit Secret(const std::array<std::uint64_t, kWords>& random) : sizes(random[0] | 1), last(random[1] | 1), start(random[2]), words(random[3] | 1) {}

    // Of a token of up to eight bytes, from its hash of version 1.
    std::uint64_t of_short(std::uint64_t plain, std::size_t size) const { return scatter(plain ^ sizes >> size); }
    std::uint64_t of_long(const std::uint8_t* p, std::size_t size) const;
    // The same where eight bytes beyond the end can be read.
    std::uint64_t of_long_padded(const std::uint8_t* p, std::size_t size) const;
    // Of a token or any other string of bytes.
    std::uint64_t of(const std::uint8_t* p, std::size_t size) const { return size > 8 ? of_long(p, size) : of_short(token_hash(p, size), size); }

   private:
    std::uint64_t scatter(std::uint64_t x) const {
        x *= last;
        return x ^ x >> 32;
    }
    std::uint64_t absorbed(std::uint64_t hash, std::uint64_t word) const;
    std::uint64_t before_last(const std::uint8_t*& p, std::size_t& size) const;
};

// That of this process: drawn when it is first asked for.
const Secret& process_secret();

// out[i] = the secret hash of the token bytes[begins[i]] … bytes[ends[i] - 1], of which plain[i] is the hash of version 1. Eight bytes beyond the
// last token can be read.
void secret_tokens(const Secret& secret, const std::uint8_t* bytes, const std::size_t* begins, const std::size_t* ends, const std::uint64_t* plain,
                   std::size_t count, std::uint64_t* out);
// The same where all have one size of up to eight bytes.
void secret_tokens(const Secret& secret, std::size_t size, const std::uint64_t* plain, std::size_t count, std::uint64_t* out);

// The same of tokens of these sizes, right for those of up to eight bytes.
void secret_tokens(const Secret& secret, const std::uint32_t* sizes, const std::uint64_t* plain, std::size_t count, std::uint64_t* out);

// out[k] = XOR of rotl(tokens[k + i], 13 * (n - 1 - i)) for k < count; tokens holds count + n - 1 secret hashes.
void secret_shingles(const std::uint64_t* tokens, std::size_t count, unsigned n, std::uint64_t* out);

// Hands the secret shingle hashes of one text after the other to a consumer, in batches: consume(plain, secret, count). `plain` are those that
// fingerprints are made of, by the hashing of the options, where they are wanted, otherwise null.
class SecretShingler {
   public:
    SecretShingler(const TextOptions& options, const Secret& secret, bool with_plain)
        : options_(options), secret_(secret), with_plain_(with_plain), plain_(kRoom + options.ngram), tokens_(kRoom + options.ngram), plain_shingles_(kRoom),
          shingles_(kRoom) {}

    template <class Consume>
    void run(std::span<const std::uint8_t> utf8, Consume&& consume) {
        held_ = 0;
        bool emitted = false;
        // Tokens are hashed where they are shingled: there is room for a stretch beyond a batch.
        const auto take = [&](std::size_t count) {
            held_ += count;
            if (held_ < kBatch + options_.ngram) return;
            drain(consume);
            emitted = true;
        };
        if (!(with_plain_ && options_.hashing.key()) && SimpleTokens::suits(utf8, options_.mode, options_.fold)) {
            simple_.start();
            while (const std::size_t taken = simple_.take(utf8, options_.mode)) {
                std::uint64_t *plain = plain_.data() + held_, *tokens = tokens_.data() + held_;
                simple_.hash(plain);
                secret_tokens(secret_, simple_.sizes(), plain, simple_.count(), tokens);
                for (const SimpleTokens::Long& token : simple_.longs()) {
                    tokens[token.token] = secret_.of_long_padded(simple_.bytes(token), simple_.sizes()[token.token]);
                }
                take(simple_.count());
                utf8 = utf8.subspan(taken);
            }
        }
        if (!utf8.empty()) folder_.run(utf8, options_.mode, options_.fold, false);
        const std::uint8_t* bytes = folder_.bytes();
        if (!utf8.empty())
            folder_.for_each_stretch(
                [&](const TokenEdges& edges) {
                    hash_tokens(bytes, edges.begins, edges.ends, edges.ended, plain_.data() + held_);
                    secret_tokens(secret_, bytes, edges.begins, edges.ends, plain_.data() + held_, edges.ended, tokens_.data() + held_);
                    if (with_plain_ && options_.hashing.key()) options_.hashing.tokens(bytes, edges.begins, edges.ends, edges.ended, plain_.data() + held_);
                    take(edges.ended);
                },
                [&](std::size_t first, std::size_t count, unsigned width) {
                    for (std::size_t done = 0; done < count; done += TokenEdges::kRoom) {
                        const std::size_t size = std::min<std::size_t>(TokenEdges::kRoom, count - done);
                        const std::uint8_t* from = bytes + first + done * width;
                        std::uint64_t* plain = plain_.data() + held_;
                        hash_tokens_of({}, from, width, size, plain);
                        secret_tokens(secret_, width, plain, size, tokens_.data() + held_);
                        if (with_plain_ && options_.hashing.key()) hash_tokens_of(options_.hashing, from, width, size, plain);
                        take(size);
                    }
                });
        if (held_ >= options_.ngram) {
            drain(consume);
        } else if (held_ > 0 && !emitted) {
            shingle(1, static_cast<unsigned>(held_), consume);
        }
    }

   private:
    static constexpr std::size_t kBatch = 1024, kRoom = kBatch + std::max(TokenEdges::kRoom, SimpleTokens::kRoom) + 1;

    template <class Consume>
    void shingle(std::size_t count, unsigned n, Consume&& consume) {
        if (with_plain_) options_.hashing.shingles(plain_.data(), count, n, plain_shingles_.data());
        secret_shingles(tokens_.data(), count, n, shingles_.data());
        consume(with_plain_ ? plain_shingles_.data() : nullptr, shingles_.data(), count);
    }

    template <class Consume>
    void drain(Consume&& consume) {
        const std::size_t count = held_ - options_.ngram + 1, rest = options_.ngram - 1;
        shingle(count, options_.ngram, consume);
        std::copy_n(plain_.data() + count, rest, plain_.data());
        std::copy_n(tokens_.data() + count, rest, tokens_.data());
        held_ = rest;
    }

    TextOptions options_;
    Secret secret_;
    bool with_plain_;
    SimpleTokens simple_;
    Folder folder_;
    std::vector<std::uint64_t> plain_, tokens_, plain_shingles_, shingles_;
    std::size_t held_ = 0;
};

}  // namespace lookalike
