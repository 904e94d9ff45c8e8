// The natural logarithm by sums and products alone: the C library's differs between platforms in the last bit, and a
// sketch must not. ln(m * 2^e) = e ln 2 + 2 artanh((m - 1) / (m + 1)) with m in [1/sqrt 2, sqrt 2).
#pragma once

#include <cmath>

namespace lookalike {

inline double portable_log(double x) {
    int exponent;
    double mantissa = std::frexp(x, &exponent);  // exact
    if (mantissa < 0.70710678118654752440) {
        mantissa *= 2;
        --exponent;
    }
    const double z = (mantissa - 1) / (mantissa + 1), square = z * z;
    double series = 0;
    for (int k = 23; k >= 1; k -= 2) series = series * square + 1.0 / k;
    return exponent * 0.69314718055994530942 + 2 * z * series;
}

}  // namespace lookalike
