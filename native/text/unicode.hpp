// From UTF-8 to normalised UTF-8 with token boundaries, by frozen Unicode tables.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "base/platform.hpp"
#include "text/token_edges.hpp"

namespace lookalike {

enum class Mode : std::uint8_t {
    automatic = 0,  // words; a character of a script written without spaces is its own token
    words = 1,      // words only: a run of ideographs is one word
    chars = 2,      // every character; a run of white space is one space
    text = 3,       // no tokens: the whole normalised text
    pieces = 4,     // as automatic, and every punctuation mark or symbol is a token too: the tokenizer `symbols`
};

// A growing array whose contents are not initialised: a vector would zero what is about to be written.
template <class T>
class Scratch {
   public:
    T* data() { return data_.get(); }
    const T* data() const { return data_.get(); }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    std::size_t capacity() const { return capacity_; }

    // Room for `wanted` elements, keeping the first `used` of them.
    void grow(std::size_t wanted, std::size_t used) {
        if (wanted <= capacity_) return;
        std::size_t capacity = capacity_ ? capacity_ : 1024;
        while (capacity < wanted) capacity *= 2;
        std::unique_ptr<T[]> bigger(new T[capacity]);
        if (used) std::memcpy(bigger.get(), data_.get(), used * sizeof(T));
        data_ = std::move(bigger);
        capacity_ = capacity;
    }

   private:
    std::unique_ptr<T[]> data_;
    std::size_t capacity_ = 0;
};

// Normalises one text after the other, re-using its buffers. Not for use by two threads at once.
class Folder {
   public:
    // Invalid bytes and lone surrogates count as U+FFFD, one for each maximal ill-formed part.
    void run(std::span<const std::uint8_t> utf8, Mode mode, bool fold, bool spans);

    const std::uint8_t* bytes() const { return bytes_.data(); }  // eight readable bytes lie beyond the end
    std::size_t size() const { return size_; }
    std::uint32_t code_points() const { return position_; }  // of the original

    // Where the text that became byte `i` stands in the original, in code points. Only after run(…, spans = true).
    std::uint32_t span_begin(std::size_t i) const { return begin_[i]; }
    std::uint32_t span_end(std::size_t i) const { return end_[i]; }
    const std::uint32_t* span_begins() const { return begin_.data(); }
    const std::uint32_t* span_ends() const { return end_.data(); }

    // Calls visit(first byte, byte after the last) for each token.
    template <class Visit>
    void for_each_token(Visit&& visit) const {
        for_each_stretch(
            [&](const TokenEdges& edges) {
                for (std::size_t i = 0; i < edges.ended; ++i) visit(edges.begins[i], edges.ends[i]);
            },
            [&](std::size_t first, std::size_t count, unsigned width) {
                for (std::size_t i = 0; i < count; ++i) visit(first + i * width, first + (i + 1) * width);
            });
    }

    // The same in stretches: calls visit_edges(edges) for tokens of any size, and where many tokens of one byte or of three (ideographs)
    // follow each other visit_run(first byte, how many, bytes each) for all of them.
    template <class VisitEdges, class VisitRun>
    void for_each_stretch(VisitEdges&& visit_edges, VisitRun&& visit_run) const {
        TokenEdges edges;
        std::uint64_t before = 0;  // whether the byte before is part of a token
        const std::size_t words = (size_ + 63) / 64;
        const auto first_start = [&](std::size_t w) { return w * 64 + static_cast<std::size_t>(std::countr_zero(start_[w])); };
        const auto hand_on = [&] {
            if (edges.ended) visit_edges(edges);
            if (edges.begun > edges.ended) edges.begins[0] = edges.begins[edges.ended];  // a token that goes on
            edges.begun -= edges.ended;
            edges.ended = 0;
        };
        for (std::size_t w = 0; w < words;) {
            w = find_edges(member_.data(), start_.data(), w, words, before, edges);
            if (w == words || edges.full()) {
                hand_on();
                continue;
            }
            const unsigned width = run_width(member_[w], start_[w]);
            const std::size_t first = first_start(w);
            if (edges.begun > edges.ended) edges.ends[edges.ended++] = first;
            hand_on();
            std::size_t last;
            do {  // as many words as the run has
                last = w * 64 + 63 - static_cast<std::size_t>(std::countl_zero(start_[w]));
                ++w;
            } while (w < words && run_width(member_[w], start_[w]) == width && first_start(w) == last + width);
            visit_run(first, (last - first) / width, width);
            edges.begins[edges.begun++] = last;  // it may go on in the next word
            before = 1;
        }
        if (edges.begun > edges.ended) edges.ends[edges.ended++] = size_;
        hand_on();
    }

   private:
    enum class Before : std::uint8_t { nothing, word, single };

    void start_text(std::size_t bytes);
    void pass(std::span<const std::uint8_t> utf8, Mode mode);
    std::size_t ascii_run(const std::uint8_t* source, std::size_t size);
    std::size_t ideograph_run(const std::uint8_t* source, std::size_t size);
    std::size_t ascii_blocks(const std::uint8_t* source, std::size_t blocks);
    void ascii_tokens(std::uint64_t word, std::uint64_t space, unsigned count);
    void ascii_block_of_characters(unsigned count, std::uint64_t space);
    void place_block(unsigned first, unsigned count);
    void drop_last_space();
    void ascii_characters(const std::uint8_t* source, std::size_t size);
    void code_point(std::uint32_t code, const std::uint8_t* utf8, unsigned size);
    void emit(std::uint32_t code, unsigned character_class, const std::uint8_t* utf8, unsigned size);
    void put(const std::uint8_t* utf8, unsigned size, bool starts);
    bool compose_hangul(std::uint32_t code);
    void end_mark_run();
    void set_bits(Scratch<std::uint64_t>& bitmap, std::size_t position, std::uint64_t bits, unsigned count);
    void reserve(std::size_t more);

    Scratch<std::uint8_t> bytes_;
    Scratch<std::uint64_t> member_, start_;
    Scratch<std::uint32_t> begin_, end_;
    std::size_t size_ = 0;
    std::size_t cleared_ = 0;     // words of the bitmaps that are zero or in use
    std::uint32_t position_ = 0;  // code points of the original so far
    Mode mode_ = Mode::automatic;
    bool fold_ = true, spans_ = false;
    bool after_space_ = true;  // a further space changes nothing
    Before before_ = Before::nothing;
    std::uint32_t last_code_ = 0;  // of the last emitted character, for Hangul composition
    unsigned last_combining_ = 0;
    std::size_t mark_run_ = 0;  // where the current run of reorderable marks begins
    bool marks_out_of_order_ = false;
};

}  // namespace lookalike
