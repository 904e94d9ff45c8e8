// Small vectors of fixed width. The compiler maps them to whatever the processor has, and since the width is part of the
// program, sums come out the same bits everywhere.
#pragma once

#include <cstring>

namespace lookalike {

inline constexpr std::size_t kFloatLanes = 16, kDoubleLanes = 8;

using Floats = float __attribute__((vector_size(kFloatLanes * sizeof(float))));
using Doubles = double __attribute__((vector_size(kDoubleLanes * sizeof(double))));

// Through a reference: passing vectors by value would differ between versions of a function.
template <class Lanes, class T>
[[gnu::always_inline]] inline void load_lanes(Lanes& lanes, const T* from) {
    std::memcpy(&lanes, from, sizeof(Lanes));
}

}  // namespace lookalike
