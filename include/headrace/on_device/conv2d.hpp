// SPDX-License-Identifier: MIT
// Includes the kernels of portable/conv2d.hpp and those that the instructions of the core allow instead.
#ifndef HEADRACE_ON_DEVICE_CONV2D_HPP
#define HEADRACE_ON_DEVICE_CONV2D_HPP

#include <headrace/on_device/portable/conv2d.hpp>
#if defined(__ARM_FEATURE_DSP) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
#include <headrace/on_device/dsp/conv2d.hpp>
#endif
#if defined(__ARM_FEATURE_MVE)
#include <headrace/on_device/mve/conv2d.hpp>
#endif

#endif
