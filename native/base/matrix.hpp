// Products of matrices in single precision, with the same bits on every machine.
#pragma once

#include <cstddef>

namespace lookalike {

// c = a · b, all row after row: a has `rows` × `inner` numbers, b `inner` × `columns`, c `rows` × `columns`.
//
// Every number of c starts at 0 and takes its products one by one, in the order of `inner`, each by one fused multiply-add.
// So it depends on its row and its column alone: not on the other rows, the number of threads, or the processor. Libraries of
// linear algebra promise none of these.
void multiply(const float* a, const float* b, float* c, std::size_t rows, std::size_t inner, std::size_t columns);

}  // namespace lookalike
