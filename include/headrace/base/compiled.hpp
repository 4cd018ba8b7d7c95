// SPDX-License-Identifier: MIT
// Defines HEADRACE_INLINE, for functions compiled where they are used or, with headrace::compiled, only once.
#ifndef HEADRACE_BASE_COMPILED_HPP
#define HEADRACE_BASE_COMPILED_HPP

#ifdef HEADRACE_COMPILED
#define HEADRACE_INLINE
#else
#define HEADRACE_INLINE inline
#endif

#endif
