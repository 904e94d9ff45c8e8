#include "text/kept_lines.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <array>

namespace lookalike {

bool kept_stretches(std::span<const std::uint8_t> block, std::int64_t offset, std::span<const std::int64_t> extents, std::span<const std::uint8_t> kept,
                    std::vector<KeptStretch>& stretches) {
    std::size_t last = block.size() + 1;  // where the newest stretch ends
    for (std::size_t i = 0; i < kept.size(); ++i) {
        if (!kept[i]) continue;
        // What begins before the block is a very large number.
        const auto in_block = [&](std::int64_t place) { return static_cast<std::uint64_t>(place) - static_cast<std::uint64_t>(offset); };
        const std::uint64_t begin = in_block(extents[2 * i]), end = in_block(extents[2 * i + 1]);
        if (end < begin || end > block.size()) return false;
        const std::size_t length = end - begin;
        if (begin == last) {
            stretches.back().size += length;
        } else {
            stretches.push_back({block.data() + begin, length});
        }
        last = end;
    }
    return true;
}

std::ptrdiff_t StretchWriter::write_some(int file) {
    constexpr std::size_t kMost = 512;  // every system takes a thousand
    std::array<iovec, kMost> pieces;
    const std::size_t count = std::min(kMost, left_.size() - first_);
    for (std::size_t i = 0; i < count; ++i) pieces[i] = {const_cast<std::uint8_t*>(left_[first_ + i].data), left_[first_ + i].size};
    const std::ptrdiff_t written = ::writev(file, pieces.data(), static_cast<int>(count));
    std::size_t rest = written < 0 ? 0 : static_cast<std::size_t>(written);
    while (first_ < left_.size() && rest >= left_[first_].size) rest -= left_[first_++].size;
    if (rest) left_[first_] = {left_[first_].data + rest, left_[first_].size - rest};
    return written;
}

}  // namespace lookalike
