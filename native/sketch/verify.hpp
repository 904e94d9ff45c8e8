// Exact answers about texts that a sketch brought up: are they equal, and how many features do they share with a query.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "text/text_source.hpp"

namespace lookalike {

// A 64-bit hash of the sequence of a text's tokens: texts that differ only in what the tokenizer and the folding ignore
// have the same. With token_hash, absorb and mix as in hash.hpp, for tokens t1 … tn in UTF-8:
//
//     state = 0x9E3779B97F4A7C15
//     for each token:  state = absorb(state, token_hash(t))
//     digest = mix(absorb(state, n))
//
// It is no cryptographic hash: who wants to can make two texts with the same digest, unless the tokens are hashed with a key.
class TokenSequence {
   public:
    void add(std::uint64_t token) {
        state_ = absorb(state_, token);
        ++count_;
    }
    std::uint64_t digest() const { return mix(absorb(state_, count_)); }

   private:
    std::uint64_t state_ = kGolden, count_ = 0;
};

class ContentDigester {
   public:
    ContentDigester(Mode mode, bool fold, const Hashing& hashing = {}) : mode_(mode), fold_(fold), hashing_(hashing) {}
    std::uint64_t run(std::span<const std::uint8_t> utf8);

   private:
    Mode mode_;
    bool fold_;
    Hashing hashing_;
    Folder folder_;
};

struct Overlap {
    std::uint32_t common;  // features of the text that the query has too
    std::uint32_t size;    // distinct features of the text
};

// A hash table of 64-bit features that holds those of a query for good, and those of one text after the other.
// The query's are put in first, so that on the way to one of them there are only others of them. What an earlier text put
// in counts as an empty slot: a new text costs nothing to start.
class FeatureTable {
   public:
    explicit FeatureTable(std::span<const std::uint64_t> query);  // one that comes again counts once

    std::size_t query_size() const { return query_size_; }  // distinct features

    void start_text();
    void add(const std::uint64_t* features, std::size_t count);
    Overlap overlap() const { return {common_, size_}; }

   private:
    struct Slot {
        std::uint64_t feature;
        std::uint32_t text;  // the last one it was seen in; 0 is none
        bool in_query;
    };

    std::size_t home(std::uint64_t feature) const { return static_cast<std::size_t>(feature * multiplier_ >> shift_); }
    void rebuild(std::size_t capacity);

    std::vector<Slot> slots_;
    std::uint64_t multiplier_;
    unsigned shift_ = 0;
    std::size_t query_size_ = 0;
    std::uint32_t text_ = 0, common_ = 0, size_ = 0;
};

}  // namespace lookalike
