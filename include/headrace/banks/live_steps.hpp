// SPDX-License-Identifier: MIT
// Declares headrace::keep_live_steps, which removes steps that no packing of blocks depends on.
#ifndef HEADRACE_BANKS_LIVE_STEPS_HPP
#define HEADRACE_BANKS_LIVE_STEPS_HPP

#include <cstdint>
#include <vector>

#include <headrace/memory/block_packer.hpp>

namespace headrace {

/// Numbers steps anew, of which it keeps those at which a block begins: what is live at another is live at
/// one of these, too. Returns the live bytes of each step.
std::vector<std::uint64_t> keep_live_steps(std::vector<detail::memory_block>& blocks);

}  // namespace headrace

#endif
