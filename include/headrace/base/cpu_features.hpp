// SPDX-License-Identifier: MIT
// Defines headrace::cpu_has_avx2 and HEADRACE_FOR_AVX2, for functions that get a second, AVX2 version.
#ifndef HEADRACE_BASE_CPU_FEATURES_HPP
#define HEADRACE_BASE_CPU_FEATURES_HPP

// Compiles a function and everything that it calls for AVX2 and FMA. Its results have the same bits as
// without them, unless it adds to a product: compilers fuse the two if they can. Use std::fma to fuse on
// purpose.
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
