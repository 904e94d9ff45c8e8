#include "sketch/kept_buckets.hpp"

#include <bit>
#include <tuple>

#include "base/hash.hpp"
#include "base/parallel.hpp"

namespace lookalike {
namespace {

constexpr std::size_t kLine = 64;  // bytes of a cache line
constexpr std::size_t kAhead = 8;  // documents whose buckets are on their way from memory

}  // namespace

std::size_t KeptBuckets::home(const Table& table, std::uint64_t key) { return static_cast<std::size_t>(key * kGolden >> table.shift); }

std::size_t KeptBuckets::slot_of(const Table& table, std::uint64_t key, std::size_t from) {
    const std::size_t mask = table.slots.size() - 1;
    std::size_t i = from;
    while (table.slots[i].newest != kNobody && table.slots[i].key() != key) i = (i + 1) & mask;
    return i;
}

void KeptBuckets::expect(std::size_t documents, unsigned workers) {
    const std::size_t slots = std::bit_floor(std::min<std::size_t>(documents, kNobody) * 16 / 11);
    if (slots <= kLeastSlots) return;
    for_each_document(tables_.size(), workers, [&] {
        return [&](std::size_t band) {
            if (tables_[band].slots.empty()) resize(tables_[band], slots);
            tables_[band].older.reserve(documents);
        };
    });
}

void KeptBuckets::prefetch(const std::uint64_t* keys) const {
    for (const Table& table : tables_) {
        const std::uint64_t key = *keys++;
        if (table.slots.empty()) continue;
        const Slot* const slot = &table.slots[home(table, key)];
        __builtin_prefetch(slot);
        __builtin_prefetch(slot + kLine / sizeof(Slot));  // a look often goes on beyond the end of a cache line
    }
}

void KeptBuckets::find(const std::uint64_t* keys, std::uint32_t first, std::vector<std::uint32_t>& candidates, Bucket* buckets) const {
    for (const Table& table : tables_) {
        const std::uint64_t key = *keys++;
        const std::size_t before = candidates.size(), slot = table.slots.empty() ? 0 : slot_of(table, key);
        std::uint32_t i = table.slots.empty() ? kNobody : table.slots[slot].newest;
        for (; i != kNobody && i >= first; i = table.older[i]) candidates.push_back(i);
        *buckets++ = {slot, static_cast<std::uint32_t>(candidates.size() - before)};
    }
}

void KeptBuckets::enter(unsigned band, const std::uint64_t* keys, const Bucket* buckets, std::span<const std::uint32_t> rows) {
    Table& table = tables_[band];
    const auto at = [&](std::size_t i) { return std::size_t{rows[i]} * bands() + band; };
    std::uint32_t document = documents_;
    bool moved = false;
    table.older.resize(table.older.size() + rows.size(), kNobody);
    for (std::size_t i = 0; i < rows.size(); ++i, ++document) {
        if (is_full(band)) {
            grow(table);
            moved = true;
        }
        if (i + kAhead < rows.size() && !moved) __builtin_prefetch(&table.slots[buckets[at(i + kAhead)].slot], 1);
        const std::uint64_t key = keys[at(i)];
        Slot& slot = table.slots[slot_of(table, key, moved ? home(table, key) : buckets[at(i)].slot)];
        if (slot.newest == kNobody) {
            slot.low = static_cast<std::uint32_t>(key);
            slot.high = static_cast<std::uint32_t>(key >> 32);
            ++table.used;
        } else {
            std::uint32_t held = 0;
            for (std::uint32_t other = slot.newest; other != kNobody; other = table.older[other]) ++held;
            if (held >= limit_) {
                ++table.refused[key];
                continue;
            }
        }
        table.older[document] = slot.newest;
        slot.newest = document;
    }
}

// Up to three quarters full, one band a little later than the other: all tables fill at one pace, and whoever waits for the decision would wait for all to
// grow at once.
bool KeptBuckets::is_full(unsigned band) const {
    const Table& table = tables_[band];
    return 16 * (table.used + 1) * bands() >= table.slots.size() * (11 * bands() + band);
}

void KeptBuckets::resize(Table& table, std::size_t slots) {
    std::vector<Slot> old(slots);
    old.swap(table.slots);
    table.shift = 64 - static_cast<unsigned>(std::bit_width(table.slots.size() - 1));
    for (const Slot& slot : old) {
        if (slot.newest != kNobody) table.slots[slot_of(table, slot.key())] = slot;
    }
}

std::size_t KeptBuckets::bytes() const {
    std::size_t total = 0;
    for (const Table& table : tables_) total += table.slots.capacity() * sizeof(Slot) + table.older.capacity() * sizeof(std::uint32_t);
    return total;
}

std::vector<KeptBuckets::Hot> KeptBuckets::hot_buckets() const {
    std::vector<Hot> hot;
    for (unsigned band = 0; band < bands(); ++band) {
        const Table& table = tables_[band];
        for (const auto& [key, refused] : table.refused) hot.push_back({band, refused, table.slots[slot_of(table, key)].newest, key});
    }
    std::sort(hot.begin(), hot.end(), [](const Hot& a, const Hot& b) {
        const auto low_a = static_cast<std::uint32_t>(a.key), low_b = static_cast<std::uint32_t>(b.key);
        return std::tie(b.refused, a.band, low_a, a.key) < std::tie(a.refused, b.band, low_b, b.key);
    });
    return hot;
}

}  // namespace lookalike
