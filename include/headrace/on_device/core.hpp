// SPDX-License-Identifier: MIT
// Defines the instruction sets that kernels are written for, and headrace::on_device::kernel, which chooses
// among them.
#ifndef HEADRACE_ON_DEVICE_CORE_HPP
#define HEADRACE_ON_DEVICE_CORE_HPP

/// Inlines even at -Os: the function is a few instructions, or loses its constants otherwise.
#define HEADRACE_INLINE [[gnu::always_inline]] inline

/// One copy of the function for all its callers, whatever constants they pass.
#if defined(__clang__)
#define HEADRACE_SHARED [[gnu::noinline]]
#else
#define HEADRACE_SHARED [[gnu::noinline, gnu::noclone]]
#endif

namespace headrace::on_device {

// A core names in `next` the one whose kernels it takes where it has none of its own. A core of one's own
// does so, too: `struct my_npu { using next = native; };`.

/// The cores as values, by which what writes a model asks for kernels, packings and costs.
enum class core_id : unsigned char { portable, dsp, mve };

/// C++ alone, also in constant expressions.
struct portable {
    static constexpr core_id id = core_id::portable;
};
/// Armv7E-M's and Armv8-M's DSP extension: Cortex-M4, M7, M33.
struct dsp {
    static constexpr core_id id = core_id::dsp;
    using next = portable;
};
/// Armv8.1-M's vector extension (Helium): Cortex-M55, M85.
struct mve {
    static constexpr core_id id = core_id::mve;
    using next = dsp;
};

#if defined(__ARM_FEATURE_MVE)
using native = mve;
#elif defined(__ARM_FEATURE_DSP) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
using native = dsp;
#else
using native = portable;  ///< the core that the compiler makes code for
#endif

/// Computes `Op` on `Core`. A specialisation has `run`, which takes pointers to the operands, then to the
/// constants, then to the result, and to scratch memory if `scratch` is not 0. Without one for a core, that
/// of the next core is taken.
template <class Op, class Core>
struct kernel;
/// @cond Doxygen takes it for a recursion without an end.
template <class Op, class Core>
struct kernel : kernel<Op, typename Core::next> {};
/// @endcond

}  // namespace headrace::on_device

#endif
