#include "pages/tag_strings.hpp"

#include <algorithm>
#include <bit>

#include "sketch/overlap.hpp"
#include "text/text_source.hpp"

namespace lookalike {
namespace {

constexpr unsigned kGram = 5;
constexpr std::uint32_t kNone = 0xFFFFFFFFU;

// The strings come from Python's own encoder: they are well-formed.
void decode(std::string_view text, std::vector<std::uint32_t>& out) {
    out.clear();
    for (std::size_t i = 0; i < text.size();) {
        const auto byte = [&](std::size_t k) { return static_cast<std::uint32_t>(static_cast<std::uint8_t>(text[std::min(i + k, text.size() - 1)])); };
        const std::uint32_t first = byte(0);
        if (first < 0x80) {
            out.push_back(first);
            i += 1;
        } else if (first < 0xE0) {
            out.push_back((first & 0x1F) << 6 | (byte(1) & 0x3F));
            i += 2;
        } else if (first < 0xF0) {
            out.push_back((first & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F));
            i += 3;
        } else {
            out.push_back((first & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F));
            i += 4;
        }
    }
}

std::vector<std::uint64_t> grams(std::string_view text) {
    std::vector<std::uint64_t> found;
    TextShingler shingler({Mode::chars, true, kGram, 0});
    shingler.run(Utf8(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()),
                 [&](const std::uint64_t* hashes, std::size_t count) { found.insert(found.end(), hashes, hashes + count); });
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace

double StringRatio::operator()(std::string_view left, std::string_view right) {
    if (left == right) return 1.0;
    decode(left, left_);
    decode(right, right_);
    if (static_cast<std::uint64_t>(left_.size()) * right_.size() > max_cells_) return shared_grams(left, right);
    const std::size_t total = left_.size() + right_.size();
    std::span<const std::uint32_t> a = left_, b = right_;
    std::size_t ends = 0;  // what both begin and end with is common in some longest common subsequence
    while (!a.empty() && !b.empty() && a.front() == b.front()) a = a.subspan(1), b = b.subspan(1), ++ends;
    while (!a.empty() && !b.empty() && a.back() == b.back()) a = a.first(a.size() - 1), b = b.first(b.size() - 1), ++ends;
    const std::size_t kept = ends + (a.size() <= b.size() ? common(a, b) : common(b, a));
    return 1.0 - static_cast<double>(total - 2 * kept) / static_cast<double>(total);
}

double StringRatio::shared_grams(std::string_view left, std::string_view right) const {
    const std::vector<std::uint64_t> a = grams(left), b = grams(right);
    if (a.empty() && b.empty()) return 0.0;
    return 2.0 * static_cast<double>(intersection_size(a, b)) / static_cast<double>(a.size() + b.size());
}

// The length of the longest common subsequence by a row of bits, 64 cells of the table at a time (Hyyrö 2004).
std::size_t StringRatio::common(std::span<const std::uint32_t> pattern, std::span<const std::uint32_t> text) {
    if (pattern.empty()) return 0;
    const std::size_t words = (pattern.size() + 63) / 64;
    const std::size_t slots = std::bit_ceil(2 * pattern.size() + 1);
    keys_.resize(std::max(keys_.size(), slots));
    numbers_.assign(slots, kNone);
    const auto slot_of = [&](std::uint32_t code) {
        std::size_t slot = (code * 0x9E3779B1U >> 7) & (slots - 1);
        while (numbers_[slot] != kNone && keys_[slot] != code) slot = (slot + 1) & (slots - 1);
        return slot;
    };
    places_.clear();
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        const std::size_t slot = slot_of(pattern[i]);
        if (numbers_[slot] == kNone) {
            keys_[slot] = pattern[i];
            numbers_[slot] = static_cast<std::uint32_t>(places_.size());
            places_.resize(places_.size() + words, 0);
        }
        places_[numbers_[slot] + i / 64] |= std::uint64_t{1} << (i % 64);
    }
    unmatched_.assign(words, ~std::uint64_t{0});
    for (const std::uint32_t code : text) {
        const std::uint32_t row = numbers_[slot_of(code)];
        if (row == kNone) continue;
        std::uint64_t carry = 0;
        for (std::size_t word = 0; word < words; ++word) {
            const std::uint64_t before = unmatched_[word], here = before & places_[row + word];
            const std::uint64_t sum = before + here, full = sum + carry;
            carry = static_cast<std::uint64_t>(sum < before) | static_cast<std::uint64_t>(full < sum);
            unmatched_[word] = full | (before - here);
        }
    }
    std::size_t matched = 0;
    for (const std::uint64_t word : unmatched_) matched += static_cast<std::size_t>(std::popcount(~word));
    return matched;  // bits beyond the pattern are never cleared: nothing is added there but carries, which set them again
}

}  // namespace lookalike
