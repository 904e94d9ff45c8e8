#include "passages/containment.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <tuple>

#include "base/hash.hpp"

namespace lookalike {
namespace {

constexpr std::size_t kBitsPerGram = 16;
constexpr std::size_t kFewestBits = 1 << 12;

std::size_t power_of_two(std::size_t count) { return std::bit_ceil(std::max<std::size_t>(count, 1)); }

}  // namespace

std::size_t References::gram_length(std::size_t reference) const {
    const auto size = static_cast<std::size_t>(offsets_[reference + 1] - offsets_[reference]);
    return size < least_ ? 0 : std::min(size, n_);
}

References::References(std::span<const std::uint64_t> tokens, std::span<const std::int64_t> offsets, std::size_t n, std::size_t least, bool by_tokens,
                       const Secret& secret)
    : tokens_(tokens), offsets_(offsets), n_(n), least_(least), by_tokens_(by_tokens), sizes_(offsets.size() - 1), most_(offsets.size() - 1) {
    struct Place {
        std::uint64_t hash, first;
        std::uint32_t length, reference, index;
    };
    std::vector<Place> places;
    if (tokens.size() >> 32) throw std::invalid_argument("references of more than 2^32 tokens: split them");
    for (std::size_t reference = 0; reference < count(); ++reference) {
        const std::size_t length = gram_length(reference);
        if (length == 0) continue;
        auto own = std::find_if(lengths_.begin(), lengths_.end(), [&](const Grams& grams) { return grams.length == length; });
        if (own == lengths_.end()) own = lengths_.insert(lengths_.end(), Grams{length, WindowHash(secret, length)});
        const auto begin = static_cast<std::size_t>(offsets_[reference]), end = static_cast<std::size_t>(offsets_[reference + 1]);
        sizes_[reference] = static_cast<std::uint32_t>(by_tokens ? end - begin : end - begin - length + 1);
        std::uint64_t hash = own->hash.first(tokens.data() + begin);
        for (std::size_t at = begin; at + length <= end; ++at) {
            if (at > begin) hash = own->hash.next(hash, tokens.data() + at - 1);
            places.push_back({hash, at, static_cast<std::uint32_t>(length), static_cast<std::uint32_t>(reference), static_cast<std::uint32_t>(at - begin)});
        }
    }
    // Equal grams side by side. By chance unequal ones may have equal hashes: their tokens tell them apart.
    const auto content = [&](const Place& place) { return std::span(tokens.data() + place.first, place.length); };
    std::sort(places.begin(), places.end(), [&](const Place& a, const Place& b) {
        if (a.hash != b.hash || a.length != b.length) return std::tie(a.hash, a.length) < std::tie(b.hash, b.length);
        const auto left = content(a), right = content(b);
        const auto order = std::lexicographical_compare_three_way(left.begin(), left.end(), right.begin(), right.end());
        return order != 0 ? order < 0 : a.first < b.first;
    });
    slots_.resize(2 * power_of_two(places.size()));
    bits_.resize(power_of_two(std::max(kBitsPerGram * places.size(), kFewestBits)) / 64);
    starts_.push_back(0);
    for (std::size_t first = 0, last; first < places.size(); first = last) {
        last = first;
        while (last < places.size() && places[last].hash == places[first].hash && places[last].length == places[first].length &&
               std::ranges::equal(content(places[last]), content(places[first]))) {
            postings_.insert(postings_.end(), {places[last].reference, places[last].index});
            ++last;
        }
        starts_.push_back(static_cast<std::uint32_t>(postings_.size()));
        firsts_.push_back(places[first].first);
        gram_lengths_.push_back(places[first].length);
        const std::uint64_t hash = mix(places[first].hash + places[first].length);
        bits_[hash / 64 % bits_.size()] |= std::uint64_t{1} << hash % 64;
        std::size_t slot = hash >> 20;
        while (slots_[slot % slots_.size()].gram != 0) ++slot;
        slots_[slot % slots_.size()] = {hash, static_cast<std::uint32_t>(firsts_.size())};
    }
}

// The number of a gram; 0: no reference has it.
std::uint32_t References::lookup(std::uint64_t hash, const std::uint64_t* tokens, std::size_t length) const {
    for (std::size_t slot = hash >> 20;; ++slot) {
        const Slot& found = slots_[slot % slots_.size()];
        if (found.gram == 0) return 0;
        if (found.hash != hash || gram_lengths_[found.gram - 1] != length) continue;
        if (std::equal(tokens, tokens + length, tokens_.data() + firsts_[found.gram - 1])) return found.gram;
    }
}

std::vector<Held> References::find(std::span<const std::uint64_t> tokens, std::span<const std::int64_t> offsets, double share) const {
    std::vector<Held> found;
    std::vector<Hit> hits;
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
        const auto begin = static_cast<std::size_t>(offsets[i]), end = static_cast<std::size_t>(offsets[i + 1]);
        find_in(tokens.subspan(begin, end - begin), share, static_cast<std::uint32_t>(i), hits, found);
    }
    return found;
}

void References::find_in(std::span<const std::uint64_t> document, double share, std::uint32_t number, std::vector<Hit>& hits, std::vector<Held>& out) const {
    hits.clear();
    for (const Grams& grams : lengths_) {
        if (document.size() < grams.length) continue;
        std::uint64_t window = grams.hash.first(document.data());
        for (std::size_t at = 0;; ++at) {
            const std::uint64_t hash = mix(window + grams.length);
            if (bits_[hash / 64 % bits_.size()] >> hash % 64 & 1) {
                const std::uint32_t gram = lookup(hash, document.data() + at, grams.length);
                for (std::uint32_t i = gram ? starts_[gram - 1] : 0; gram && i < starts_[gram]; i += 2) {
                    hits.push_back({postings_[i], postings_[i + 1], static_cast<std::uint32_t>(at)});
                }
            }
            if (at + grams.length >= document.size()) break;
            window = grams.hash.next(window, document.data() + at);
        }
    }
    std::sort(hits.begin(), hits.end(),
              [](const Hit& a, const Hit& b) { return std::tie(a.reference, a.index, a.place) < std::tie(b.reference, b.index, b.place); });
    for (std::size_t first = 0, last; first < hits.size(); first = last) {
        const std::uint32_t reference = hits[first].reference;
        last = first;
        while (last < hits.size() && hits[last].reference == reference) ++last;
        const std::span<const Hit> own(hits.data() + first, last - first);
        const std::uint32_t amount = held(own);
        std::uint32_t before = most_[reference].load(std::memory_order_relaxed);
        while (before < amount && !most_[reference].compare_exchange_weak(before, amount, std::memory_order_relaxed)) {}
        if (static_cast<double>(amount) / sizes_[reference] < share) continue;
        const auto length = static_cast<std::uint32_t>(gram_length(reference));
        const auto [low, high] = std::ranges::minmax(own, {}, &Hit::place);
        out.push_back({number, reference, amount, low.place, high.place + length, own.front().index, own.back().index + length});
    }
}

// How many different grams there are among the hits, or how many tokens they cover.
std::uint32_t References::held(std::span<const Hit> hits) const {
    const auto length = static_cast<std::uint32_t>(gram_length(hits.front().reference));
    std::uint32_t count = 0, covered = 0;  // `covered`: tokens before this one are counted
    for (std::size_t i = 0; i < hits.size(); ++i) {
        const std::uint32_t index = hits[i].index;
        if (i > 0 && index == hits[i - 1].index) continue;
        count += by_tokens_ ? index + length - std::max(index, covered) : 1;
        covered = index + length;
    }
    return count;
}

}  // namespace lookalike
