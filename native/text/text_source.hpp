// Documents as texts, and how to take them apart.
#pragma once

#include "text/token_hashes.hpp"

namespace lookalike {

// Hands the shingle hashes of one text after the other to a consumer, in batches.
class TextShingler {
   public:
    explicit TextShingler(const TextOptions& options) : tokens_(options), shingler_(options.ngram, options.hashing) {}

    template <class Consume>
    void run(const TextView& text, Consume&& consume) {
        run(text, consume, [](std::uint64_t) {});
    }

    // The same, with a look at the token hashes on their way.
    template <class Consume, class Look>
    void run(const TextView& text, Consume&& consume, Look&& look) {
        struct Sink {
            Shingler& shingler;
            Consume& consume;
            Look& look;
            std::uint64_t* room() { return shingler.room(); }
            std::uint32_t* starts() { return nullptr; }
            std::uint32_t* ends() { return nullptr; }
            void add(std::size_t count) {
                for (std::size_t i = 0; i < count; ++i) look(room()[i]);
                shingler.added(count, consume);
            }
        };
        shingler_.start();
        tokens_.run(text, Sink{shingler_, consume, look});
        shingler_.finish(consume);
    }

   private:
    TokenHashes tokens_;
    Shingler shingler_;
};

}  // namespace lookalike
