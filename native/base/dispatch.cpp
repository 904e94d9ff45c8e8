#include "base/dispatch.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace lookalike {
namespace {

Level supported() {
#if LOOKALIKE_HAS_LEVELS
    __builtin_cpu_init();
    const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("popcnt");
    if (!v3) return Level::plain;
    const bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return v4 ? Level::avx512 : Level::avx2;
#else
    return Level::plain;
#endif
}

Level chosen() {
    const char* const asked = std::getenv("LOOKALIKE_VECTORS");
    const std::string_view name = asked ? asked : "";
    const Level most = name == "plain" ? Level::plain : name == "avx2" ? Level::avx2 : Level::avx512;
    return std::min(most, supported());
}

}  // namespace

const Level kLevel = chosen();  // before that it is plain, which is always right

const char* level_name() {
    switch (kLevel) {
        case Level::avx512: return "x86-64-v4 (AVX-512)";
        case Level::avx2: return "x86-64-v3 (AVX2)";
        default: break;
    }
#if defined(__x86_64__)
    return "x86-64 (SSE2)";
#elif defined(__aarch64__)
    return "arm64 (NEON)";
#else
    return "portable";
#endif
}

}  // namespace lookalike
