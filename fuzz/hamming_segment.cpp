// Segments of SimHashes: what was built is found exactly as comparing with everything finds it, also after growing and removing; what was
// damaged is refused, or is safe to search.
#include <algorithm>
#include <array>

#include "fuzz.hpp"
#include "segments/hamming_index.hpp"

using namespace lookalike;

namespace {

struct Sections {
    std::vector<std::pair<std::string, std::vector<std::uint32_t>>> narrow;
    std::vector<std::pair<std::string, std::vector<std::uint64_t>>> wide;
};

Sections sections_of(const HammingSegment& segment) {
    Sections out;
    segment.columns([&](const std::string& name, auto column) { out.narrow.emplace_back(name, std::vector(column.begin(), column.end())); },
                    [&](const std::string& name, auto column) { out.wide.emplace_back(name, std::vector(column.begin(), column.end())); });
    return out;
}

HammingSegment open(unsigned bits, const Sections& sections) {
    std::map<std::string, Column32> narrow;
    std::map<std::string, Column64> wide;
    for (const auto& [name, column] : sections.narrow) narrow.emplace(name, Column32(std::span<const std::uint32_t>(column)));
    for (const auto& [name, column] : sections.wide) wide.emplace(name, Column64(std::span<const std::uint64_t>(column)));
    return HammingSegment::open(bits, std::move(narrow), std::move(wide));
}

// Large enough for directories; made once, of near and equal codes.
const Sections& large(unsigned bits) {
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
        return sections_of(HammingSegment::build(words, ids, bits));
    };
    static const std::array<Sections, 3> made{make(32), make(64), make(128)};
    return made[bits == 32 ? 0 : bits == 64 ? 1 : 2];
}

void search_safely(const HammingSegment& segment, const Code& query, unsigned k) {
    std::vector<Hit> hits;
    segment.prefetch(query, k);
    segment.search(query, k, hits);
    std::int64_t sum = 0;
    for (const Hit& hit : hits) {
        REQUIRE(hit.entry < segment.size());
        REQUIRE(hit.distance == distance(segment.code(hit.entry), query) && hit.distance <= k);
        const std::size_t first = segment.begin(hit.entry), last = segment.begin(hit.entry + 1);
        REQUIRE(first <= last && last <= segment.ids());
        for (std::size_t place = first; place < last; ++place) sum ^= segment.id(place);
    }
    std::size_t reported = 0;
    segment.pairs(std::min(k, 3U), [&](std::uint32_t left, std::uint32_t right, unsigned found) {
        REQUIRE(left < segment.size() && right < segment.size() && found <= k);
        return ++reported < 64;
    });
    volatile std::int64_t keep = sum;
    (void)keep;
}

Code query_of(fuzz::Feed& feed, unsigned bits) {
    const std::array<std::uint64_t, 2> words{bits == 32 ? fuzz::value<std::uint32_t>(feed) : fuzz::value<std::uint64_t>(feed), fuzz::value<std::uint64_t>(feed)};
    return code_at(words, 0, bits);
}

void exact(fuzz::Feed& feed, unsigned bits) {
    const std::size_t count = fuzz::number(feed, 0, 48), each = bits == 128 ? 2 : 1;
    std::vector<std::uint64_t> words = fuzz::values<std::uint64_t>(feed, count * each);
    if (bits == 32) std::ranges::for_each(words, [](std::uint64_t& word) { word &= 0xFFFFFFFFULL; });
    const std::vector<std::int64_t> ids = feed.ConsumeBool() ? fuzz::rows(feed, count) : fuzz::values<std::int64_t>(feed, count);
    const HammingSegment built = HammingSegment::build(words, ids, bits);
    const Code query = query_of(feed, bits);
    const unsigned k = static_cast<unsigned>(fuzz::number(feed, 0, 16));
    search_safely(open(bits, sections_of(built)), query, k);

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
    Sections sections;
    if (feed.ConsumeIntegral<std::uint8_t>() < 250) {  // most often a small one: large ones are slow
        const std::size_t count = fuzz::number(feed, 0, 32);
        std::vector<std::uint64_t> words = fuzz::values<std::uint64_t>(feed, count * (bits == 128 ? 2 : 1));
        if (bits == 32) std::ranges::for_each(words, [](std::uint64_t& word) { word &= 0xFFFFFFFFULL; });
        sections = sections_of(HammingSegment::build(words, fuzz::values<std::int64_t>(feed, count), bits));
    } else {
        sections = large(bits);
    }
    for (std::size_t left = fuzz::number(feed, 1, 4); left > 0; --left) {
        const std::size_t chosen = fuzz::number(feed, 0, sections.narrow.size() + sections.wide.size() - 1);
        if (chosen < sections.narrow.size()) {
            fuzz::damage(feed, sections.narrow[chosen].second);
        } else {
            fuzz::damage(feed, sections.wide[chosen - sections.narrow.size()].second);
        }
    }
    try {
        search_safely(open(bits, sections), query_of(feed, bits), static_cast<unsigned>(fuzz::number(feed, 0, 16)));
    } catch (const std::invalid_argument&) {
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Feed feed(data, size);
    const unsigned bits = 32U << feed.ConsumeIntegral<std::uint8_t>() % 3;
    feed.ConsumeBool() ? exact(feed, bits) : damaged(feed, bits);
    return 0;
}
