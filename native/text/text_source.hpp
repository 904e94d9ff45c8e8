// Documents as texts: one contiguous UTF-8 buffer with offsets, and how to take them apart.
#pragma once

#include <array>
#include <span>

#include "base/hash.hpp"
#include "text/shingle.hpp"
#include "text/simple_tokens.hpp"
#include "text/unicode.hpp"

namespace lookalike {

struct TextOptions {
    Mode mode;
    bool fold;
    unsigned ngram;
    Hashing hashing;
};

// Hashes of the single ASCII characters: half of a character tokenizer's work.
inline const std::array<std::uint64_t, 128> kAsciiHashes = [] {
    std::array<std::uint64_t, 128> hashes{};
    for (unsigned c = 0; c < 128; ++c) {
        const std::uint8_t byte = static_cast<std::uint8_t>(c);
        hashes[c] = token_hash(&byte, 1);
    }
    return hashes;
}();

// Hashes of tokens of one or three bytes that lie side by side; a fourth byte must be readable.
inline void hash_tokens_of(const Hashing& hashing, const std::uint8_t* first, unsigned width, std::size_t count, std::uint64_t* out) {
    if (hashing.key()) {
        keyed_tokens(*hashing.key(), first, width, count, out);
    } else if (width == 1) {
        for (std::size_t i = 0; i < count; ++i) out[i] = kAsciiHashes[first[i]];
    } else {
        for (std::size_t i = 0; i < count; ++i) out[i] = token_hash_of_three(first + 3 * i);
    }
}

// Hands the shingle hashes of one text after the other to a consumer, in batches.
class TextShingler {
   public:
    explicit TextShingler(const TextOptions& options) : options_(options), shingler_(options.ngram, options.hashing) {}

    template <class Consume>
    void run(std::span<const std::uint8_t> utf8, Consume&& consume) {
        run(utf8, consume, [](std::uint64_t) {});
    }

    // The same, with a look at the token hashes on their way.
    template <class Consume, class Look>
    void run(std::span<const std::uint8_t> utf8, Consume&& consume, Look&& look) {
        shingler_.start();
        const auto seen = [&](std::uint64_t hash) {
            look(hash);
            return hash;
        };
        if (!options_.hashing.key() && SimpleTokens::suits(utf8, options_.mode, options_.fold)) {
            simple_.start();
            while (const std::size_t taken = simple_.take(utf8, options_.mode)) {
                std::uint64_t hashes[SimpleTokens::kRoom];
                simple_.hash(hashes);
                shingler_.add_all(simple_.count(), [&](std::size_t i) { return seen(hashes[i]); }, consume);
                utf8 = utf8.subspan(taken);
            }
            if (utf8.empty()) return shingler_.finish(consume);
        }
        folder_.run(utf8, options_.mode, options_.fold, false);
        const std::uint8_t* bytes = folder_.bytes();
        folder_.for_each_stretch(
            [&](const TokenEdges& edges) {
                std::uint64_t hashes[TokenEdges::kRoom];
                options_.hashing.tokens(bytes, edges.begins, edges.ends, edges.ended, hashes);
                shingler_.add_all(edges.ended, [&](std::size_t i) { return seen(hashes[i]); }, consume);
            },
            [&](std::size_t first, std::size_t count, unsigned width) {
                if (options_.hashing.key()) {
                    for (std::size_t done = 0; done < count; done += TokenEdges::kRoom) {
                        std::uint64_t hashes[TokenEdges::kRoom];
                        const std::size_t here = std::min<std::size_t>(TokenEdges::kRoom, count - done);
                        hash_tokens_of(options_.hashing, bytes + first + done * width, width, here, hashes);
                        shingler_.add_all(here, [&](std::size_t i) { return seen(hashes[i]); }, consume);
                    }
                } else if (width == 1) {
                    shingler_.add_all(count, [&](std::size_t i) { return seen(kAsciiHashes[bytes[first + i]]); }, consume);
                } else {
                    shingler_.add_all(count, [&](std::size_t i) { return seen(token_hash_of_three(bytes + first + 3 * i)); }, consume);
                }
            });
        shingler_.finish(consume);
    }

   private:
    TextOptions options_;
    SimpleTokens simple_;
    Folder folder_;
    Shingler shingler_;
};

}  // namespace lookalike
