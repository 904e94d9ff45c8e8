// What is known of documents by a digest of their tokens: copies of a text are decided as it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sketch/decide.hpp"

namespace lookalike {

struct TokenDigest {
    std::uint64_t low, high;
    bool operator==(const TokenDigest&) const = default;
};

constexpr TokenDigest kNothing{0, 0};  // of a document without tokens: it is like another such one, and like nothing else

// What is known of documents by their digest.
class Originals {
   public:
    struct Known {
        std::uint32_t leader;  // of the last document with this digest; itself if it was kept
        std::uint32_t seen;    // how many kept documents it was compared with
        double similarity;

        Decision decision() const { return {leader, similarity}; }
        // Nothing is nearer than an equal document, and of equals the earliest leads.
        bool final() const { return similarity == 1.0; }
    };

    // What is known of an earlier document with this digest, or null. Valid until the next add().
    const Known* find(const TokenDigest& digest) const;
    Known* find(const TokenDigest& digest) { return const_cast<Known*>(std::as_const(*this).find(digest)); }
    void prefetch(const TokenDigest& digest) const {
        if (!slots_.empty()) __builtin_prefetch(&slots_[static_cast<std::size_t>(digest.low) & (slots_.size() - 1)]);
    }
    // Only after find() returned null. A kept document's copies point at `document`.
    void add(const TokenDigest& digest, std::uint32_t document, const Decision& decision, std::uint32_t seen);
    void reserve(std::size_t documents);
    std::size_t bytes() const { return digests_.capacity() * sizeof(TokenDigest) + known_.capacity() * sizeof(Known) + slots_.capacity() * 4; }

   private:
    std::size_t slot_of(const TokenDigest& digest) const;
    void grow();

    std::vector<TokenDigest> digests_;
    std::vector<Known> known_;
    std::vector<std::uint32_t> slots_;  // numbers of digests, open addressing
};

}  // namespace lookalike
