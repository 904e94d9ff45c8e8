// The leader rule over given pairs: what is removed points at its nearest kept document, what is kept has none; what is open stays
// undecided or is decided as it is when nothing is open.
#include "fuzz.hpp"
#include "sketch/decide.hpp"

using namespace lookalike;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Feed feed(data, size);
    const double threshold = static_cast<double>(fuzz::number(feed, 1, 10)) / 10;
    const std::size_t count = fuzz::number(feed, 0, 24);
    std::vector<std::int64_t> offsets{0}, open_offsets{0}, nothing(count + 1, 0);
    std::vector<std::uint32_t> earlier, buckets;
    std::vector<double> similarities;
    std::vector<std::uint8_t> leads;
    for (std::uint32_t i = 0; i < count; ++i) {
        for (std::size_t left = i ? fuzz::number(feed, 0, 4) : 0; left > 0; --left) {
            earlier.push_back(static_cast<std::uint32_t>(fuzz::number(feed, 0, i - 1)));
            similarities.push_back(static_cast<double>(fuzz::number(feed, 0, 10)) / 10);
        }
        for (std::size_t left = fuzz::number(feed, 0, 2); left > 0; --left) {
            buckets.push_back(static_cast<std::uint32_t>(fuzz::number(feed, 0, 3)));
            leads.push_back(static_cast<std::uint8_t>(fuzz::number(feed, 0, 1)));
        }
        offsets.push_back(static_cast<std::int64_t>(earlier.size()));
        open_offsets.push_back(static_cast<std::int64_t>(buckets.size()));
    }
    const Edges edges{offsets, earlier, similarities};
    std::vector<Decision> nearest, partly;
    const std::vector<Standing> all = decide(edges, threshold, {nothing, {}, {}, 0, 1}, nearest);
    for (std::size_t i = 0; i < count; ++i) {
        Decision best;
        for (std::int64_t k = offsets[i]; k < offsets[i + 1]; ++k) {
            if (all[earlier[k]] != Standing::kept || similarities[k] < threshold) continue;
            if (similarities[k] > best.similarity || (similarities[k] == best.similarity && earlier[k] < best.leader)) best = {earlier[k], similarities[k]};
        }
        REQUIRE(all[i] == (best.leader == kNobody ? Standing::kept : Standing::removed));
        REQUIRE(nearest[i].leader == best.leader && nearest[i].similarity == best.similarity);
    }
    const OpenBuckets open{open_offsets, buckets, leads, 4, static_cast<std::uint32_t>(fuzz::number(feed, 1, 4))};
    const std::vector<Standing> some = decide(edges, threshold, open, partly);
    for (std::size_t i = 0; i < count; ++i) REQUIRE(some[i] == Standing::undecided || some[i] == all[i]);
    return 0;
}
