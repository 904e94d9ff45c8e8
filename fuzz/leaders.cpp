// Who is kept: a removed document points at a kept one that is as similar as it says, and nothing is removed without one.
#include <algorithm>

#include "fuzz.hpp"
#include "sketch/leaders.hpp"

using namespace lookalike;

namespace {

struct Documents {
    std::vector<std::vector<std::uint64_t>> features;
    std::vector<TokenDigest> digests;
};

// Where a row begins says which document it is.
class Reader : public RowReader {
   public:
    explicit Reader(const Documents& documents) : documents_(documents) {}
    TokenDigest read(const RowFile&, std::uint64_t begin, std::size_t, std::vector<std::uint64_t>& features) override {
        features = documents_.features[begin];
        return documents_.digests[begin];
    }

   private:
    const Documents& documents_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Feed feed(data, size);
    const unsigned bands = static_cast<unsigned>(fuzz::number(feed, 0, 4));
    const double threshold = static_cast<double>(fuzz::number(feed, 1, 100)) / 100;
    Documents all_documents;
    auto& [documents, digests] = all_documents;
    Leaders leaders(bands, threshold, static_cast<std::uint32_t>(fuzz::number(feed, 1, 4)), Measure::jaccard,
                    [&] { return std::make_unique<Reader>(all_documents); });
    const std::uint32_t file = leaders.number(std::make_shared<RowFile>());
    std::vector<bool> kept;
    while (documents.size() < 48 && feed.remaining_bytes() > 0) {
        // A few at a time: what is offered together is decided together.
        const std::size_t count = fuzz::number(feed, 1, 24), first = documents.size();
        std::vector<std::uint64_t> all, words, keys;
        std::vector<std::int64_t> offsets{0};
        for (std::size_t i = 0; i < count; ++i) {
            std::vector<std::uint64_t> features = fuzz::values<std::uint64_t>(feed, fuzz::number(feed, 0, 10));
            std::ranges::sort(features);
            features.erase(std::unique(features.begin(), features.end()), features.end());
            // Two chains with a salt: the fuzzer finds collisions of a simpler one, mix(0) being 0.
            TokenDigest digest{features.size() + kGolden, ~features.size()};
            for (const std::uint64_t feature : features) digest = {mix(digest.low + feature) + kGolden, mix(digest.high ^ feature * kGolden) + kGolden};
            digests.push_back(features.empty() ? kNothing : digest);
            words.insert(words.end(), {digests.back().low, digests.back().high});
            const std::vector<std::uint64_t> own = fuzz::values<std::uint64_t>(feed, bands);
            keys.insert(keys.end(), own.begin(), own.end());
            all.insert(all.end(), features.begin(), features.end());
            offsets.push_back(static_cast<std::int64_t>(all.size()));
            documents.push_back(std::move(features));
        }
        // Held; with rows of which they can be made again; or not even at hand.
        const std::size_t way = fuzz::number(feed, 0, 2);
        std::vector<RowPlace> rows;
        for (std::size_t i = first; i < documents.size(); ++i) rows.push_back({file, 1, i});
        if (way == 2) all.clear(), offsets.assign(offsets.size(), 0);
        std::vector<Decision> decisions;
        leaders.offer({all, offsets, words, keys.data(), bands, way == 0 ? nullptr : rows.data()}, 1, decisions);
        REQUIRE(decisions.size() == count);
        for (std::size_t i = 0; i < count; ++i) {
            const Decision& decision = decisions[i];
            const std::size_t document = first + i;
            kept.push_back(decision.leader == kNobody);
            if (kept.back()) continue;
            REQUIRE(decision.leader < document && kept[decision.leader] && decision.similarity >= threshold && decision.similarity <= 1);
            if (digests[document] == digests[decision.leader]) continue;
            std::vector<std::uint64_t> common;
            std::ranges::set_intersection(documents[document], documents[decision.leader], std::back_inserter(common));
            const double united = static_cast<double>(documents[document].size() + documents[decision.leader].size() - common.size());
            // A copy is decided as its original was.
            REQUIRE(decision.similarity == static_cast<double>(common.size()) / united);
        }
    }
    REQUIRE(leaders.documents() == documents.size() && leaders.kept() == static_cast<std::size_t>(std::ranges::count(kept, true)));
    return 0;
}
