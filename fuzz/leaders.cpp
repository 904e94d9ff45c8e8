// Who is kept: a removed document points at a kept one that is as similar as it says, and nothing is removed without one.
#include <algorithm>

#include "fuzz.hpp"
#include "sketch/leaders.hpp"

using namespace lookalike;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Feed feed(data, size);
    const unsigned bands = static_cast<unsigned>(fuzz::number(feed, 0, 4));
    const double threshold = static_cast<double>(fuzz::number(feed, 1, 100)) / 100;
    Leaders leaders(bands, threshold, static_cast<std::uint32_t>(fuzz::number(feed, 1, 4)));
    std::vector<std::vector<std::uint64_t>> documents;
    std::vector<TokenDigest> digests;
    std::vector<bool> kept;
    for (std::size_t left = fuzz::number(feed, 0, 24); left > 0; --left) {
        std::vector<std::uint64_t> features = fuzz::values<std::uint64_t>(feed, fuzz::number(feed, 0, 10));
        std::ranges::sort(features);
        features.erase(std::unique(features.begin(), features.end()), features.end());
        // Two chains with a salt: the fuzzer finds collisions of a simpler one, mix(0) being 0.
        TokenDigest digest{features.size() + kGolden, ~features.size()};
        for (const std::uint64_t feature : features) digest = {mix(digest.low + feature) + kGolden, mix(digest.high ^ feature * kGolden) + kGolden};
        digests.push_back(features.empty() ? kNothing : digest);
        const std::vector<std::uint64_t> keys = fuzz::values<std::uint64_t>(feed, bands + 1);
        leaders.prefetch(digests.back(), keys.data());
        const Decision decision = leaders.offer(features, digests.back(), keys.data());
        kept.push_back(decision.leader == kNobody);
        documents.push_back(features);
        if (kept.back()) continue;
        REQUIRE(decision.leader < documents.size() - 1 && kept[decision.leader] && decision.similarity >= threshold && decision.similarity <= 1);
        if (digests.back() == digests[decision.leader]) continue;
        std::vector<std::uint64_t> common;
        std::ranges::set_intersection(features, documents[decision.leader], std::back_inserter(common));
        const double all = static_cast<double>(features.size() + documents[decision.leader].size() - common.size());
        // A copy is decided as its original was.
        REQUIRE(decision.similarity == static_cast<double>(common.size()) / all);
    }
    REQUIRE(leaders.documents() == documents.size() && leaders.kept() == static_cast<std::size_t>(std::ranges::count(kept, true)));
    return 0;
}
