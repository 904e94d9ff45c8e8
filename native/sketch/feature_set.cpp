#include "sketch/feature_set.hpp"

namespace lookalike {
namespace {

constexpr unsigned kNumberBits = 12;
constexpr std::size_t kMostPlaced = std::size_t{1} << kNumberBits;
constexpr unsigned kMarks = 1U << (16 - kNumberBits);

}  // namespace

// Most texts repeat little. Places for many more features than there are tell nearly all of them apart without a branch; one whose place was taken is
// compared with those that had the place before it. In a text that repeats itself these would be too many. A place is taken if it holds the mark of this
// text: so they need not be cleared for each.
std::size_t FeatureSet::make_distinct(std::uint64_t* features, std::size_t size) {
    if (size > kMostPlaced) return make_set(features, size);
    const unsigned bits = std::max(9U, static_cast<unsigned>(std::bit_width(size)) + 4);
    if (places_.size() < std::size_t{1} << bits || ++mark_ == kMarks) {
        places_.assign(std::max(places_.size(), std::size_t{1} << bits), 0);
        mark_ = 1;
    }
    before_.resize(kMostPlaced);
    suspects_.resize(kMostPlaced + 1);
    std::uint16_t *const places = places_.data(), *const before = before_.data(), *const listed = suspects_.data();
    const unsigned mark = mark_;
    std::size_t suspects = 0;
    for (std::size_t i = 0; i < size; ++i) {
        const std::uint64_t place = features[i] * kGolden >> (64 - bits);
        const unsigned last = places[place];
        before[i] = static_cast<std::uint16_t>(last);
        listed[suspects] = static_cast<std::uint16_t>(i);
        suspects += last >> kNumberBits == mark;
        places[place] = static_cast<std::uint16_t>(mark << kNumberBits | i);
    }
    if (suspects > 8 + size / 16) return make_set(features, size);  // a text that does repeat itself
    const auto occurs_before = [&](std::size_t i) {
        const std::uint64_t feature = features[i];
        while (before[i] >> kNumberBits == mark) {
            i = before[i] % kMostPlaced;
            if (features[i] == feature) return true;
        }
        return false;
    };
    std::size_t repeated = 0;
    for (std::size_t k = 0; k < suspects; ++k) {
        listed[repeated] = listed[k];
        repeated += occurs_before(listed[k]);
    }
    if (repeated == 0) return size;
    std::size_t kept = listed[0];
    for (std::size_t k = 0; k < repeated; ++k) {
        const std::size_t begin = listed[k] + std::size_t{1}, end = k + 1 < repeated ? listed[k + 1] : size;
        std::copy(features + begin, features + end, features + kept);
        kept += end - begin;
    }
    return kept;
}

std::size_t FeatureSet::make_set(std::uint64_t* features, std::size_t size) {
    reset(size);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size; ++i) {
        const std::uint64_t feature = features[i];
        features[kept] = feature;
        kept += insert(feature);
    }
    return kept;
}

}  // namespace lookalike
