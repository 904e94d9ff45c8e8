// Tokens of texts in scripts without spaces, straight from UTF-8 to words of eight bytes that are hashed side by side.
//
// Most characters of such texts stand for themselves, or become one other character: a table of those below U+10000 tells which, and whether it is a
// token. So no normal form is written, and no edges are looked for. Where anything else comes, a mark or a conjoining letter, the rest is
// left to Folder: it begins with an ideograph, which starts a new token whatever stands before it.
#pragma once

#include <span>
#include <vector>

#include "base/hash.hpp"
#include "text/unicode.hpp"

namespace lookalike {

// out[i] = the hash of the token of so many bytes, of which the word holds the first eight; right for tokens of up to eight.
void hash_token_words(const std::uint64_t* words, const std::uint32_t* sizes, std::size_t count, std::uint64_t* out);

class SimpleTokens {
   public:
    struct Long {  // a token of more than eight bytes
        std::size_t token, first;
    };

    // Whether this is a text to read in this way: folded, of a mode in which an ideograph is a token, and not mostly ASCII.
    static bool suits(std::span<const std::uint8_t> utf8, Mode mode, bool fold);

    void start() { position_ = 0; }

    // Reads some tokens from the front of what is left of a text. Returns how many bytes they take, or 0: the rest is for Folder.
    std::size_t take(std::span<const std::uint8_t> rest, Mode mode);

    std::size_t count() const { return count_; }
    const std::uint64_t* words() const { return words_; }
    const std::uint32_t* sizes() const { return sizes_; }
    const std::uint32_t* starts() const { return starts_; }  // in code points of the text
    const std::uint32_t* ends() const { return ends_; }
    std::uint32_t position() const { return position_; }  // code points taken so far
    std::span<const Long> longs() const { return longs_; }
    const std::uint8_t* bytes(const Long& token) const { return bytes_.data() + token.first; }  // eight readable bytes lie beyond the end

    // The hashes of version 1.
    void hash(std::uint64_t* out) const {
        hash_token_words(words_, sizes_, count_, out);
        for (const Long& token : longs_) out[token.token] = token_hash_padded(bytes(token), sizes_[token.token]);
    }

    static constexpr std::size_t kEnough = 512, kRoom = kEnough + 256;

   private:
    template <bool chars>
    const std::uint8_t* read(const std::uint8_t* p, const std::uint8_t* end, Mode mode);
    template <bool chars>
    void put(unsigned character_class, std::uint32_t word, unsigned size, Mode mode);

    std::uint64_t words_[kRoom];
    std::uint32_t sizes_[kRoom], starts_[kRoom], ends_[kRoom];
    std::size_t count_ = 0;
    std::uint32_t position_ = 0;
    bool after_space_ = true, in_word_ = false;
    std::vector<std::uint8_t> bytes_;  // of words
    std::size_t word_ = 0;             // where the bytes of the last one begin
    std::vector<Long> longs_;
};

}  // namespace lookalike
