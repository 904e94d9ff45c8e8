#include "sketch/recent_codes.hpp"

#include <algorithm>
#include <bit>

namespace lookalike {

RecentCodes::RecentCodes(unsigned bits, unsigned k) : k_(k), blocks_(bits / kWidth) {
    std::vector<std::size_t> within;  // masks of at most so many bits
    for (unsigned radius = 0; radius <= k / blocks_; ++radius) {
        for (std::uint32_t mask = 0; mask < 1U << kWidth; ++mask) {
            if (static_cast<unsigned>(std::popcount(mask)) == radius) masks_.push_back(mask);
        }
        within.push_back(masks_.size());
    }
    for (unsigned t = 0; t < blocks_; ++t) {
        ends_.push_back(t <= k ? within[(k - t) / blocks_] : 0);
        probes_ += ends_.back();
    }
    newest_.assign(std::size_t{blocks_} << kWidth, kNone);
}

void RecentCodes::add(const Code& code) {
    const auto number = static_cast<std::uint32_t>(codes_.size());
    codes_.push_back(code);
    for (unsigned t = 0; t < blocks_; ++t) {
        std::uint32_t& newest = newest_[std::size_t{t} << kWidth | block(code, t)];
        older_.push_back(newest);
        newest = number;
    }
}

void RecentCodes::clear() {
    codes_.clear();
    older_.clear();
    std::ranges::fill(newest_, kNone);
}

void RecentCodes::prefetch(const Code& code) const {
    for (unsigned t = 0; t < blocks_; ++t) __builtin_prefetch(&newest_[std::size_t{t} << kWidth | block(code, t)]);
}

}  // namespace lookalike
