// SPDX-License-Identifier: MIT
// Declares headrace::firmware::plan_buffers.
#ifndef HEADRACE_FIRMWARE_PLAN_HPP
#define HEADRACE_FIRMWARE_PLAN_HPP

#include <cstdint>
#include <span>

#include <headrace/firmware/layers.hpp>

namespace headrace::firmware {

struct arena_figures {
    std::int64_t bytes = 0;        ///< the end of the buffer that lies highest
    std::int64_t fullest = 0;      ///< the layer at which most bytes are in use
    std::int64_t lower_bound = 0;  ///< what lives at the fullest layer
    std::int64_t state_bytes = 0;  ///< beside the arena
};

/// Gives each buffer its offset, a multiple of 16 bytes, by the planner of headrace::memory_plan.
arena_figures plan_buffers(std::span<planned_buffer> buffers);

}  // namespace headrace::firmware

#endif
