#include "sketch/piece_buckets.hpp"

#include <bit>

#include "base/hash.hpp"

namespace lookalike {

void EqualKeys::link(const std::uint64_t* keys, std::size_t stride, std::uint32_t count, std::uint32_t* before) {
    const std::size_t size = std::bit_ceil(std::size_t{2} * count + 2);
    const int shift = 64 - std::bit_width(size - 1);
    slots_.assign(size, kNobody);
    for (std::uint32_t place = 0; place < count; ++place) {
        const std::uint64_t key = keys[place * stride];
        std::size_t i = static_cast<std::size_t>(key * kGolden >> shift);
        while (slots_[i] != kNobody && keys[slots_[i] * stride] != key) i = (i + 1) & (size - 1);
        before[place * stride] = slots_[i];
        slots_[i] = place;
    }
}

void PieceBuckets::begin(std::uint32_t count) {
    // Nothing is cleared: what is read was written for this piece.
    if (numbers_.size() >= count) return;
    numbers_.resize(count);
    before_.resize(row(count));
    newest_.resize(row(count));
    earlier_.resize(row(count));
}

void PieceBuckets::find(std::uint32_t document, std::uint32_t first, std::vector<std::uint32_t>& candidates) const {
    for (unsigned band = 0; band < bands_; ++band) {
        for (std::uint32_t i = older(document, band); i != kNobody && numbers_[i] >= first; i = older(i, band)) candidates.push_back(numbers_[i]);
    }
}

void PieceBuckets::pass(std::uint32_t document) {
    for (unsigned band = 0; band < bands_; ++band) newest_[row(document) + band] = older(document, band);
}

void PieceBuckets::keep(std::uint32_t document, std::uint32_t number) {
    numbers_[document] = number;
    for (unsigned band = 0; band < bands_; ++band) {
        const std::uint32_t last = older(document, band);
        std::uint32_t held = earlier_[row(document) + band].found;
        for (std::uint32_t i = last; i != kNobody; i = older(i, band)) ++held;
        newest_[row(document) + band] = held < limit_ ? document : last;  // a full bucket takes no more
    }
}

}  // namespace lookalike
