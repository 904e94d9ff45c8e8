// What is known of 64-bit hashes: one array, no allocation for each. The hashes are spread evenly already.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lookalike {

// `Value` has is_empty(), which holds of a new one and of no other.
template <class Value>
class FlatTable {
   public:
    // Forgets everything, and makes room for so many hashes.
    void reset(std::size_t count) {
        const std::size_t size = std::bit_ceil(std::max<std::size_t>(2 * count, 8));
        slots_.assign(size, {});
        shift_ = 64 - static_cast<unsigned>(std::countr_zero(size));
    }

    // What is known of a hash: an empty value, to be filled, if nothing is.
    Value& of(std::uint64_t hash) { return slot(hash).value; }

    void prefetch(std::uint64_t hash) const { __builtin_prefetch(slots_.data() + (hash >> shift_)); }

   private:
    struct Slot {
        std::uint64_t hash;
        Value value;
    };

    Slot& slot(std::uint64_t hash) {
        for (std::size_t at = hash >> shift_;; at = (at + 1) & (slots_.size() - 1)) {
            Slot& found = slots_[at];
            if (found.value.is_empty()) {
                found.hash = hash;
                return found;
            }
            if (found.hash == hash) return found;
        }
    }

    std::vector<Slot> slots_;
    unsigned shift_ = 64;
};

}  // namespace lookalike
