// Sketches of features: in whatever portions and order they come, and as a slow version makes them.
#include <algorithm>
#include <set>

#include "fuzz.hpp"
#include "segments/bands.hpp"
#include "sketch/minhash.hpp"
#include "sketch/overlap.hpp"
#include "sketch/simhash.hpp"
#include "sketch/winnow.hpp"
#include "text/documents.hpp"

using namespace lookalike;

namespace {

std::vector<std::uint32_t> minhash(std::span<const std::uint64_t> features, std::size_t size, std::size_t portion) {
    MinHasher hasher(size);
    std::vector<std::uint32_t> bins(size);
    hasher.start(bins.data());
    for (std::size_t i = 0; i < features.size(); i += portion) hasher.add(features.data() + i, std::min(portion, features.size() - i));
    hasher.finish();
    return bins;
}

// Round by round, as docs/format.md defines it.
std::vector<std::uint32_t> slow_minhash(const std::vector<std::uint64_t>& features, std::size_t size) {
    std::vector<std::uint32_t> bins(size, kEmptyBin);
    const unsigned value_bits = 31 - static_cast<unsigned>(std::bit_width(2 * size - 1));
    for (std::size_t round = 0; !features.empty() && round < 2 * size && std::ranges::find(bins, kEmptyBin) != bins.end(); ++round) {
        for (const std::uint64_t feature : features) {
            const std::uint64_t hash = round == 0 ? feature : mix(feature + round * kGolden);
            const std::size_t bin = round < size ? static_cast<std::size_t>((hash >> 32) * size >> 32) : round - size;
            const auto low = static_cast<std::uint32_t>(hash);
            const std::uint32_t later = 0x80000000U | static_cast<std::uint32_t>(round) << value_bits | low >> (32 - value_bits);
            bins[bin] = std::min(bins[bin], round == 0 ? low >> 1 : later);
        }
    }
    return bins;
}

void check_minhash(fuzz::Feed& feed, std::vector<std::uint64_t> features) {
    constexpr std::size_t kUsualSizes[] = {16, 32, 64, 128, 256, 512};  // some processors have a way of their own for these
    const std::size_t usual = fuzz::number(feed, 0, 11), given = fuzz::number(feed, 1, 80), portion = fuzz::number(feed, 1, 20);
    const std::size_t size = usual < std::size(kUsualSizes) ? kUsualSizes[usual] : given;
    const std::vector<std::uint32_t> whole = minhash(features, size, features.size() + 1);
    REQUIRE(whole == slow_minhash(features, size));
    const bool empty = std::ranges::all_of(whole, [](std::uint32_t bin) { return bin == kEmptyBin; });
    REQUIRE(features.empty() ? empty : !empty);
    REQUIRE(minhash(features, size, portion) == whole);
    std::ranges::reverse(features);
    features.insert(features.end(), features.begin(), features.begin() + static_cast<std::ptrdiff_t>(features.size() / 2));
    REQUIRE(minhash(features, size, portion) == whole);
    const std::size_t bands = fuzz::number(feed, 1, size), rows = size / bands;
    std::vector<std::uint32_t> keys(bands);
    band_keys(whole, size, bands, rows, keys.data());
    for (const std::uint32_t key : keys) REQUIRE((key == 0) == features.empty());
}

void check_simhash(std::span<const std::uint64_t> features, std::size_t portion) {
    for (const unsigned bits : {32U, 64U, 128U}) {
        SimHasher whole(bits), parts(bits);
        whole.add(features.data(), features.size());
        for (std::size_t i = 0; i < features.size(); i += portion) parts.add(features.data() + i, std::min(portion, features.size() - i));
        std::uint64_t expected[2] = {}, found[2] = {};
        whole.result(expected);
        parts.result(found);
        REQUIRE(expected[0] == found[0] && expected[1] == found[1]);
        if (bits != 64) continue;
        for (unsigned bit = 0; bit < 64; ++bit) {
            const auto set = static_cast<std::size_t>(std::ranges::count_if(features, [&](std::uint64_t feature) { return feature >> bit & 1; }));
            REQUIRE((expected[0] >> bit & 1) == (2 * set > features.size()));
        }
    }
}

void check_winnow(fuzz::Feed& feed, std::span<const std::uint64_t> shingles) {
    const std::size_t window = feed.ConsumeBool() ? 4 : fuzz::number(feed, 1, 40);  // windows of four have code of their own
    std::vector<std::uint32_t> kept, expected;
    winnow(shingles, window, kept);
    const std::size_t each = std::min(window, shingles.size());
    for (std::size_t first = 0; each && first + each <= shingles.size(); ++first) {
        std::size_t best = first;
        for (std::size_t i = first; i < first + each; ++i) best = shingles[i] <= shingles[best] ? i : best;
        if (expected.empty() || expected.back() != best) expected.push_back(static_cast<std::uint32_t>(best));
    }
    REQUIRE(kept == expected);

    std::vector<std::uint32_t> places(shingles.size()), later(shingles.size());
    for (std::size_t i = 0; i < places.size(); ++i) later[i] = 7 * (places[i] = static_cast<std::uint32_t>(3 * i)) + 1;
    const std::size_t room = shingles.size() + KeptSpans::kAhead;
    std::vector<std::uint64_t> values(room);
    std::vector<std::uint32_t> starts(room), ends(room);
    SpanWinnower winnower(window);
    for (int again = 0; again < 2; ++again) {
        if (shingles.empty()) break;
        REQUIRE(winnower.run(shingles, places.data(), later.data(), {values.data(), starts.data(), ends.data()}) == expected.size());
        for (std::size_t k = 0; k < expected.size(); ++k)
            REQUIRE(values[k] == shingles[expected[k]] && starts[k] == places[expected[k]] && ends[k] == later[expected[k]]);
    }
}

void check_sets(std::vector<std::uint64_t> left, std::vector<std::uint64_t> right) {
    FeatureSet set;
    std::vector<std::uint64_t> distinct;
    for (const std::uint64_t feature : left) {
        if (std::ranges::find(distinct, feature) == distinct.end()) distinct.push_back(feature);
    }
    std::vector<std::uint64_t> made = left;
    made.resize(set.make_distinct(made.data(), made.size()));
    REQUIRE(made == distinct);
    std::ranges::sort(left);
    std::ranges::sort(right);
    std::vector<std::uint64_t> common;
    std::ranges::set_intersection(left, right, std::back_inserter(common));
    REQUIRE(intersection_size(left, right) == common.size());
}

void check_document(std::span<const std::uint64_t> features, std::size_t portion) {
    constexpr Banding kBanding{32, 8, 4};
    constexpr std::uint64_t kBefore[] = {1, 2, 3};
    PagedList<std::uint64_t> list;
    list.add(kBefore, 3);
    std::vector<std::uint64_t> expected(features.begin(), features.end());
    FeatureSet set;
    expected.resize(set.make_distinct(expected.data(), expected.size()));
    TokenDigest digest, digest_at_once;
    std::uint64_t keys[8], keys_at_once[8];
    DocumentSketcher sketcher(kBanding, list);
    sketcher.start();
    for (std::size_t i = 0; i < features.size(); i += portion) sketcher.add(features.data() + i, features.data() + i, std::min(portion, features.size() - i));
    REQUIRE(sketcher.finish(digest, keys) == expected.size());
    REQUIRE(std::ranges::equal(std::span(list.data(), list.size()).subspan(3), expected));
    sketcher.start();
    sketcher.add(features.data(), features.data(), features.size());
    REQUIRE(sketcher.finish(digest_at_once, keys_at_once) == expected.size());
    REQUIRE(digest == digest_at_once && std::ranges::equal(keys, keys_at_once));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Feed feed(data, size);
    const std::size_t portion = fuzz::number(feed, 1, 30);
    const std::vector<std::uint64_t> left = fuzz::values<std::uint64_t>(feed, fuzz::number(feed, 0, 120));
    const std::vector<std::uint64_t> right = fuzz::values<std::uint64_t>(feed, fuzz::number(feed, 0, 40));
    check_minhash(feed, left);
    check_simhash(left, portion);
    check_winnow(feed, left);
    check_sets(left, right);
    check_document(left, portion);
    return 0;
}
