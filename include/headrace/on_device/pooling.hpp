// SPDX-License-Identifier: MIT
// Includes the kernels of portable/pooling.hpp and those that the instructions of the core allow instead.
#ifndef HEADRACE_ON_DEVICE_POOLING_HPP
#define HEADRACE_ON_DEVICE_POOLING_HPP

#include <headrace/on_device/portable/pooling.hpp>
#if defined(__ARM_FEATURE_DSP) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
#include <headrace/on_device/dsp/pooling.hpp>
#endif
#if defined(__ARM_FEATURE_MVE)
#include <headrace/on_device/mve/pooling.hpp>
#endif

#endif
