#include "base/checksum.hpp"

#include <algorithm>

namespace lookalike {
namespace {

constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15ULL;

std::uint64_t step(std::uint64_t lane, std::uint64_t word) { return std::rotl(lane ^ word, 29) * kFactor; }

}  // namespace

Checksum::Checksum() {
    for (std::size_t i = 0; i < kLanes; ++i) lanes_[i] = i + 1;
}

void Checksum::add(std::span<const std::uint8_t> piece) {
    size_ += piece.size();
    std::uint64_t lanes[kLanes];
    std::copy(lanes_, lanes_ + kLanes, lanes);
    const std::uint8_t* p = piece.data();
    std::size_t left = piece.size();
    for (; left >= kStep; left -= kStep, p += kStep) {
        for (std::size_t i = 0; i < kLanes; ++i) lanes[i] = step(lanes[i], load64(p + 8 * i));
    }
    for (std::size_t i = 0; left; ++i) {
        std::uint64_t word = 0;
        const std::size_t taken = left < 8 ? left : 8;
        std::memcpy(&word, p, taken);
        lanes[i] = step(lanes[i], word);
        p += taken;
        left -= taken;
    }
    std::copy(lanes, lanes + kLanes, lanes_);
}

std::uint64_t Checksum::value() const {
    std::uint64_t sum = size_;
    for (const std::uint64_t lane : lanes_) sum = step(sum, lane);
    return sum ^ sum >> 32;
}

std::uint64_t checksum(std::span<const std::uint8_t> data) {
    Checksum sum;
    sum.add(data);
    return sum.value();
}

}  // namespace lookalike
