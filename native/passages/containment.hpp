// Which documents hold how much of which reference texts: n-grams of the references are looked up in the documents.
//
// An n-gram is n tokens in a row; a reference of fewer than n tokens is one gram, as long as it is, and one of fewer than `least` is left out.
// Grams are found by their hashes (passages/window_hash.hpp) and compared token by token, so what is found is there.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "base/secret.hpp"
#include "passages/window_hash.hpp"

namespace lookalike {

struct Held {
    std::uint32_t document, reference;
    std::uint32_t found;                            // grams of the reference that the document holds, or tokens that lie in such grams
    std::uint32_t first, last;                      // the tokens of the document between the first such gram and the end of the last
    std::uint32_t reference_first, reference_last;  // the same in the reference
};

class References {
   public:
    // `tokens` must outlive this. `by_tokens`: what counts is the share of the tokens that lie in a gram that is found, not that of the grams.
    References(std::span<const std::uint64_t> tokens, std::span<const std::int64_t> offsets, std::size_t n, std::size_t least, bool by_tokens,
               const Secret& secret);

    References(const References&) = delete;
    References& operator=(const References&) = delete;

    std::size_t count() const { return offsets_.size() - 1; }
    // How many grams, or tokens, a reference has; 0: it is left out.
    std::uint32_t size(std::size_t reference) const { return sizes_[reference]; }
    // The most that any document held of each reference.
    std::uint32_t most(std::size_t reference) const { return most_[reference].load(std::memory_order_relaxed); }

    // For documents of tokens: what each holds of the references of which it holds at least this share. Several threads may ask.
    std::vector<Held> find(std::span<const std::uint64_t> tokens, std::span<const std::int64_t> offsets, double share) const;

   private:
    struct Grams {  // of one length
        std::size_t length;
        WindowHash hash;
    };
    struct Slot {
        std::uint64_t hash = 0;
        std::uint32_t gram = 0;  // its number, from 1; 0: empty
    };
    struct Hit {
        std::uint32_t reference, index, place;
    };

    std::size_t gram_length(std::size_t reference) const;
    std::uint32_t lookup(std::uint64_t hash, const std::uint64_t* tokens, std::size_t length) const;
    void find_in(std::span<const std::uint64_t> document, double share, std::uint32_t number, std::vector<Hit>& hits, std::vector<Held>& out) const;
    std::uint32_t held(std::span<const Hit> hits) const;

    std::span<const std::uint64_t> tokens_;
    std::span<const std::int64_t> offsets_;
    std::size_t n_, least_;
    bool by_tokens_;
    std::vector<Grams> lengths_;
    std::vector<std::uint32_t> sizes_;
    mutable std::vector<std::atomic<std::uint32_t>> most_;
    std::vector<Slot> slots_;
    std::vector<std::uint64_t> bits_;               // of hashes: most grams of a document are in no reference
    std::vector<std::uint32_t> postings_, starts_;  // by gram: two words for each place, a reference and the index of the gram in it
    std::vector<std::uint64_t> firsts_;             // by gram: a place of it in the tokens
    std::vector<std::uint32_t> gram_lengths_;       // by gram
};

}  // namespace lookalike
