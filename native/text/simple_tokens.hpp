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

class SimpleTokens {
   public:
    struct Long {  // a token of more than eight bytes
        std::size_t token, first;
    };

    // Whether this is a text to read in this way: folded, of a mode in which an ideograph is a token, and not mostly ASCII.
    static bool suits(std::span<const std::uint8_t> utf8, Mode mode, bool fold);
    template <class Unit>
    static bool suits(std::span<const Unit> units, Mode mode, bool fold);

    enum Notes : std::uint8_t { kNothingElse = 0, kSizes = 1, kSpans = 2 };  // what is noted of tokens beside their bytes

    void start(Notes notes) { position_ = 0, notes_ = notes; }

    // Reads some tokens from the front of what is left of a text. Returns how many bytes they take, or 0: the rest is for Folder.
    std::size_t take(std::span<const std::uint8_t> rest, Mode mode);
    // The same of units, one per code point, of two bytes or four.
    template <class Unit>
    std::size_t take(std::span<const Unit> rest, Mode mode);

    std::size_t count() const { return count_; }
    const std::uint32_t* sizes() const { return sizes_; }  // after start(kSizes)
    // In code points of the text, after start(kSpans).
    std::uint32_t start(std::size_t token) const { return static_cast<std::uint32_t>(spans_[token]); }
    std::uint32_t end(std::size_t token) const { return static_cast<std::uint32_t>(spans_[token] >> 32); }
    std::uint32_t position() const { return position_; }  // code points taken so far
    std::span<const Long> longs() const { return longs_; }
    const std::uint8_t* bytes(const Long& token) const { return bytes_.data() + token.first; }  // eight readable bytes lie beyond the end

    void hash(std::uint64_t* out) const;  // those of version 1

    static constexpr std::size_t kEnough = 512, kUnits = kEnough + 256, kRoom = kUnits + 256;  // units and tokens at a time

   private:
    template <class Unit>
    std::size_t take_units(const Unit* units, std::size_t count, bool whole, Mode mode);
    template <bool chars, class Unit>
    std::size_t read(const Unit* units, std::size_t count, Mode mode);
    struct Block;
    template <bool chars>
    void keep(Block& block, unsigned first, unsigned last);
    template <bool chars>
    void put(unsigned character_class, std::uint32_t word, unsigned size, Mode mode);

    std::uint64_t words_[kRoom];  // the bytes of each token of up to eight, and its size, as its hash begins with them
    std::uint32_t sizes_[kRoom];
    std::uint64_t spans_[kRoom];
    std::size_t count_ = 0;
    std::uint32_t position_ = 0;
    Notes notes_ = kNothingElse;
    bool after_space_ = true;
    static constexpr std::uint64_t kNowhere = ~0ULL;
    std::uint64_t word_until_ = kNowhere;  // where the word ends that a further character would belong to
    std::vector<std::uint8_t> bytes_;      // of words
    std::size_t word_ = 0;                 // where the bytes of the last one begin
    std::vector<Long> longs_;
    std::uint32_t decoded_[kUnits];
};

}  // namespace lookalike
