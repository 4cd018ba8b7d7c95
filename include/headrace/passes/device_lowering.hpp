// SPDX-License-Identifier: MIT
// Defines headrace::device_lowering, the pipeline from TOSA to the layers of a microcontroller.
#ifndef HEADRACE_PASSES_DEVICE_LOWERING_HPP
#define HEADRACE_PASSES_DEVICE_LOWERING_HPP

#include <headrace/pass/pipeline.hpp>
#include <headrace/passes/device/fuse_layers.hpp>
#include <headrace/passes/device/split_expansions.hpp>
#include <headrace/passes/fold/redundancies.hpp>

namespace headrace {

/// All of TOSA except CUSTOM, whose meaning only its author knows, and CONST, which graphs hold as constants.
struct device_source {
    static constexpr auto set = every_op<tosa::dialect> - ops_in<tosa::custom, tosa::const_>;
};

/// The pipeline to `Legal`, the layers and operators that have a kernel.
template <class Legal>
struct device_lowering : pipeline<from<device_source>, to<Legal>, fold_padding, outline_layers, fuse_layers,
                             split_expansions, remove_dead_code> {};

}  // namespace headrace

#endif
