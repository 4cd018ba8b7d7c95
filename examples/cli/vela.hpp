// SPDX-License-Identifier: MIT
// Delegates for Ethos-U NPUs, which Arm's compiler Vela makes of TOSA flatbuffers.
#ifndef HEADRACE_EXAMPLES_CLI_VELA_HPP
#define HEADRACE_EXAMPLES_CLI_VELA_HPP

#include <string>

#include <headrace/base/error.hpp>
#include <headrace/base/target_spec.hpp>
#include <headrace/lowering/lower_pte.hpp>

namespace headrace::cli {

/// Is that a configuration of an accelerator, such as ethos-u55-128?
[[nodiscard]] bool is_accelerator(const std::string& delegate);

/// What the flatbuffers of its delegates may consist of.
[[nodiscard]] target_spec target_of_accelerator(const std::string& delegate);

/// Runs Vela, a program in the path or a path to it, for each delegate.
[[nodiscard]] delegate_compiler compile_by_vela(std::string vela, std::string accelerator);

}  // namespace headrace::cli

#endif
