// The hashes of a text's tokens, by whichever way is fastest for it.
#pragma once

#include <array>
#include <span>

#include "base/hash.hpp"
#include "text/ascii_characters.hpp"
#include "text/shingle.hpp"
#include "text/simple_tokens.hpp"
#include "text/text_view.hpp"
#include "text/unicode.hpp"

namespace lookalike {

struct TextOptions {
    Mode mode;
    bool fold;
    unsigned ngram;
    Hashing hashing;
};

// Hashes of the single ASCII characters: half of a character tokenizer's work.
inline const std::array<std::uint64_t, 128> kAsciiHashes = [] {
    std::array<std::uint64_t, 128> hashes{};
    for (unsigned c = 0; c < 128; ++c) {
        const std::uint8_t byte = static_cast<std::uint8_t>(c);
        hashes[c] = token_hash(&byte, 1);
    }
    return hashes;
}();

// Hashes of tokens of one or three bytes that lie side by side; a fourth byte must be readable.
inline void hash_tokens_of(const Hashing& hashing, const std::uint8_t* first, unsigned width, std::size_t count, std::uint64_t* out) {
    if (hashing.key()) {
        keyed_tokens(*hashing.key(), first, width, count, out);
    } else if (width == 1) {
        for (std::size_t i = 0; i < count; ++i) out[i] = kAsciiHashes[first[i]];
    } else {
        for (std::size_t i = 0; i < count; ++i) out[i] = token_hash_of_three(first + 3 * i);
    }
}

// Hands the hashes of one text after the other to a sink, which has
//     room()      a place for kMostTokens hashes,
//     starts()    a place for as many numbers of code points, where tokens begin, and ends(), where they end; null: nobody asks,
//     add(count)  what to do when so many are there.
class TokenHashes {
   public:
    static constexpr std::size_t kMostTokens = std::max(SimpleTokens::kRoom, TokenEdges::kRoom);

    explicit TokenHashes(const TextOptions& options) : options_(options) {}

    template <class Sink>
    void run(const TextView& text, Sink&& sink) {
        const bool plain = !options_.hashing.key();
        simple_.start(sink.starts() ? SimpleTokens::kSpans : SimpleTokens::kNothingElse);
        if (const auto* units = std::get_if<TwoByteUnits>(&text); plain && units && SimpleTokens::suits(*units, options_.mode, options_.fold)) {
            return run_simple(*units, sink);
        }
        if (const auto* units = std::get_if<FourByteUnits>(&text); plain && units && SimpleTokens::suits(*units, options_.mode, options_.fold)) {
            return run_simple(*units, sink);
        }
        const Utf8 utf8 = as_utf8(text, encoded_);
        if (plain && SimpleTokens::suits(utf8, options_.mode, options_.fold)) return run_simple(utf8, sink);
        if (plain && options_.mode == Mode::chars && options_.fold) return run_characters(utf8, sink);
        run_folded(utf8, 0, sink);
    }

   private:
    template <class Unit, class Sink>
    void run_simple(std::span<const Unit> rest, Sink&& sink) {
        while (const std::size_t taken = simple_.take(rest, options_.mode)) {
            simple_.hash(sink.room());
            if (std::uint32_t* const starts = sink.starts()) {
                std::uint32_t* const ends = sink.ends();
                for (std::size_t i = 0; i < simple_.count(); ++i) starts[i] = simple_.start(i);
                for (std::size_t i = 0; i < simple_.count(); ++i) ends[i] = simple_.end(i);
            }
            sink.add(simple_.count());
            rest = rest.subspan(taken);
        }
        if (rest.empty()) return;
        if constexpr (sizeof(Unit) == 1) {
            run_folded(rest, simple_.position(), sink);
        } else {
            run_folded(encoded(rest, encoded_), simple_.position(), sink);
        }
    }

    // Characters of mostly ASCII. What is none is folded together with its neighbours: from an ASCII character that is not white space up to two of them side
    // by side. Nothing within changes what is outside.
    template <class Sink>
    void run_characters(Utf8 utf8, Sink&& sink) {
        const std::uint8_t *p = utf8.data(), *end = p + utf8.size();
        std::uint32_t position = 0;
        bool after_space = true;
        while (p < end) {
            const std::uint8_t* stop = AsciiCharacters::end_of_ascii(p, end);
            const bool last = stop == end;
            if (last) {
                while (stop > p && AsciiCharacters::is_space(stop[-1])) --stop;  // white space at the end is no token
            } else {
                while (stop > p && AsciiCharacters::is_space(stop[-1])) --stop;
                if (stop > p) --stop;
            }
            while (p < stop) {
                const std::uint8_t* const before = p;
                std::uint32_t* const starts = sink.starts();
                const std::size_t count =
                    AsciiCharacters::read(p, stop, kMostTokens, position, after_space, sink.room(), starts, starts ? sink.ends() : nullptr);
                position += static_cast<std::uint32_t>(p - before);
                sink.add(count);
            }
            if (last) return;
            const std::uint8_t* const next = AsciiCharacters::two_in_ascii(AsciiCharacters::end_of_ascii(p, end), end);
            run_folded({p, static_cast<std::size_t>(next - p)}, position, sink);
            position += folder_.code_points();
            after_space = false;
            p = next;
        }
    }

    // What begins `before` code points behind the start of the text.
    template <class Sink>
    void run_folded(Utf8 utf8, std::uint32_t before, Sink&& sink) {
        const bool spans = sink.starts() != nullptr;
        folder_.run(utf8, options_.mode, options_.fold, spans);
        const std::uint8_t* const bytes = folder_.bytes();
        const auto place = [&](std::size_t count, auto&& first, auto&& last) {  // the first and the last byte of each token
            if (!spans) return;
            const std::uint32_t *const begins = folder_.span_begins(), *const ends = folder_.span_ends();
            std::uint32_t *const to_starts = sink.starts(), *const to_ends = sink.ends();
            for (std::size_t i = 0; i < count; ++i) to_starts[i] = begins[first(i)] + before;
            for (std::size_t i = 0; i < count; ++i) to_ends[i] = ends[last(i)] + before;
        };
        folder_.for_each_stretch(
            [&](const TokenEdges& edges) {
                options_.hashing.tokens(bytes, edges.begins, edges.ends, edges.ended, sink.room());
                place(edges.ended, [&](std::size_t i) { return edges.begins[i]; }, [&](std::size_t i) { return edges.ends[i] - 1; });
                sink.add(edges.ended);
            },
            [&](std::size_t first, std::size_t count, unsigned width) {
                for (std::size_t done = 0; done < count; done += kMostTokens) {
                    const std::size_t here = std::min(kMostTokens, count - done), from = first + done * width;
                    hash_tokens_of(options_.hashing, bytes + from, width, here, sink.room());
                    place(here, [=](std::size_t i) { return from + width * i; }, [=](std::size_t i) { return from + width * (i + 1) - 1; });
                    sink.add(here);
                }
            });
    }

    TextOptions options_;
    SimpleTokens simple_;
    Folder folder_;
    std::vector<std::uint8_t> encoded_;
};

}  // namespace lookalike
