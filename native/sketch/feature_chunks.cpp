#include "sketch/feature_chunks.hpp"

#include <algorithm>

namespace lookalike {

namespace {

// A power of two of features: 1 MB, then 2, 4 and 8 each. Small where a few documents are to fill several.
#ifdef LOOKALIKE_SMALL_CHUNKS
constexpr std::size_t kFirstChunk = 4;
#else
constexpr std::size_t kFirstChunk = 17;
#endif

}  // namespace

FeatureChunks::Place FeatureChunks::copied(std::span<const std::uint64_t> features) {
    LargeBuffer<std::uint64_t>* room = filling_.memory.get();
    if (!room || room->capacity() < chunks_[filling_.chunk].size + features.size()) {
        const std::size_t usual = std::size_t{1} << (kFirstChunk + std::min<std::size_t>(made_++, 3));
        filling_ = {chunks_.size(), std::make_shared<LargeBuffer<std::uint64_t>>(std::max(usual, features.size()))};
        room = filling_.memory.get();
        chunks_.push_back({filling_.memory, room->data()});
    }
    Chunk& chunk = chunks_[filling_.chunk];
    const Place place{static_cast<std::uint32_t>(filling_.chunk), static_cast<std::uint32_t>(features.size()), chunk.size};
    std::copy(features.begin(), features.end(), room->data() + chunk.size);
    chunk.size += features.size();
    in_memory_ += features.size();
    return place;
}

void FeatureChunks::add(std::span<const std::uint64_t> features) {
    if (!batch_.open) {
        places_.push_back(copied(features));
        return;
    }
    const auto offset = static_cast<std::uint64_t>(features.data() - chunks_[batch_.chunk].data);
    places_.push_back({static_cast<std::uint32_t>(batch_.chunk), static_cast<std::uint32_t>(features.size()), offset});
    batch_.added += features.size();
}

void FeatureChunks::add_later(const RowPlace& row) {
    places_.push_back({kLater, 0, rows_.size()});
    rows_.push_back(row);
}

FeatureChunks::Found FeatureChunks::find(std::size_t i) {
    const std::lock_guard lock(guard_);
    if (places_[i].chunk == kLater) return {{}, &rows_[places_[i].offset]};
    return {at(places_[i]), nullptr};
}

void FeatureChunks::made(std::size_t i, std::span<const std::uint64_t> features) {
    const std::lock_guard lock(guard_);
    if (places_[i].chunk != kLater || places_[i].count++ == 0) return;
    places_[i] = copied(features);
    if (batch_.open) batch_.held.push_back(i);
}

void FeatureChunks::begin_batch(std::shared_ptr<const void> memory, std::span<const std::uint64_t> all) {
    batch_ = {chunks_.size(), places_.size(), 0, {}, true};
    chunks_.push_back({std::move(memory), all.data(), all.size()});
    in_memory_ += all.size();
}

void FeatureChunks::end_batch() {
    batch_.open = false;
    const std::span<const std::uint64_t> batch = chunk(batch_.chunk);
    if (4 * batch_.added >= 3 * batch.size()) return;
    std::vector<Place> moved;
    moved.reserve(places_.size() - batch_.first);
    for (std::size_t i = batch_.first; i < places_.size(); ++i) moved.push_back(copied(batch.subspan(places_[i].offset, places_[i].count)));
    // Nothing fails from here on. Chunks that were made for the copies move up.
    in_memory_ -= batch.size();
    chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(batch_.chunk));
    if (filling_.chunk > batch_.chunk) --filling_.chunk;
    for (Place& place : moved) place.chunk -= place.chunk > batch_.chunk;
    for (const std::size_t i : batch_.held) places_[i].chunk -= places_[i].chunk > batch_.chunk;
    std::copy(moved.begin(), moved.end(), places_.begin() + static_cast<std::ptrdiff_t>(batch_.first));
}

void FeatureChunks::replace(std::size_t i, const std::uint64_t* elsewhere) {
    if (filling_.memory && filling_.chunk == i) filling_ = {};
    chunks_[i].data = elsewhere;
    chunks_[i].memory.reset();
    in_memory_ -= chunks_[i].size;
}

}  // namespace lookalike
