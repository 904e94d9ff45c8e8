#include "sketch/record.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/portable_log.hpp"
#include "sketch/simhash.hpp"

namespace lookalike {
namespace {

enum FeatureKind : unsigned { kWhole = 1, kShingle, kNumber, kZero, kDay, kJson, kKey };

constexpr double kUnits = 2048;  // that the weight of a record is cut into for its MinHash
constexpr double kWholeShare = 0.03125, kCharacterShare = 0.5, kPairShare = 0.46875;
constexpr double kSmallest = 1e-9;
constexpr std::array<double, 4> kNumberWidths{1, 1.5, 3, 6}, kNumberShares{0.25, 0.25, 0.25, 0.25};
constexpr std::array<double, 3> kDayWidths{8, 64, 512}, kDayShares{0.25, 0.375, 0.375};

}  // namespace

RecordSketcher::RecordSketcher(unsigned bits, std::size_t size) : bits_(bits), pairs_({Mode::chars, true, 2, Hashing(0)}), minhasher_(size) {}

void RecordSketcher::put(std::uint64_t path, unsigned kind, std::uint64_t value, double weight) {
    features_.push_back({mix(path ^ mix(value + kind * kGolden)), weight});
}

std::uint64_t RecordSketcher::whole(std::span<const std::uint8_t> text) {
    folder_.run(text, Mode::text, true, false);
    return token_hash(folder_.bytes(), folder_.size());
}

void RecordSketcher::put_text(const Leaf& leaf) {
    characters_.clear();
    shingles_.clear();
    pairs_.run(
        leaf.string, [&](const std::uint64_t* hashes, std::size_t count) { shingles_.insert(shingles_.end(), hashes, hashes + count); },
        [&](std::uint64_t character) { characters_.push_back(character); });
    if (characters_.empty()) return put(leaf.path, kWhole, whole(leaf.string), leaf.weight);
    put(leaf.path, kWhole, whole(leaf.string), leaf.weight * kWholeShare);
    const double character = leaf.weight * kCharacterShare / static_cast<double>(characters_.size());
    for (const std::uint64_t hash : characters_) put(leaf.path, kShingle, mix(hash), character);
    const double pair = leaf.weight * kPairShare / static_cast<double>(shingles_.size());
    for (const std::uint64_t hash : shingles_) put(leaf.path, kShingle, hash, pair);
}

// At each scale the two cells that the value lies between. The weight goes over from one to the other smoothly, so that near values
// have nearly the same weights wherever the edges of cells are.
void RecordSketcher::put_cells(const Leaf& leaf, unsigned kind, double value, std::span<const double> widths, std::span<const double> shares,
                               std::uint64_t sign) {
    for (std::size_t scale = 0; scale < widths.size(); ++scale) {
        const double place = value / widths[scale], cell = std::floor(place), rest = place - cell;
        const double upper = rest * rest * (3 - 2 * rest);
        const auto number = static_cast<std::uint64_t>(static_cast<std::int64_t>(cell));
        const auto packed = [&](std::uint64_t at) { return (at & 0xFFFFFFFFFFFFULL) | scale << 48 | sign << 56; };
        if (1 - upper > 0) put(leaf.path, kind, packed(number), leaf.weight * shares[scale] * (1 - upper));
        if (upper > 0) put(leaf.path, kind, packed(number + 1), leaf.weight * shares[scale] * upper);
    }
}

void RecordSketcher::add(const Leaf& leaf) {
    switch (leaf.kind) {
        case LeafKind::text: return put_text(leaf);
        case LeafKind::element: return put(leaf.path, kWhole, whole(leaf.string), leaf.weight);
        case LeafKind::json: return put(leaf.path, kJson, token_hash(leaf.string.data(), leaf.string.size()), leaf.weight);
        case LeafKind::number:
            if (std::abs(leaf.number) < kSmallest) return put(leaf.path, kZero, 0, leaf.weight);
            return put_cells(leaf, kNumber, portable_log(std::abs(leaf.number)), kNumberWidths, kNumberShares, leaf.number < 0);
        case LeafKind::day: return put_cells(leaf, kDay, leaf.number, kDayWidths, kDayShares, 0);
        case LeafKind::key: return put(leaf.path, kKey, 0, leaf.weight);
    }
}

std::span<const WeightedFeature> RecordSketcher::features() {
    // Stable: equal features are summed in the order of the leaves, on which the last bits of a sum depend.
    std::stable_sort(features_.begin(), features_.end(), [](const auto& a, const auto& b) { return a.hash < b.hash; });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < features_.size(); ++i) {
        if (kept && features_[kept - 1].hash == features_[i].hash) {
            features_[kept - 1].weight += features_[i].weight;
        } else {
            features_[kept++] = features_[i];
        }
    }
    features_.resize(kept);
    return features_;
}

void RecordSketcher::finish(std::uint64_t* simhash, std::uint32_t* minhash) {
    hashes_.clear();
    roots_.clear();
    units_.clear();
    for (const auto& [hash, weight] : features()) {
        hashes_.push_back(hash);
        roots_.push_back(std::sqrt(weight));
        // What is left of a unit counts in the share of cases that it is of one: in the same cases for all records.
        const double chance = static_cast<double>(mix(hash) >> 12) * 0x1p-52;
        const auto count = static_cast<std::uint64_t>(weight * kUnits + chance);
        for (std::uint64_t number = 1; number <= count; ++number) units_.push_back(mix(hash + number * kGolden));
    }
    weighted_simhash(hashes_, roots_, bits_, simhash);
    minhasher_.start(minhash);
    minhasher_.add(units_.data(), units_.size());
    minhasher_.finish();
}

}  // namespace lookalike
