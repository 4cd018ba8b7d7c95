// SPDX-License-Identifier: MIT
// Delegates for Ethos-U NPUs, which Arm's compiler Vela generates from TOSA flatbuffers.
#ifndef HEADRACE_EXAMPLES_CLI_VELA_HPP
#define HEADRACE_EXAMPLES_CLI_VELA_HPP

#include <optional>
#include <string>
#include <vector>

#include <headrace/banks/memory_map.hpp>
#include <headrace/base/result.hpp>
#include <headrace/base/target_spec.hpp>
#include <headrace/io/file/atomic_file.hpp>
#include <headrace/io/vela/figures.hpp>
#include <headrace/lowering/lower_pte.hpp>

namespace headrace::cli {

/// Returns the configurations of accelerators that Vela knows.
[[nodiscard]] std::vector<std::string> accelerators();

/// True for a configuration of an accelerator, such as ethos-u55-128.
[[nodiscard]] bool is_accelerator(const std::string& delegate);

/// Returns the target for the flatbuffers of its delegates.
[[nodiscard]] target_spec target_of_accelerator(const std::string& delegate);

/// Says, unless the program is quiet, that a target which the user has given is not that of the accelerator.
void hint_at_accelerator(const std::string& accelerator, const std::optional<target_spec>& given);

/// Vela's estimate for a flatbuffer, and its figures by layer as Vela wrote them.
struct vela_estimate {
    vela_figures figures;
    std::string per_layer;  ///< comma-separated values
};
[[nodiscard]] result<vela_estimate> estimate_by_vela(const std::string& vela, const std::string& accelerator,
    const byte_source& flatbuffer, const std::optional<memory_map>& memory = {});

/// Returns what Vela says that its version is, such as 5.2.0; empty if it says none.
[[nodiscard]] std::string version_of_vela(const std::string& vela);

/// Runs Vela, a program in the path or a path to it, for each delegate. With a memory map it is told the banks
/// of the board, and an arena that the bank does not hold is an error.
[[nodiscard]] delegate_compiler compile_by_vela(
    std::string vela, std::string accelerator, std::optional<memory_map> memory = {});

}  // namespace headrace::cli

#endif
