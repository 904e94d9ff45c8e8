// The SimHash of one text, in buffers that are used again.
#pragma once

#include <algorithm>
#include <vector>

#include "sketch/simhash.hpp"
#include "text/text_source.hpp"

namespace lookalike {

// `unique`: a feature counts once. `value` has room for two words.
inline void text_simhash(TextShingler& shingler, const TextView& text, unsigned bits, bool unique, std::vector<std::uint64_t>& features, std::uint64_t* value) {
    SimHasher hasher(bits);
    features.clear();
    shingler.run(text, [&](const std::uint64_t* hashes, std::size_t count) {
        unique ? void(features.insert(features.end(), hashes, hashes + count)) : hasher.add(hashes, count);
    });
    std::sort(features.begin(), features.end());
    features.erase(std::unique(features.begin(), features.end()), features.end());
    hasher.add(features.data(), features.size());
    hasher.result(value);
}

}  // namespace lookalike
