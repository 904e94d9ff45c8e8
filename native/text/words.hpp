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
// out, and with `skip_blank` those that are one white-space character or a line end of two.
HashedWords hash_words(std::span<const std::uint8_t> utf8, std::span<const std::uint32_t> edges, bool fold, bool skip_blank, const TokenHash& hash);

}  // namespace lookalike
