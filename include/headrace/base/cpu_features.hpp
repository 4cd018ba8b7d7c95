// SPDX-License-Identifier: MIT
// Defines headrace::cpu_has_avx2 and HEADRACE_FOR_AVX2, for functions that are compiled once more for that.
#ifndef HEADRACE_BASE_CPU_FEATURES_HPP
#define HEADRACE_BASE_CPU_FEATURES_HPP

// A function so marked is compiled for AVX2 and FMA with all that it calls, and gives the same bits as
// without them, unless it adds to a product: compilers fuse the two where they can. Say std::fma where that
// is meant.
#if defined(__x86_64__) && defined(__GNUC__)
#define HEADRACE_FOR_AVX2 __attribute__((target("avx2,fma"), flatten))
#else
#define HEADRACE_FOR_AVX2
#endif

namespace headrace {

[[nodiscard]] inline bool cpu_has_avx2() {
#if defined(__x86_64__) && defined(__GNUC__)
    static const bool has = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
    return has;
#else
    return false;
#endif
}

}  // namespace headrace

#endif
