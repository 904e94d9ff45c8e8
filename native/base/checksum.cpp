#include "base/checksum.hpp"

namespace lookalike {
namespace {

constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15ULL;
constexpr std::size_t kLanes = 8;

std::uint64_t step(std::uint64_t lane, std::uint64_t word) { return std::rotl(lane ^ word, 29) * kFactor; }

}  // namespace

std::uint64_t checksum(std::span<const std::uint8_t> data) {
    std::uint64_t lanes[kLanes];
    for (std::size_t i = 0; i < kLanes; ++i) lanes[i] = i + 1;
    const std::uint8_t* p = data.data();
    std::size_t left = data.size();
    for (; left >= sizeof lanes; left -= sizeof lanes, p += sizeof lanes) {
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
    std::uint64_t sum = data.size();
    for (const std::uint64_t lane : lanes) sum = step(sum, lane);
    return sum ^ sum >> 32;
}

}  // namespace lookalike
