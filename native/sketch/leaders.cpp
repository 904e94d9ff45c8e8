#include "sketch/leaders.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>

namespace lookalike {

namespace {

// A power of two of features: 1 MB, then 2, 4 and 8 each. Small where a few documents are to fill several.
#ifdef LOOKALIKE_SMALL_CHUNKS
constexpr std::size_t kFirstChunk = 4;
#else
constexpr std::size_t kFirstChunk = 17;
#endif

constexpr std::size_t kLine = 64;  // bytes of a cache line

}  // namespace

std::size_t Originals::slot_of(const TokenDigest& digest) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = static_cast<std::size_t>(digest.low) & mask;
    while (slots_[i] != kNobody && !(digests_[slots_[i]] == digest)) i = (i + 1) & mask;
    return i;
}

Originals::Known* Originals::find(const TokenDigest& digest) {
    if (slots_.empty()) return nullptr;
    const std::uint32_t found = slots_[slot_of(digest)];
    return found == kNobody ? nullptr : &known_[found];
}

void Originals::add(const TokenDigest& digest, std::uint32_t document, const Decision& decision, std::uint32_t seen) {
    if (3 * slots_.size() <= 4 * (digests_.size() + 1)) grow();
    slots_[slot_of(digest)] = static_cast<std::uint32_t>(digests_.size());
    digests_.push_back(digest);
    known_.push_back(decision.leader == kNobody ? Known{document, seen, 1.0} : Known{decision.leader, seen, decision.similarity});
}

void Originals::grow() {
    slots_.assign(slots_.empty() ? 64 : 2 * slots_.size(), kNobody);
    for (std::uint32_t i = 0; i < digests_.size(); ++i) slots_[slot_of(digests_[i])] = i;
}

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

void FeatureChunks::begin_batch(std::shared_ptr<const void> memory, std::span<const std::uint64_t> all) {
    batch_ = {chunks_.size(), places_.size(), 0, true};
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
    std::copy(moved.begin(), moved.end(), places_.begin() + static_cast<std::ptrdiff_t>(batch_.first));
}

void FeatureChunks::replace(std::size_t i, const std::uint64_t* elsewhere) {
    if (filling_.memory && filling_.chunk == i) filling_ = {};
    chunks_[i].data = elsewhere;
    chunks_[i].memory.reset();
    in_memory_ -= chunks_[i].size;
}

std::size_t KeptBuckets::slot_of(const Table& table, std::uint64_t key) {
    const std::size_t mask = table.slots.size() - 1;
    std::size_t i = home(table, key);
    while (table.slots[i].newest != kNobody && table.slots[i].key() != key) i = (i + 1) & mask;
    return i;
}

void KeptBuckets::find(const std::uint64_t* keys, std::uint32_t first, std::vector<std::uint32_t>& candidates) {
    for (unsigned band = 0; band < bands_; ++band) {
        const Table& table = tables_[band];
        if (table.slots.empty()) continue;
        std::uint32_t i = table.slots[found_[band] = slot_of(table, keys[band])].newest;
        for (; i != kNobody && i >= first; i = older_[std::size_t{i} * bands_ + band]) {
            candidates.push_back(i);
        }
    }
}

void KeptBuckets::prefetch(const std::uint64_t* keys) const {
    for (unsigned band = 0; band < bands_; ++band) {
        const Table& table = tables_[band];
        if (table.slots.empty()) continue;
        const Slot* const slot = &table.slots[home(table, keys[band])];
        __builtin_prefetch(slot);
        __builtin_prefetch(slot + kLine / sizeof(Slot));  // a look often goes on beyond the end of a cache line
    }
}

void KeptBuckets::add(const std::uint64_t* keys) {
    older_.resize(older_.size() + bands_, kNobody);
    for (unsigned band = 0; band < bands_; ++band) {
        Table& table = tables_[band];
        if (3 * table.slots.size() <= 4 * (table.used + 1)) {
            grow(table);
            found_[band] = slot_of(table, keys[band]);
        }
        Slot& slot = table.slots[found_[band]];
        if (slot.newest == kNobody) {
            slot.low = static_cast<std::uint32_t>(keys[band]);
            slot.high = static_cast<std::uint32_t>(keys[band] >> 32);
            ++table.used;
        } else {
            std::uint32_t held = 0;
            for (std::uint32_t i = slot.newest; i != kNobody; i = older_[std::size_t{i} * bands_ + band]) ++held;
            if (held >= limit_) {
                ++refused_[{band, keys[band]}];
                continue;
            }
        }
        older_[std::size_t{documents_} * bands_ + band] = slot.newest;
        slot.newest = documents_;
    }
    ++documents_;
}

void KeptBuckets::grow(Table& table) {
    std::vector<Slot> old(std::max<std::size_t>(64, 2 * table.slots.size()));
    old.swap(table.slots);
    table.shift = 64 - static_cast<unsigned>(std::bit_width(table.slots.size() - 1));
    for (const Slot& slot : old) {
        if (slot.newest != kNobody) table.slots[slot_of(table, slot.key())] = slot;
    }
}

std::size_t KeptBuckets::bytes() const {
    std::size_t total = older_.capacity() * sizeof(std::uint32_t);
    for (const Table& table : tables_) total += table.slots.capacity() * sizeof(Slot);
    return total;
}

std::vector<KeptBuckets::Hot> KeptBuckets::hot_buckets() const {
    std::vector<Hot> hot;
    for (const auto& [place, refused] : refused_) {
        const auto& [band, key] = place;
        hot.push_back({band, refused, tables_[band].slots[slot_of(tables_[band], key)].newest, key});
    }
    std::sort(hot.begin(), hot.end(), [](const Hot& a, const Hot& b) {
        const auto low_a = static_cast<std::uint32_t>(a.key), low_b = static_cast<std::uint32_t>(b.key);
        return std::tie(b.refused, a.band, low_a, a.key) < std::tie(a.refused, b.band, low_b, b.key);
    });
    return hot;
}

Decision Leaders::offer(std::span<const std::uint64_t> features, const TokenDigest& digest, const std::uint64_t* keys) {
    const std::uint32_t document = documents_;
    if (document == kNobody) throw std::length_error("more than 4,294,967,294 documents: split the corpus");
    ++documents_;
    if (Originals::Known* known = originals_.find(digest)) {
        if (!known->final() && known->seen < tables_.documents()) {
            const Decision now = nearest(features, keys, known->seen, known->decision());
            *known = {now.leader, tables_.documents(), now.similarity};
        }
        return known->decision();
    }
    const bool comparable = bands() > 0 && !features.empty();
    const Decision decision = comparable ? nearest(features, keys, 0, {}) : Decision{};
    originals_.add(digest, document, decision, tables_.documents());
    if (decision.leader != kNobody) return decision;
    ++kept_;
    if (comparable) {
        tables_.add(keys);
        features_.add(features);
        numbers_.push_back(document);
    }
    return decision;
}

Decision Leaders::nearest(std::span<const std::uint64_t> features, const std::uint64_t* keys, std::uint32_t first, const Decision& known) {
    candidates_.clear();
    tables_.find(keys, first, candidates_);
    if (candidates_.empty()) return known;
    std::sort(candidates_.begin(), candidates_.end());
    candidates_.erase(std::unique(candidates_.begin(), candidates_.end()), candidates_.end());
    compared_ += candidates_.size();
    Nearest near(threshold_, known);
    own_.begin(features);
    for (const std::uint32_t candidate : candidates_) near.meet(numbers_[candidate], own_.to(features_[candidate], near.least()));
    return near.decision();
}

std::vector<KeptBuckets::Hot> Leaders::hot_buckets() const {
    std::vector<KeptBuckets::Hot> hot = tables_.hot_buckets();
    for (KeptBuckets::Hot& each : hot) each.example = numbers_[each.example];
    return hot;
}

Decision SimhashLeaders::offer(const Code& code, const TokenDigest& digest) {
    const std::uint32_t document = documents_;
    if (document == kNobody) throw std::length_error("more than 4,294,967,294 documents: split the corpus");
    ++documents_;
    if (digest == kNothing) {
        if (nothing_.leader != kNobody) return nothing_;
        nothing_ = {document, 1.0};
        ++kept_;
        return {};
    }
    const TokenDigest own = digest_of(code);
    Originals::Known* known = originals_.find(own);
    if (known && known->final()) return known->decision();
    const Decision decision = nearest(code);
    if (known) {  // a kept document stays within k of it
        *known = {decision.leader, 0, decision.similarity};
        return decision;
    }
    if (decision.leader == kNobody) {
        ++kept_;
        keep(code, document);
    }
    originals_.add(own, document, decision, 0);
    return decision;
}

Decision SimhashLeaders::nearest(const Code& code) {
    Nearest near(similarity(k_));
    matches_.clear();
    index_.search(code, k_, scratch_, matches_);
    if (!matches_.empty()) near.meet(static_cast<std::uint32_t>(matches_[0].id), similarity(matches_[0].distance));  // the nearest and earliest of them
    recent_.near(code, [&](std::uint32_t i, unsigned found) { near.meet(static_cast<std::uint32_t>(recent_numbers_[i]), similarity(found)); });
    return near.decision();
}

void SimhashLeaders::keep(const Code& code, std::uint32_t document) {
    recent_.add(code);
    recent_numbers_.push_back(document);
    if (recent_.size() < kMaxRecent) return;
    std::vector<std::uint64_t> words;
    for (std::size_t i = 0; i < recent_.size(); ++i) push_words(recent_[i], bits(), words);
    index_.add(words, recent_numbers_);
    recent_.clear();
    recent_numbers_.clear();
}

}  // namespace lookalike
