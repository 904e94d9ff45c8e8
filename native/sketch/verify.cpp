#include "sketch/verify.hpp"

#include <utility>

namespace lookalike {

std::uint64_t ContentDigester::run(std::span<const std::uint8_t> utf8) {
    folder_.run(utf8, mode_, fold_, false);
    const std::uint8_t* bytes = folder_.bytes();
    TokenSequence sequence;
    folder_.for_each_stretch(
        [&](const TokenEdges& edges) {
            std::uint64_t hashes[TokenEdges::kRoom];
            hashing_.tokens(bytes, edges.begins, edges.ends, edges.ended, hashes);
            for (std::size_t i = 0; i < edges.ended; ++i) sequence.add(hashes[i]);
        },
        [&](std::size_t first, std::size_t tokens, unsigned width) {
            for (std::size_t done = 0; done < tokens; done += TokenEdges::kRoom) {
                std::uint64_t hashes[TokenEdges::kRoom];
                const std::size_t here = std::min<std::size_t>(TokenEdges::kRoom, tokens - done);
                hash_tokens_of(hashing_, bytes + first + done * width, width, here, hashes);
                for (std::size_t i = 0; i < here; ++i) sequence.add(hashes[i]);
            }
        });
    return sequence.digest();
}

FeatureTable::FeatureTable(std::span<const std::uint64_t> query)
    // Features are known to who writes a text; where this table lies is not, so nobody can make its slots collide.
    : multiplier_(mix(reinterpret_cast<std::uintptr_t>(this)) | 1) {
    rebuild(std::bit_ceil(4 * query.size() + 64));  // room for a text of about the same size
    for (const std::uint64_t feature : query) {
        std::size_t i = home(feature);
        while (slots_[i].in_query && slots_[i].feature != feature) i = (i + 1) & (slots_.size() - 1);
        query_size_ += !slots_[i].in_query;
        slots_[i] = {feature, 0, true};
    }
}

void FeatureTable::start_text() {
    common_ = size_ = 0;
    if (++text_ != 0) return;
    for (Slot& slot : slots_) slot.text = 0;  // after four billion texts
    text_ = 1;
}

void FeatureTable::add(const std::uint64_t* features, std::size_t count) {
    while (2 * (query_size_ + size_ + count) > slots_.size()) rebuild(2 * slots_.size());
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t k = 0; k < count; ++k) {
        const std::uint64_t feature = features[k];
        std::size_t i = home(feature);
        while ((slots_[i].in_query || slots_[i].text == text_) && slots_[i].feature != feature) i = (i + 1) & mask;
        Slot& slot = slots_[i];
        // Now it is the query's own, one that this text had before, or free.
        const bool is_new = slot.text != text_;
        common_ += is_new && slot.in_query;
        size_ += is_new;
        slot.feature = feature;
        slot.text = text_;
    }
}

void FeatureTable::rebuild(std::size_t capacity) {
    const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(capacity, Slot{0, 0, false}));
    shift_ = 64 - static_cast<unsigned>(std::bit_width(capacity) - 1);
    for (const bool in_query : {true, false}) {
        for (const Slot& slot : old) {
            if (slot.in_query != in_query || (!in_query && slot.text != text_)) continue;
            std::size_t i = home(slot.feature);
            while (slots_[i].in_query || slots_[i].text == text_) i = (i + 1) & (capacity - 1);
            slots_[i] = slot;
        }
    }
}

}  // namespace lookalike
