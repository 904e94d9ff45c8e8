// A set of 64-bit features that is filled and emptied again and again: one per worker, of the size of one document.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/hash.hpp"

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

    // Leaves the first of equal features, in their order; returns how many.
    std::size_t make_distinct(std::uint64_t* features, std::size_t size);

   private:
    std::size_t make_set(std::uint64_t* features, std::size_t size);

    // Features are hashes already; the multiplication is for those that somebody else made.
    std::size_t place(std::uint64_t feature) const { return static_cast<std::size_t>(feature * kGolden >> shift_); }

    std::vector<std::uint64_t> slots_;
    // The last feature at each place: its number, and in the upper bits the mark of its text.
    std::vector<std::uint16_t> places_;
    unsigned mark_ = 0;                             // of the text at hand
    std::vector<std::uint16_t> before_, suspects_;  // what its place held before each feature; the features whose place was taken
    std::size_t mask_ = 0;
    unsigned shift_ = 0;
    bool has_zero_ = false;
};

}  // namespace lookalike
