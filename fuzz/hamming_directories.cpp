// Segments of SimHashes that are large enough for directories: damaged ones are refused, or are safe to search. Apart from the small ones,
// because one of these takes as long as a hundred of those.
#include <algorithm>

#include "hamming.hpp"

using namespace lookalike;

namespace {

// Made once, of near and equal codes.
const fuzz::Sections& large(unsigned bits) {
    const auto make = [](unsigned bits) {
        constexpr std::size_t kCount = 4300;
        std::uint64_t state = bits;
        std::vector<std::uint64_t> words;
        std::vector<std::int64_t> ids;
        for (std::size_t i = 0; i < kCount; ++i) {
            for (unsigned w = 0; w < (bits == 128 ? 2U : 1U); ++w) {
                state = state * 6364136223846793005ULL + 1442695040888963407ULL;
                const std::uint64_t word = i % 3 && !words.empty() ? words[words.size() - (bits == 128 ? 2 : 1)] ^ 1ULL << (state >> 59) : state ^ state >> 29;
                words.push_back(bits == 32 ? word & 0xFFFFFFFFULL : word);
            }
            ids.push_back(static_cast<std::int64_t>(i));
        }
        return fuzz::sections_of(HammingSegment::build(words, ids, bits));
    };
    static const std::array<fuzz::Sections, 3> made{make(32), make(64), make(128)};
    return made[bits == 32 ? 0 : bits == 64 ? 1 : 2];
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Feed feed(data, size);
    const unsigned bits = 32U << feed.ConsumeIntegral<std::uint8_t>() % 3;
    fuzz::search_damaged(feed, bits, large(bits));
    return 0;
}
