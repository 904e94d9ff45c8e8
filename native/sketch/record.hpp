// The fingerprints of a record: its leaves become features with weights, and these a SimHash and a MinHash (docs/format.md, "Records").
#pragma once

#include <span>
#include <vector>

#include "sketch/minhash.hpp"
#include "text/text_source.hpp"

namespace lookalike {

enum class LeafKind : std::uint8_t { text = 0, element = 1, json = 2, number = 3, day = 4, key = 5 };
constexpr unsigned kLeafKinds = 6;

// A value somewhere in a record: the hash of the path to it, what it weighs, and the value itself.
struct Leaf {
    std::uint64_t path;
    double weight;
    LeafKind kind;
    double number;
    std::span<const std::uint8_t> string;
};

struct WeightedFeature {
    std::uint64_t hash;
    double weight;
};

// One record after the other. Not for use by two threads at once.
class RecordSketcher {
   public:
    RecordSketcher(unsigned bits, std::size_t size);

    void start() { features_.clear(); }
    void add(const Leaf& leaf);
    void finish(std::uint64_t* simhash, std::uint32_t* minhash);
    // Only the features, ascending, each once; after all leaves were added.
    std::span<const WeightedFeature> features();

   private:
    void put(std::uint64_t path, unsigned kind, std::uint64_t value, double weight);
    void put_text(const Leaf& leaf);
    void put_cells(const Leaf& leaf, unsigned kind, double value, std::span<const double> widths, std::span<const double> shares, std::uint64_t sign);
    std::uint64_t whole(std::span<const std::uint8_t> text);

    unsigned bits_;
    Folder folder_;
    TextShingler pairs_;
    MinHasher minhasher_;
    std::vector<WeightedFeature> features_;
    std::vector<std::uint64_t> characters_, shingles_, hashes_, units_;
    std::vector<double> roots_;
};

}  // namespace lookalike
