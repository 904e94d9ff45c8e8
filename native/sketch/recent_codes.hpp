// SimHashes that were kept lately: found by blocks of sixteen bits, and added one at a time, which an index of segments does not take.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "segments/hamming.hpp"

namespace lookalike {

class RecentCodes {
   public:
    RecentCodes(unsigned bits, unsigned k);

    std::size_t size() const { return codes_.size(); }
    std::size_t bytes() const { return codes_.capacity() * sizeof(Code) + (newest_.capacity() + older_.capacity()) * sizeof(std::uint32_t); }
    const Code& operator[](std::size_t i) const { return codes_[i]; }
    void add(const Code& code);
    void clear();
    void prefetch(const Code& code) const;

    // Calls meet(number, distance) for every code within k, some of them several times.
    template <class Meet>
    void near(const Code& code, Meet&& meet) const {
        if (codes_.size() <= probes_) {
            for (std::uint32_t i = 0; i < codes_.size(); ++i) compare(code, i, meet);
            return;
        }
        for (unsigned t = 0; t < blocks_; ++t) {
            const std::uint32_t own = block(code, t);
            for (const std::uint32_t mask : masks_of(t)) {
                for (std::uint32_t i = newest_[std::size_t{t} << kWidth | (own ^ mask)]; i != kNone; i = older_[std::size_t{i} * blocks_ + t]) {
                    compare(code, i, meet);
                }
            }
        }
    }

   private:
    static constexpr unsigned kWidth = 16;
    static constexpr std::uint32_t kNone = 0xFFFFFFFFU;

    static std::uint32_t block(const Code& code, unsigned t) {
        return static_cast<std::uint32_t>((t < 4 ? code.high >> (48 - 16 * t) : code.low >> (112 - 16 * t)) & 0xFFFF);
    }
    // The bits to flip in block t: two codes within k have a block t in which at most floor((k - t) / blocks) bits differ (hamming.hpp).
    std::span<const std::uint32_t> masks_of(unsigned t) const { return {masks_.data(), ends_[t]}; }
    template <class Meet>
    void compare(const Code& code, std::uint32_t i, Meet&& meet) const {
        const unsigned found = distance(code, codes_[i]);
        if (found <= k_) meet(i, found);
    }

    unsigned k_, blocks_;
    std::vector<std::uint32_t> masks_;  // by the number of their bits
    std::vector<std::size_t> ends_;     // how many of them block t needs
    std::size_t probes_ = 0;            // of all blocks: so many codes are read as fast one after the other
    std::vector<Code> codes_;
    std::vector<std::uint32_t> newest_, older_;  // of each bucket; and of each code, the one before it in the bucket of each block
};

}  // namespace lookalike
