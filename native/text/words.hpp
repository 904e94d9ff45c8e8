// The words of a text that somebody else has cut: each is normalised by itself and hashed.
#pragma once

#include <span>
#include <variant>
#include <vector>

#include "base/secret.hpp"

namespace lookalike {

using TokenHash = std::variant<Hashing, Secret>;  // what fingerprints are made of, or what decisions compare

struct HashedWords {
    std::vector<std::uint64_t> hashes;
    std::vector<std::uint32_t> starts, ends;  // in code points
};

// How many code points a text has, as Python counts them: bytes that begin one.
std::size_t count_code_points(std::span<const std::uint8_t> utf8);

// `edges`: where each word begins and ends, in code points, in ascending order and within the text. Words that fold to nothing are left
// out.
HashedWords hash_words(std::span<const std::uint8_t> utf8, std::span<const std::uint32_t> edges, bool fold, const TokenHash& hash);

// Hashes the words that rjieba cuts texts into: what jieba takes apart is taken apart, white space and what folds to nothing is left out.
class CutHasher {
   public:
    CutHasher(bool fold, const TokenHash& hash)
        : fold_(fold), secret_(std::get_if<Secret>(&hash)), hashing_(std::get_if<Hashing>(&hash)), plain_(hashing_ && !hashing_->key()) {}

    // `lengths`: of each piece of a text, in code points; together not more than the text has. Appends to `hashes`.
    void run(std::span<const std::uint8_t> utf8, std::span<const std::uint32_t> lengths, std::vector<std::uint64_t>& hashes);

   private:
    void add_ascii(std::span<const std::uint8_t> piece, std::vector<std::uint64_t>& hashes);
    void add(std::span<const std::uint8_t> word, std::vector<std::uint64_t>& hashes);
    std::uint64_t hash(std::span<const std::uint8_t> normal) const;

    bool fold_;
    const Secret* secret_;  // one of the two
    const Hashing* hashing_;
    bool plain_;  // the hashes are those of version 1
    Folder folder_;
};

// Whether a text may hold a character that is one of a word for rjieba but not for jieba (text/segment.py names them). Never wrongly false.
bool may_be_outside_jieba(std::span<const std::uint8_t> utf8);

}  // namespace lookalike
