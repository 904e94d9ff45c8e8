// Word Mover's Distance (Kusner, Sun, Kolkin, Weinberger 2015): what it costs to move the words of one text onto those of another, where
// every text weighs 1 and the way between two words is the Euclidean distance of their vectors. And two bounds that are never above it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "word_mover/transport.hpp"

namespace lookalike {

inline constexpr std::uint64_t kMaxBagTokens = std::uint64_t{1} << 24;  // occurrences of words in a text

using Counts = std::span<const std::uint32_t>;

// The distances between the words of two texts: of word i of the left and word j of the right at i * row + j * column.
struct Ground {
    const float* cells;
    std::size_t row, column;
    float operator()(std::size_t i, std::size_t j) const { return cells[i * row + j * column]; }
};

struct Move {
    std::uint32_t from, to;
    double share;  // of the whole text
};

class WordMover {  // scratch space of one thread
   public:
    // Counts are positive, with sums of at most kMaxBagTokens; at most kMaxTransportCells pairs of words.
    double distance(Counts left, Counts right, const Ground& ground);
    std::vector<Move> moves(Counts left, Counts right, const Ground& ground);

   private:
    // What is at distance 0 of something on the other side stays where it is; the rest is shipped.
    std::span<const Shipment> ship(Counts left, Counts right, const Ground& ground, std::vector<Shipment>* staying);

    Transport transport_;
    std::uint64_t mass_ = 0;  // of a whole text
    std::vector<std::uint64_t> supplies_, demands_, supplied_, demanded_;
    std::vector<std::uint32_t> rows_, columns_;
    std::vector<double> costs_;
};

// Every word goes all to its nearest on the other side, whatever there is of it: the larger of the sums of both directions.
double relaxed_distance(Counts left, Counts right, const Ground& ground);

// The mean of the vectors, by count.
std::vector<float> centroid(const float* vectors, Counts counts, std::size_t dimensions);

std::uint64_t tokens_of(Counts counts);

}  // namespace lookalike
