// SPDX-License-Identifier: MIT
// Includes the kernels of portable/elementwise.hpp and those that the instructions of the core allow instead.
#ifndef HEADRACE_ON_DEVICE_ELEMENTWISE_HPP
#define HEADRACE_ON_DEVICE_ELEMENTWISE_HPP

#include <headrace/on_device/portable/elementwise.hpp>
#if defined(__ARM_FEATURE_MVE)
#include <headrace/on_device/mve/elementwise.hpp>
#endif

#endif
