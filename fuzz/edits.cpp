// What became of a text: the segments of each side follow each other without a gap, and what was kept or moved is equal on both sides.
#include <algorithm>

#include "edits/edited_tokens.hpp"
#include "fuzz.hpp"

using namespace lookalike;

namespace {

struct Text {
    std::vector<std::uint64_t> hashes;
    std::vector<std::uint8_t> traits;

    void add(std::uint8_t word, std::uint8_t trait) {
        hashes.push_back(word);
        traits.push_back(trait & (kLine | kSentence | kSeparator | kArticle | kBehindSeparator));
    }
};

// A few words come often, and lines, clauses and list items with them.
void words(fuzz::Feed& feed, Text& text, std::size_t most) {
    for (std::size_t count = fuzz::number(feed, 0, most); count > 0; --count) {
        const auto byte = feed.ConsumeIntegral<std::uint8_t>();
        text.add(byte % 32, byte < 128 ? 0 : feed.ConsumeIntegral<std::uint8_t>());
    }
}

// The text, cut into pieces: some left out, some elsewhere, some with other words between.
Text edited(fuzz::Feed& feed, const Text& text) {
    Text other;
    for (std::size_t pieces = fuzz::number(feed, 0, 8); pieces > 0; --pieces) {
        const std::size_t first = fuzz::number(feed, 0, text.hashes.size()), last = fuzz::number(feed, first, text.hashes.size());
        for (std::size_t i = first; i < last; ++i) other.add(static_cast<std::uint8_t>(text.hashes[i]), text.traits[i]);
        words(feed, other, 12);
    }
    return other;
}

struct Side {
    explicit Side(fuzz::Feed& feed, Text&& text) : hashes(std::move(text.hashes)), traits(std::move(text.traits)) {
        traits.push_back(kLine);
        traits.front() |= kLine;
        std::uint32_t place = 0;
        for (std::size_t i = 0; i < hashes.size(); ++i) {
            const auto byte = feed.ConsumeIntegral<std::uint8_t>();
            starts.push_back(place);
            ends.push_back(place += 1 + byte % 8);  // equal words may be of different lengths before they are folded
            place += byte / 8 % 3;
        }
    }
    TokenSide tokens() const { return {hashes, starts, ends, traits}; }

    std::vector<std::uint64_t> hashes;
    std::vector<std::uint8_t> traits;
    std::vector<std::uint32_t> starts, ends;
};

void check(const std::vector<EditSegment>& segments, const Side& here, const Side& there, EditKind alone) {
    std::uint32_t end = 0, kept_end = 0;
    for (const EditSegment& each : segments) {
        REQUIRE(each.tokens.first == end && each.tokens.last > end && each.tokens.last <= here.hashes.size());
        end = each.tokens.last;
        REQUIRE(each.has_partner == (each.kind != EditKind::deleted && each.kind != EditKind::inserted));
        REQUIRE(each.has_partner || each.kind == alone);
        if (!each.has_partner) continue;
        REQUIRE(each.partner.first < each.partner.last && each.partner.last <= there.hashes.size());
        if (each.kind == EditKind::reworded) continue;
        REQUIRE(each.tokens.last - each.tokens.first == each.partner.last - each.partner.first);
        REQUIRE(std::equal(here.hashes.begin() + each.tokens.first, here.hashes.begin() + each.tokens.last, there.hashes.begin() + each.partner.first));
        if (each.kind == EditKind::kept) {
            REQUIRE(each.partner.first >= kept_end);
            kept_end = each.partner.last;
        }
    }
    REQUIRE(end == here.hashes.size());
}

std::size_t count(const std::vector<EditSegment>& segments, EditKind kind) {
    std::size_t tokens = 0;
    for (const EditSegment& each : segments) tokens += each.kind == kind ? each.tokens.last - each.tokens.first : 0;
    return tokens;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Feed feed(data, size);
    Text before;
    words(feed, before, 200);
    Text after = edited(feed, before);
    const Side a(feed, std::move(before)), b(feed, std::move(after));

    const EditedTokens found(a.tokens(), b.tokens());
    for (const DoubtfulSentence& each : found.doubtful()) {
        REQUIRE(!each.replaced.empty());
        for (const auto& [was, now] : each.replaced) {
            REQUIRE(!was.empty() && was.back() < a.hashes.size() && std::is_sorted(was.begin(), was.end()));
            REQUIRE(!now.empty() && now.back() < b.hashes.size() && std::is_sorted(now.begin(), now.end()));
        }
    }
    std::vector<bool> recognisable(found.doubtful().size());
    for (std::size_t i = 0; i < recognisable.size(); ++i) recognisable[i] = feed.ConsumeBool();
    const auto [left, right] = found.segments(recognisable);
    check(left, a, b, EditKind::deleted);
    check(right, b, a, EditKind::inserted);
    for (const EditKind kind : {EditKind::kept, EditKind::moved}) REQUIRE(count(left, kind) == count(right, kind));
    if (a.hashes == b.hashes) REQUIRE(count(left, EditKind::kept) == a.hashes.size());
    return 0;
}
