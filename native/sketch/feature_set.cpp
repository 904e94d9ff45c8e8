#include "sketch/feature_set.hpp"

#include "base/dispatch.hpp"

namespace lookalike {
namespace {

LOOKALIKE_INLINED bool occurs_here(const std::uint64_t* values, std::size_t count, std::uint64_t value) {
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < count; ++i) found |= values[i] == value;
    return found != 0;
}

bool occurs(const std::uint64_t* values, std::size_t count, std::uint64_t value) { return widest<occurs_here>(values, count, value); }

}  // namespace

// Most texts repeat little. One byte a feature, of many, tells nearly all of them apart without a branch; the few whose byte was taken are
// compared with all before them: of a long text, these would be too many. A byte is taken if it holds the number of this text: so they need
// not be cleared for each.
std::size_t FeatureSet::make_distinct(std::uint64_t* features, std::size_t size) {
    constexpr std::size_t kMostMarked = 4096;
    if (size > kMostMarked) return make_set(features, size);
    const unsigned bits = std::max(10U, static_cast<unsigned>(std::bit_width(size)) + 5);
    if (marks_.size() < std::size_t{1} << bits || ++mark_ == 0) {
        marks_.assign(std::max(marks_.size(), std::size_t{1} << bits), 0);
        mark_ = 1;
    }
    suspects_.resize(size + 1);
    std::uint8_t* const marks = marks_.data();
    std::size_t* const listed = suspects_.data();
    const std::uint8_t mark = mark_;
    std::size_t suspects = 0;
    for (std::size_t i = 0; i < size; ++i) {
        const std::uint64_t place = features[i] * kGolden >> (64 - bits);
        listed[suspects] = i;
        suspects += marks[place] == mark;
        marks[place] = mark;
    }
    if (suspects > 8 + size / 16) return make_set(features, size);  // a text that does repeat itself
    std::size_t repeated = 0;
    for (std::size_t k = 0; k < suspects; ++k) {
        suspects_[repeated] = suspects_[k];
        repeated += occurs(features, suspects_[k], features[suspects_[k]]);
    }
    if (repeated == 0) return size;
    std::size_t kept = suspects_[0];
    for (std::size_t k = 0; k < repeated; ++k) {
        const std::size_t begin = suspects_[k] + 1, end = k + 1 < repeated ? suspects_[k + 1] : size;
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
