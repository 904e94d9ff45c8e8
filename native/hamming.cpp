#include "hamming.hpp"

#include <algorithm>

namespace lookalike {
namespace {

constexpr unsigned kMaxRadius = 4;               // k = 16 over four blocks
constexpr std::size_t kNarrowBlocksAbove = 8'000'000;  // from here on three wider blocks of 64 bits need fewer bytes and probes

// `count` bits (up to 32) from bit `start` on, counted from the top, going on at the top after the last bit.
std::uint32_t bits_at(const Code& code, unsigned start, unsigned count, unsigned bits) {
    if (bits <= 64) {
        const std::uint64_t word = bits == 64 ? code.high : code.high | code.high >> 32;
        return static_cast<std::uint32_t>(std::rotl(word, static_cast<int>(start % 64)) >> (64 - count));
    }
    start %= 128;
    const std::uint64_t first = start < 64 ? code.high : code.low, second = start < 64 ? code.low : code.high;
    const unsigned shift = start % 64;
    const std::uint64_t window = shift == 0 ? first : first << shift | second >> (64 - shift);
    return static_cast<std::uint32_t>(window >> (64 - count));
}

std::vector<unsigned> block_widths(unsigned bits, std::size_t size) {
    if (bits == 32) return {16, 16};
    if (bits == 128) return std::vector<unsigned>(8, 16);
    if (size > kNarrowBlocksAbove) return {22, 21, 21};
    return {16, 16, 16, 16};
}

LOOKALIKE_CLONES
void scan(const std::uint64_t* high, const std::uint64_t* low, std::size_t first, std::size_t end, const Code& query, unsigned k,
          std::vector<Hit>& hits) {
    for (std::size_t i = first; i < end; ++i) {
        const int found = std::popcount(high[i] ^ query.high) + (low ? std::popcount(low[i] ^ query.low) : 0);
        if (found <= static_cast<int>(k)) hits.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(found)});
    }
}

// Positions of a bucket whose filter is within k of the query's: few, so they are written down without a branch.
LOOKALIKE_CLONES
std::size_t filter_bucket(const std::uint32_t* filters, std::size_t size, std::uint32_t filter, unsigned k, std::uint32_t* passed) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < size; ++i) {
        passed[count] = static_cast<std::uint32_t>(i);
        count += static_cast<unsigned>(std::popcount(filters[i] ^ filter)) <= k;
    }
    return count;
}

void add_masks(unsigned width, unsigned left, unsigned from, std::uint32_t mask, std::vector<std::uint32_t>& masks) {
    if (left == 0) return masks.push_back(mask);
    for (unsigned bit = from; bit + left <= width; ++bit) add_masks(width, left - 1, bit + 1, mask | 1u << bit, masks);
}

}  // namespace

HammingSegment::HammingSegment(std::vector<Code> codes, unsigned bits) : size_(codes.size()), bits_(bits) {
    high_.resize(size_);
    if (bits == 128) low_.resize(size_);
    for (std::size_t i = 0; i < size_; ++i) {
        high_[i] = codes[i].high;
        if (bits == 128) low_[i] = codes[i].low;
    }
    unsigned start = 0;
    for (const unsigned width : block_widths(bits, size_)) {
        Table table{start, width, {}, {}, {}, {}, {}};
        table.directory.assign((std::size_t{1} << width) + 1, 0);
        for (const Code& code : codes) ++table.directory[bits_at(code, start, width, bits) + 1];
        for (std::size_t b = 1; b < table.directory.size(); ++b) table.directory[b] += table.directory[b - 1];
        if (start != 0) {
            table.entries.resize(size_);
            table.filters.resize(size_);
            std::vector<std::uint32_t> next(table.directory.begin(), table.directory.end() - 1);
            for (std::size_t i = 0; i < size_; ++i) {
                const std::uint32_t place = next[bits_at(codes[i], start, width, bits)]++;
                table.entries[place] = static_cast<std::uint32_t>(i);
                table.filters[place] = bits_at(codes[i], start + width, 32, bits);
            }
        }
        for (unsigned radius = 0; radius <= kMaxRadius; ++radius) {
            add_masks(width, radius, 0, 0, table.masks);
            table.mask_ends.push_back(table.masks.size());
        }
        tables_.push_back(std::move(table));
        start += width;
    }
}

std::size_t HammingSegment::bytes() const {
    std::size_t total = (high_.size() + low_.size()) * sizeof(std::uint64_t);
    for (const Table& table : tables_) total += (table.directory.size() + table.entries.size() + table.filters.size() + table.masks.size()) * sizeof(std::uint32_t);
    return total;
}

// Whether reading everything is cheaper than the probes, or the probes would need a radius that has no masks.
bool HammingSegment::scans(unsigned k) const {
    std::size_t work = 0;
    for (unsigned t = 0; t < tables_.size(); ++t) {
        const int radius = radius_of(t, k);
        if (radius < 0) break;
        if (radius > static_cast<int>(kMaxRadius)) return true;
        const std::size_t probes = masks_for(t, static_cast<unsigned>(radius));
        constexpr std::size_t kProbe = 24;  // a probe costs about as much as reading so many codes
        work += probes * (kProbe + (size_ >> tables_[t].width));
    }
    return work > size_;
}

bool HammingSegment::found_before(unsigned t, const Code& a, const Code& b, unsigned k) const {
    for (unsigned s = 0; s < t; ++s) {
        const Table& table = tables_[s];
        const std::uint32_t difference = bits_at(a, table.start, table.width, bits_) ^ bits_at(b, table.start, table.width, bits_);
        if (std::popcount(difference) <= radius_of(s, k)) return true;
    }
    return false;
}

void HammingSegment::probe(unsigned t, std::uint32_t bucket, const Code& query, std::uint32_t filter, unsigned k, std::vector<Hit>& hits) const {
    const Table& table = tables_[t];
    if (t == 0) return scan(high_.data(), low_.empty() ? nullptr : low_.data(), table.directory[bucket], table.directory[bucket + 1], query, k, hits);
    constexpr std::size_t kBlock = 512;
    std::uint32_t passed[kBlock];
    for (std::size_t first = table.directory[bucket], end = table.directory[bucket + 1]; first < end; first += kBlock) {
        const std::size_t count = filter_bucket(table.filters.data() + first, std::min(kBlock, end - first), filter, k, passed);
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t place = first + passed[i];
            const std::uint32_t entry = table.entries[place];
            const unsigned found = distance(code(entry), query);
            if (found <= k && !found_before(t, code(entry), query, k)) hits.push_back({entry, found});
        }
    }
}

void HammingSegment::search(const Code& query, unsigned k, std::vector<Hit>& hits) const {
    if (size_ == 0) return;
    if (scans(k)) return scan(high_.data(), low_.empty() ? nullptr : low_.data(), 0, size_, query, k, hits);
    for (unsigned t = 0; t < tables_.size(); ++t) {
        const int radius = radius_of(t, k);
        if (radius < 0) break;
        const Table& table = tables_[t];
        const std::uint32_t bucket = bits_at(query, table.start, table.width, bits_), filter = bits_at(query, table.start + table.width, 32, bits_);
        const std::size_t probes = masks_for(t, static_cast<unsigned>(radius));
        for (std::size_t m = 0; m < probes; ++m) probe(t, bucket ^ table.masks[m], query, filter, k, hits);
    }
}

void HammingSegment::prefetch(const Code& query, unsigned k) const {
    for (unsigned t = 0; t < tables_.size() && radius_of(t, k) >= 0; ++t) {
        const Table& table = tables_[t];
        const std::uint32_t bucket = bits_at(query, table.start, table.width, bits_);
        const std::size_t place = table.directory[bucket];
        if (t == 0) {
            __builtin_prefetch(high_.data() + place);
        } else {
            __builtin_prefetch(table.filters.data() + place);
        }
    }
}

}  // namespace lookalike
