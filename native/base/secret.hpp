// Hashes that nobody can aim at: what is called verified is decided by them.
//
// The hash of recipe version 1 is known to everybody, and a chain of bijections: whoever wants to finds two texts with equal hashes. So
// where two texts are said to be equal, or to share features, the hashes are made with a secret, which is drawn anew for every process or
// run. Texts are written without knowing it, and what came of it is not told, so texts that differ have different hashes but for chance.
//
// A token by itself has the hash SipHash-1-3, keyed with two words of the secret; whatever is put together from such hashes is safe too.
//
// Features, of which dedupe makes millions, are put together from words x instead, which tell tokens apart and no more:
//
//     |t| <= 8:    x = h ^ sizes >> |t|, with h the hash of version 1, a bijection of the tokens of one such size
//     |t| <= 64:   x = longs[0] + |t| * longs[1] + the sum of w[i] * longs[2 + i], with w the 4-byte words of t, the last one padded with zeros
//     otherwise    x = SipHash-1-3 of t
//
// and the feature of the tokens t[0] … t[n - 1] is the sum of (low half of x[i] + low half of k) * (high half of x[i] + high half of k), each sum of
// halves modulo 2^32, all modulo 2^64, with a word k = positions[n - 1 - i] of its own for each place. Sizes, longs and positions are drawn from the
// rest of the secret, by SipHash-1-3 of the numbers 0, 1, 2, …
//
// How strong that is. Let two texts be given, and two of their features, of tokens that differ at some place. Then for a random secret
//  - the words x at that place are equal with a probability of at most 2^-33: tokens of one size of up to eight bytes never have the same; of two sizes a < b <= 8
//    they need h ^ h' = sizes >> a ^ sizes >> b, of which 64 - a bits are random; where longer ones differ, a random word is multiplied by a
//    number that is not 0 and below 2^32, and that has one given value modulo 2^64 with a probability of at most 2^-33;
//  - where they differ, the features are equal with a probability of at most 2^-32: the sum is NH, the hash of UMAC (Black, Halevi,
//    Krawczyk, Krovetz, Rogaway 1999, theorem 4.2: for every difference of two sums), with 32-bit words.
// So one chosen pair of features collides with a probability below 2^-31. A forged text needs that for most of its features at once, and nobody
// can try again with the same secret. Secrets never leave the machine, and no result depends on them.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "base/keyed_hash.hpp"
#include "text/text_source.hpp"

namespace lookalike {

struct Secret {
    static constexpr std::size_t kWords = 4, kLongest = 64, kPlaces = 64;  // of the key; bytes of a token; tokens of a feature
    std::array<std::uint64_t, 2> tokens;
    std::uint64_t sizes;
    std::array<std::uint64_t, 2 + kLongest / 4> longs;
    std::array<std::uint64_t, kPlaces> positions;

    explicit Secret(const std::array<std::uint64_t, kWords>& random);

    // Of a token or any other string of bytes, by itself.
    std::uint64_t of(const std::uint8_t* p, std::size_t size) const { return siphash(tokens, p, size); }

    // The word x of a token: of up to eight bytes, from its hash of version 1; of more, where eight bytes beyond the end can be read.
    std::uint64_t word_of_short(std::uint64_t plain, std::size_t size) const { return plain ^ sizes >> size; }
    std::uint64_t word_of_long(const std::uint8_t* p, std::size_t size) const;
};

// That of this process: drawn when it is first asked for.
const Secret& process_secret();

// plain[i] = the hash of version 1 of the token bytes[begins[i]] … bytes[ends[i] - 1], and words[i] its word x. Eight bytes beyond the last token can
// be read; there are at most TokenEdges::kRoom tokens.
void hash_tokens_twice(const Secret& secret, const std::uint8_t* bytes, const TokenEdges& edges, std::uint64_t* plain, std::uint64_t* words);

// words[i] = the word x of a token of so many bytes, of which plain[i] is the hash of version 1; right for tokens of up to eight bytes.
void secret_words(const Secret& secret, const std::uint32_t* sizes, const std::uint64_t* plain, std::size_t count, std::uint64_t* words);
// The same where all have one size of up to eight bytes.
void secret_words(const Secret& secret, std::size_t size, const std::uint64_t* plain, std::size_t count, std::uint64_t* words);

// out[k] = the feature of the tokens with the words words[k] … words[k + n - 1], for k < count.
void secret_shingles(const Secret& secret, const std::uint64_t* words, std::size_t count, unsigned n, std::uint64_t* out);

// Hands the secret shingle hashes of one text after the other to a consumer, in batches: consume(plain, secret, count). `plain` are those that
// fingerprints are made of, by the hashing of the options, where they are wanted, otherwise null.
class SecretShingler {
   public:
    SecretShingler(const TextOptions& options, const Secret& secret, bool with_plain)
        : options_(options), secret_(secret), with_plain_(with_plain), plain_(kRoom + options.ngram), words_(kRoom + options.ngram), plain_shingles_(kRoom),
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
            simple_.start(SimpleTokens::kSizes);
            while (const std::size_t taken = simple_.take(utf8, options_.mode)) {
                std::uint64_t *plain = plain_.data() + held_, *words = words_.data() + held_;
                simple_.hash(plain);
                secret_words(secret_, simple_.sizes(), plain, simple_.count(), words);
                for (const SimpleTokens::Long& token : simple_.longs()) {
                    words[token.token] = secret_.word_of_long(simple_.bytes(token), simple_.sizes()[token.token]);
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
                    hash_tokens_twice(secret_, bytes, edges, plain_.data() + held_, words_.data() + held_);
                    if (with_plain_ && options_.hashing.key()) options_.hashing.tokens(bytes, edges.begins, edges.ends, edges.ended, plain_.data() + held_);
                    take(edges.ended);
                },
                [&](std::size_t first, std::size_t count, unsigned width) {
                    for (std::size_t done = 0; done < count; done += TokenEdges::kRoom) {
                        const std::size_t size = std::min<std::size_t>(TokenEdges::kRoom, count - done);
                        const std::uint8_t* from = bytes + first + done * width;
                        std::uint64_t* plain = plain_.data() + held_;
                        hash_tokens_of({}, from, width, size, plain);
                        secret_words(secret_, width, plain, size, words_.data() + held_);
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
        secret_shingles(secret_, words_.data(), count, n, shingles_.data());
        consume(with_plain_ ? plain_shingles_.data() : nullptr, shingles_.data(), count);
    }

    template <class Consume>
    void drain(Consume&& consume) {
        const std::size_t count = held_ - options_.ngram + 1, rest = options_.ngram - 1;
        shingle(count, options_.ngram, consume);
        std::copy_n(plain_.data() + count, rest, plain_.data());
        std::copy_n(words_.data() + count, rest, words_.data());
        held_ = rest;
    }

    TextOptions options_;
    Secret secret_;
    bool with_plain_;
    SimpleTokens simple_;
    Folder folder_;
    std::vector<std::uint64_t> plain_, words_, plain_shingles_, shingles_;
    std::size_t held_ = 0;
};

}  // namespace lookalike
