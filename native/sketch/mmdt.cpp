#include "sketch/mmdt.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <vector>

namespace lookalike::mmdt {
namespace {

using Pixels = std::vector<std::uint8_t>;

constexpr std::size_t kLeast = 4096;  // a smaller file is filled up with zeros
constexpr int kPrecision = 22;        // bits of a coefficient behind the point
constexpr double kSupport = 3;        // of the filter, on each side

// Which pixels of a stretch have 1 added or taken away, and which count not at all or twice.
struct Pattern {
    std::array<std::uint64_t, 4> shifted, ignored, doubled;
};
constexpr Pattern kSmall{{0xEC4CCC0C6E6E2626ULL}, {0x0000004024000000ULL}, {0x0088000100000000ULL}};
constexpr Pattern kLarge{{0xCC0C4C0C0C9C9C8CULL, 0x0CCC0C8C0C9C9C8CULL, 0x4C4CAC0C9C8C0C4CULL, 0x0C0C0C0C0C0C0C0CULL},
                         {0x0000000000000800ULL, 0x8000000000001840ULL, 0x0000000000000000ULL, 0x0800001000000010ULL},
                         {0x0204020020400000ULL, 0x0000000000000000ULL, 0x0040000000000000ULL, 0x0040000000000000ULL}};

bool bit(const std::array<std::uint64_t, 4>& bits, std::size_t i) { return bits[i / 64] >> (i % 64) & 1; }

double sinc(double x) {
    if (x == 0) return 1;
    x *= std::numbers::pi;
    return std::sin(x) / x;
}

double lanczos(double x) { return -kSupport <= x && x < kSupport ? sinc(x) * sinc(x / kSupport) : 0; }

// What one pixel of the small picture is made of: some pixels of the large one, each with its coefficient.
struct Taps {
    std::size_t first;
    std::vector<std::int32_t> coefficients;
};

std::vector<Taps> taps_of(std::size_t in, std::size_t out) {
    const double scale = static_cast<double>(in) / static_cast<double>(out), stretch = std::max(scale, 1.0), support = kSupport * stretch;
    std::vector<Taps> taps(out);
    for (std::size_t place = 0; place < out; ++place) {
        const double center = (static_cast<double>(place) + 0.5) * scale;
        const auto first = static_cast<std::size_t>(std::max(0.0, center - support + 0.5));
        const auto last = std::min(in, static_cast<std::size_t>(center + support + 0.5));
        std::vector<double> weights(last - first);
        double total = 0;
        for (std::size_t i = 0; i < weights.size(); ++i) {
            weights[i] = lanczos((static_cast<double>(i + first) - center + 0.5) * (1.0 / stretch));
            total += weights[i];
        }
        taps[place].first = first;
        for (const double weight : weights) {
            const double scaled = (total != 0 ? weight / total : weight) * (1 << kPrecision);
            taps[place].coefficients.push_back(static_cast<std::int32_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5));
        }
    }
    return taps;
}

// One pixel, from pixels that are `step` apart.
std::uint8_t filtered(const Taps& taps, const std::uint8_t* pixels, std::size_t step) {
    std::int64_t sum = 1 << (kPrecision - 1);
    const std::uint8_t* pixel = pixels + taps.first * step;
    for (const std::int32_t coefficient : taps.coefficients) {
        sum += static_cast<std::int64_t>(*pixel) * coefficient;
        pixel += step;
    }
    return static_cast<std::uint8_t>(std::clamp<std::int64_t>(sum >> kPrecision, 0, 255));
}

// A square picture: first its columns are made fewer, then its rows.
Pixels resized(const Pixels& picture, std::size_t width, std::size_t side) {
    const std::size_t height = picture.size() / width;
    Pixels narrow = picture;
    if (width != side) {
        const std::vector<Taps> taps = taps_of(width, side);
        narrow.resize(height * side);
        for (std::size_t y = 0; y < height; ++y) {
            for (std::size_t x = 0; x < side; ++x) narrow[y * side + x] = filtered(taps[x], picture.data() + y * width, 1);
        }
    }
    if (height == side) return narrow;
    const std::vector<Taps> taps = taps_of(height, side);
    Pixels small(side * side);
    for (std::size_t y = 0; y < side; ++y) {
        for (std::size_t x = 0; x < side; ++x) small[y * side + x] = filtered(taps[y], narrow.data() + x, side);
    }
    return small;
}

// A byte for each stretch of `length` pixels: their sum, without its lowest bits. Every other pixel that is shifted is shifted down.
void sums(const Pixels& pixels, std::size_t length, const Pattern& pattern, unsigned dropped, std::uint8_t* out) {
    bool down = true;
    for (std::size_t first = 0; first < pixels.size(); first += length) {
        std::uint32_t sum = 0;
        for (std::size_t i = 0; i < length; ++i) {
            const int factor = bit(pattern.ignored, i) ? 0 : bit(pattern.doubled, i) ? 2 : 1;
            int value = pixels[first + i] * factor;
            if (bit(pattern.shifted, i)) {
                value = std::abs(down ? value - 1 : value + 1);
                down = !down;
            }
            sum += static_cast<std::uint32_t>(value);
        }
        *out++ = static_cast<std::uint8_t>(sum >> dropped);
    }
}

}  // namespace

Digest hash(std::span<const std::uint8_t> data) {
    const std::size_t size = std::max(data.size(), kLeast);
    const std::size_t width = size > 2 * 256 * 256 ? 256 : size > 2 * 128 * 128 ? 128 : size > 2 * 64 * 64 ? 64 : 32;
    Pixels picture(size / width * width);
    std::copy_n(data.begin(), std::min(picture.size(), data.size()), picture.begin());
    Digest digest;
    sums(resized(picture, width, 16), 64, kSmall, 6, digest.data());
    sums(resized(picture, width, 64), 256, kLarge, 5, digest.data() + 4);
    return digest;
}

}  // namespace lookalike::mmdt
