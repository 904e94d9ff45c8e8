// Segments of SimHashes: what was built is found exactly as comparing with everything finds it, also after growing and removing; what was
// damaged is refused, or is safe to search.
#include <algorithm>

#include "hamming.hpp"

using namespace lookalike;

namespace {

void exact(fuzz::Feed& feed, unsigned bits) {
    const std::size_t count = fuzz::number(feed, 0, 48), each = bits == 128 ? 2 : 1;
    std::vector<std::uint64_t> words = fuzz::values<std::uint64_t>(feed, count * each);
    fuzz::mask(words, bits);
    const std::vector<std::int64_t> ids = feed.ConsumeBool() ? fuzz::rows(feed, count) : fuzz::values<std::int64_t>(feed, count);
    const HammingSegment built = HammingSegment::build(words, ids, bits);
    const Code query = fuzz::query_of(feed, bits);
    const unsigned k = static_cast<unsigned>(fuzz::number(feed, 0, 16));
    fuzz::search_safely(fuzz::open(bits, fuzz::sections_of(built)), query, k);

    HammingIndex index(bits);
    const std::size_t half = count / 2;
    index.add(std::span(words).first(half * each), std::span(ids).first(half));
    index.add(std::span(words).subspan(half * each), std::span(ids).subspan(half));
    const std::vector<std::int64_t> gone = fuzz::some_of(feed, ids);
    index.remove({gone.begin(), gone.end()});
    std::vector<std::pair<std::uint32_t, std::int64_t>> expected, found;
    for (std::size_t i = 0; i < count; ++i) {
        const unsigned apart = distance(code_at(words, i, bits), query);
        if (apart <= k && std::ranges::find(gone, ids[i]) == gone.end()) expected.emplace_back(apart, ids[i]);
    }
    std::ranges::sort(expected);
    std::vector<lookalike::Hit> scratch;
    std::vector<Match> matches;
    index.search(query, k, scratch, matches);
    for (const Match& match : matches) found.emplace_back(match.distance, match.id);
    REQUIRE(found == expected);
}

void damaged(fuzz::Feed& feed, unsigned bits) {
    const std::size_t count = fuzz::number(feed, 0, 32);
    std::vector<std::uint64_t> words = fuzz::values<std::uint64_t>(feed, count * (bits == 128 ? 2 : 1));
    fuzz::mask(words, bits);
    fuzz::search_damaged(feed, bits, fuzz::sections_of(HammingSegment::build(words, fuzz::values<std::int64_t>(feed, count), bits)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Feed feed(data, size);
    const unsigned bits = 32U << feed.ConsumeIntegral<std::uint8_t>() % 3;
    feed.ConsumeBool() ? exact(feed, bits) : damaged(feed, bits);
    return 0;
}
