// The features of kept documents: in memory, in files, or made when somebody first asks for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/large_buffer.hpp"

namespace lookalike {

// Where the row of a document stands in a file.
struct RowPlace {
    std::uint32_t file, size;
    std::uint64_t begin;
};

// One after the other in large chunks. What is in a chunk never changes, so whoever holds this may move it out of memory.
class FeatureChunks {
   public:
    // Copied, unless they are a part of the batch at hand.
    void add(std::span<const std::uint64_t> features);
    // A batch of features that stay where they are, as long as `memory` is held; at its end, if few of them were added, those are copied
    // after all, and the batch is let go.
    void begin_batch(std::shared_ptr<const void> memory, std::span<const std::uint64_t> all);
    void end_batch();
    // Of these features nothing is held until they were made again, of the row.
    void add_later(const RowPlace& row);
    void expect(std::size_t documents, bool later) {  // about so many will be added
        places_.reserve(documents);
        if (later) rows_.reserve(documents);
    }
    void leave_batch() { batch_.open = false; }  // where something failed: what was added stays where it is
    std::size_t size() const { return places_.size(); }

    struct Found {
        std::span<const std::uint64_t> features;
        const RowPlace* row;  // given: the features are to be made of it
    };
    // Several threads may ask for features, and give those that they made, while nobody adds any.
    Found find(std::size_t i);
    // Most that are needed once are never needed again: they are held from the second time on.
    void made(std::size_t i, std::span<const std::uint64_t> features);

    std::size_t chunks() const { return chunks_.size(); }
    std::span<const std::uint64_t> chunk(std::size_t i) const { return {chunks_[i].data, chunks_[i].size}; }
    bool in_memory(std::size_t i) const { return chunks_[i].memory != nullptr; }
    // What keeps a chunk that is in memory alive, for those who look at it while it is replaced.
    std::shared_ptr<const void> memory(std::size_t i) const { return chunks_[i].memory; }
    // From now on chunk i is read from `elsewhere`, which holds the same features, and takes no more.
    void replace(std::size_t i, const std::uint64_t* elsewhere);
    std::size_t bytes() const { return places_.capacity() * sizeof(Place) + rows_.capacity() * sizeof(RowPlace) + in_memory_ * sizeof(std::uint64_t); }

   private:
    struct Chunk {
        std::shared_ptr<const void> memory;  // null: it lies elsewhere
        const std::uint64_t* data;
        std::size_t size = 0;
    };
    struct Filling {  // the chunk that takes copies
        std::size_t chunk = 0;
        std::shared_ptr<LargeBuffer<std::uint64_t>> memory;
    };
    struct AtHand {
        std::size_t chunk = 0, first = 0, added = 0;  // the first place in the batch, and how many features were added
        std::vector<std::size_t> held;                // places before it whose features are held meanwhile
        bool open = false;
    };
    static constexpr std::uint32_t kLater = 0xFFFFFFFF;
    struct Place {
        std::uint32_t chunk, count;  // the chunk kLater: nothing is held, the offset is that of the row, and the count how often it was read
        std::uint64_t offset;
    };
    Place copied(std::span<const std::uint64_t> features);
    std::span<const std::uint64_t> at(const Place& place) const { return {chunks_[place.chunk].data + place.offset, place.count}; }

    std::vector<Chunk> chunks_;
    std::vector<Place> places_;
    std::vector<RowPlace> rows_;
    std::mutex guard_;  // of those who ask at the same time
    Filling filling_;
    AtHand batch_;
    std::size_t made_ = 0;  // chunks for copies
    std::size_t in_memory_ = 0;
};

}  // namespace lookalike
