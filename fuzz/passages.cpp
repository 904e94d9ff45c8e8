// Passages: units of any bytes have as many spans as hashes, what is cut has a whole copy before it, and what a document holds of a reference is there.
#include <algorithm>
#include <numeric>
#include <set>

#include "fuzz.hpp"
#include "passages/containment.hpp"
#include "passages/repeats.hpp"
#include "passages/units.hpp"

using namespace lookalike;

namespace {

const Secret kSecret({0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89});

struct Lists {
    std::vector<std::uint64_t> values;
    std::vector<std::int64_t> offsets{0};
};

Lists lists(fuzz::Feed& feed, std::size_t most) {
    Lists out;
    for (std::size_t left = fuzz::number(feed, 0, 6); left > 0; --left) {
        for (std::size_t i = fuzz::number(feed, 0, most); i > 0; --i) out.values.push_back(fuzz::value<std::uint64_t>(feed));
        out.offsets.push_back(static_cast<std::int64_t>(out.values.size()));
    }
    return out;
}

void check_units(fuzz::Feed& feed) {
    const std::string text = feed.ConsumeRandomLengthString(200);
    const std::span bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    const Mode modes[] = {Mode::automatic, Mode::words, Mode::chars, Mode::pieces};
    UnitReader reader({modes[fuzz::number(feed, 0, 3)], feed.ConsumeBool(), feed.ConsumeBool()}, kSecret);
    std::vector<std::uint64_t> hashes;
    std::vector<std::uint32_t> begins, ends;
    reader.append_hashes(bytes, hashes);
    reader.find_spans(bytes, begins, ends);
    REQUIRE(hashes.size() == begins.size() && begins.size() == ends.size());
    for (std::size_t i = 0; i < begins.size(); ++i) REQUIRE(begins[i] <= ends[i] && ends[i] <= text.size() && (i == 0 || begins[i - 1] <= begins[i]));
}

void check_repeats(fuzz::Feed& feed) {
    const std::size_t length = fuzz::number(feed, 1, 6), memory = fuzz::number(feed, 0, 4096);
    const bool within = feed.ConsumeBool();
    const Lists corpus = lists(feed, 40);
    RepeatFinder finder(corpus.values, corpus.offsets, length, within, static_cast<unsigned>(fuzz::number(feed, 1, 2)), memory, kSecret);
    finder.mark(0, finder.documents());
    finder.find(0, finder.documents());
    for (std::size_t slice = 0; slice < finder.slices(); ++slice) finder.collect(slice);
    std::vector<std::int64_t> order(finder.documents());
    std::iota(order.begin(), order.end(), 0);
    const std::vector<Passage> found = finder.decide(order);
    std::vector<bool> cut(corpus.values.size());
    const auto place = [&](std::int64_t document, std::int64_t unit) {
        return static_cast<std::size_t>(corpus.offsets[static_cast<std::size_t>(document)] + unit);
    };
    for (const Passage& each : found) {
        for (std::int64_t i = 0; i < each.length; ++i) cut[place(each.document, each.first + i)] = true;
    }
    for (const Passage& each : found) {
        REQUIRE(each.length >= static_cast<std::int64_t>(length));
        REQUIRE(each.source < each.document || (within && each.source == each.document && each.source_first + static_cast<std::int64_t>(length) <= each.first));
        REQUIRE(place(each.source, each.source_first + each.length) <= place(each.source + 1, 0));
        for (std::int64_t i = 0; i < each.length; ++i) {
            const std::size_t copy = place(each.source, each.source_first + i);
            REQUIRE(!cut[copy] && corpus.values[copy] == corpus.values[place(each.document, each.first + i)]);
        }
    }
    // Of windows that stay whole no two are equal in different documents.
    std::set<std::pair<std::vector<std::uint64_t>, std::size_t>> seen;
    std::set<std::vector<std::uint64_t>> contents;
    for (std::size_t document = 0; document < finder.documents(); ++document) {
        for (std::size_t first = place(static_cast<std::int64_t>(document), 0); first + length <= place(static_cast<std::int64_t>(document) + 1, 0); ++first) {
            if (std::any_of(cut.begin() + static_cast<std::ptrdiff_t>(first), cut.begin() + static_cast<std::ptrdiff_t>(first + length),
                            [](bool is) { return is; })) {
                continue;
            }
            const auto begin = corpus.values.begin() + static_cast<std::ptrdiff_t>(first);
            std::vector<std::uint64_t> window(begin, begin + static_cast<std::ptrdiff_t>(length));
            REQUIRE(!contents.contains(window) || seen.contains({window, document}));
            seen.insert({window, document});
            contents.insert(std::move(window));
        }
    }
}

void check_references(fuzz::Feed& feed) {
    const std::size_t n = fuzz::number(feed, 1, 5), least = fuzz::number(feed, 1, n);
    const Lists references = lists(feed, 12), corpus = lists(feed, 30);
    const References table(references.values, references.offsets, n, least, feed.ConsumeBool(), kSecret);
    const double share = static_cast<double>(fuzz::number(feed, 1, 10)) / 10;
    for (const Held& each : table.find(corpus.values, corpus.offsets, share)) {
        REQUIRE(each.found > 0 && each.found <= table.size(each.reference) && each.found <= table.most(each.reference));
        REQUIRE(static_cast<double>(each.found) / table.size(each.reference) >= share);
        const auto document = static_cast<std::size_t>(corpus.offsets[each.document + 1] - corpus.offsets[each.document]);
        const auto reference = static_cast<std::size_t>(references.offsets[each.reference + 1] - references.offsets[each.reference]);
        REQUIRE(reference >= least && each.first < each.last && each.last <= document && each.reference_first < each.reference_last &&
                each.reference_last <= reference);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Feed feed(data, size);
    check_units(feed);
    check_repeats(feed);
    check_references(feed);
    return 0;
}
