// A set of 64-bit features that is filled and emptied again and again: one a worker, of the size of one document.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "hash.hpp"

namespace lookalike {

class FeatureSet {
   public:
    // Empties the set and makes room for so many features.
    void reset(std::size_t features) {
        const unsigned bits = std::max(6U, static_cast<unsigned>(std::bit_width(features)) + 1);  // at most half full
        shift_ = 64 - bits;
        const std::size_t size = std::size_t{1} << bits;
        if (size > slots_.size()) {
            slots_.assign(size, 0);
        } else {
            std::fill_n(slots_.begin(), size, 0);
        }
        mask_ = size - 1;
        has_zero_ = false;
    }

    // Whether it was not there yet.
    bool insert(std::uint64_t feature) {
        if (feature == 0) return !std::exchange(has_zero_, true);  // a free slot is 0
        for (std::size_t i = place(feature);; i = (i + 1) & mask_) {
            if (slots_[i] == feature) return false;
            if (slots_[i] == 0) {
                slots_[i] = feature;
                return true;
            }
        }
    }

    bool contains(std::uint64_t feature) const {
        if (feature == 0) return has_zero_;
        for (std::size_t i = place(feature);; i = (i + 1) & mask_) {
            if (slots_[i] == feature) return true;
            if (slots_[i] == 0) return false;
        }
    }

    // Leaves the first of equal features, in their order.
    //
    // Most texts repeat little. One bit a feature, of many, tells nearly all of them apart without a branch; the few whose bit
    // was taken are compared with all before them.
    void make_distinct(std::vector<std::uint64_t>& features) {
        const std::size_t size = features.size();
        const unsigned bits = std::max(10U, static_cast<unsigned>(std::bit_width(size)) + 5);
        bitmap_.assign(std::size_t{1} << (bits - 6), 0);
        suspects_.resize(size + 1);
        std::size_t suspects = 0;
        for (std::size_t i = 0; i < size; ++i) {
            const std::uint64_t place = features[i] * kGolden >> (64 - bits);
            std::uint64_t& word = bitmap_[place >> 6];
            suspects_[suspects] = i;
            suspects += word >> (place & 63) & 1;
            word |= std::uint64_t{1} << (place & 63);
        }
        if (suspects > 8 + size / 16) return make_set(features);  // a text that does repeat itself
        std::size_t repeated = 0;
        for (std::size_t k = 0; k < suspects; ++k) {
            const std::uint64_t feature = features[suspects_[k]];
            std::uint64_t found = 0;
            for (std::size_t i = 0; i < suspects_[k]; ++i) found |= features[i] == feature;
            suspects_[repeated] = suspects_[k];
            repeated += found;
        }
        if (repeated == 0) return;
        std::size_t kept = suspects_[0];
        for (std::size_t k = 0; k < repeated; ++k) {
            const std::size_t begin = suspects_[k] + 1, end = k + 1 < repeated ? suspects_[k + 1] : size;
            std::copy(features.begin() + static_cast<std::ptrdiff_t>(begin), features.begin() + static_cast<std::ptrdiff_t>(end),
                      features.begin() + static_cast<std::ptrdiff_t>(kept));
            kept += end - begin;
        }
        features.resize(kept);
    }

   private:
    void make_set(std::vector<std::uint64_t>& features) {
        reset(features.size());
        std::size_t kept = 0;
        for (const std::uint64_t feature : features) {
            features[kept] = feature;
            kept += insert(feature);
        }
        features.resize(kept);
    }

    // Features are hashes already; the multiplication is for those that somebody else made.
    std::size_t place(std::uint64_t feature) const { return static_cast<std::size_t>(feature * kGolden >> shift_); }

    std::vector<std::uint64_t> slots_, bitmap_;
    std::vector<std::size_t> suspects_;
    std::size_t mask_ = 0;
    unsigned shift_ = 0;
    bool has_zero_ = false;
};

}  // namespace lookalike
