// The same code for several widths of vectors, and the choice between them when the program runs.
//
// Code is written once, as a loop that compilers turn into vectors: a function that is LOOKALIKE_INLINED. `widest<function>(arguments)` calls it as
// compiled for the widest vectors that this processor has. Every version gives the same bytes. That needs nothing of the system's loader, so it
// works wherever GCC or clang does: with glibc, musl and on macOS. On arm64 all processors have the same vectors (NEON), which plain code uses.
#pragma once

#include "base/platform.hpp"

#define LOOKALIKE_INLINED [[gnu::always_inline]] inline

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define LOOKALIKE_HAS_LEVELS 1
// x86-64-v3 and x86-64-v4, by their parts: compilers inline plain functions into a function of more parts, but not always into one of another "arch".
#define LOOKALIKE_AVX2 __attribute__((target("avx2,bmi,bmi2,f16c,fma,lzcnt,movbe,popcnt")))
#define LOOKALIKE_AVX512 __attribute__((target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi,bmi2,f16c,fma,lzcnt,movbe,popcnt")))
// For code that picks bytes out of a vector by one operation, which not every processor with AVX-512 has.
#define LOOKALIKE_PICKS __attribute__((target("avx512vbmi2,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi,bmi2,f16c,fma,lzcnt,movbe,popcnt")))
#else
#define LOOKALIKE_HAS_LEVELS 0
#define LOOKALIKE_AVX2
#define LOOKALIKE_AVX512
#define LOOKALIKE_PICKS
#endif

namespace lookalike {

enum class Level : std::uint8_t { plain = 0, avx2 = 1, avx512 = 2 };

// What this processor has; the environment variable LOOKALIKE_VECTORS=plain, avx2 or avx512 asks for less.
extern const Level kLevel;

#if LOOKALIKE_HAS_LEVELS
inline bool has_picks() { return kLevel == Level::avx512 && __builtin_cpu_supports("avx512vbmi2"); }
#endif

// For code that is written for two widths of vectors, and needs fused multiply-adds: which of the two, or neither where those are calls.
inline Level fused_level() {
#if LOOKALIKE_HAS_LEVELS
    return kLevel;
#elif defined(__FP_FAST_FMA) && defined(__FP_FAST_FMAF)
    return Level::avx2;
#else
    return Level::plain;
#endif
}

// How it is called in reports.
const char* level_name();

template <auto function>
struct Versions;

template <class Result, class... Arguments, Result (*function)(Arguments...)>
struct Versions<function> {
    static Result plain(Arguments... arguments) { return function(static_cast<Arguments>(arguments)...); }
#if LOOKALIKE_HAS_LEVELS
    LOOKALIKE_AVX2 static Result avx2(Arguments... arguments) { return function(static_cast<Arguments>(arguments)...); }
    LOOKALIKE_AVX512 static Result avx512(Arguments... arguments) { return function(static_cast<Arguments>(arguments)...); }
#endif
};

template <auto function, class... Arguments>
inline decltype(auto) widest(Arguments&&... arguments) {
#if LOOKALIKE_HAS_LEVELS
    if (kLevel == Level::avx512) return Versions<function>::avx512(static_cast<Arguments&&>(arguments)...);
    if (kLevel == Level::avx2) return Versions<function>::avx2(static_cast<Arguments&&>(arguments)...);
#endif
    return Versions<function>::plain(static_cast<Arguments&&>(arguments)...);
}

}  // namespace lookalike
