// Late throws of a MinHash hit bins that have a value already, nearly all of them. Where the processor can, lanes tell which hit an empty one, and only
// those are looked at: a third of the work. Elsewhere, and for other sizes, every throw is tried.
#pragma once

#include <cstddef>

#include "base/dispatch.hpp"

namespace lookalike {

constexpr std::size_t kThrowsBeyond = 16;

// The minimum of a bin and a value. In a vector, of which one lane counts: of std::min compilers make a branch, which is mispredicted at every other step, and
// arithmetic takes four operations.
LOOKALIKE_INLINED void keep_smaller(std::uint32_t& bin, std::uint32_t value) {
    using Four = std::uint32_t __attribute__((vector_size(16)));
    const Four before{bin}, given{value};
    bin = (before < given ? before : given)[0];
}

struct Throws {
    const std::uint64_t* features;  // moved on by the rounds before; up to a multiple of kThrowsBeyond can be read
    const std::uint64_t* prefixes;  // of their values, to be added to `prefix`
    std::size_t count;              // whole rounds
    std::uint64_t offset;
    std::uint32_t prefix;
    unsigned shift;  // of the lower half of a hash, to make a value of it
};

// Whether sketches of this size have the fast way on this processor.
bool knows_empty_bins(std::size_t size);

// How many bins are empty.
std::size_t count_empty(const std::uint32_t* bins, std::size_t size);

// These throws, then those of the same rounds moved on by `rounds`, and so on, until no bin is empty or a round of number `size` would come; the first
// of the throws are of round `round`. As if every throw had been tried. Only where knows_empty_bins(size).
void throw_at_empty(Throws throws, std::size_t round, std::size_t rounds, std::uint32_t* bins, std::size_t size);

}  // namespace lookalike
