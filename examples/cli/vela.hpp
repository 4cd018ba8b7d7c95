// SPDX-License-Identifier: MIT
// Delegates for Ethos-U NPUs, which Arm's compiler Vela makes of TOSA flatbuffers.
#ifndef HEADRACE_EXAMPLES_CLI_VELA_HPP
#define HEADRACE_EXAMPLES_CLI_VELA_HPP

#include <string>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/base/target_spec.hpp>
#include <headrace/io/atomic_file.hpp>
#include <headrace/io/vela_figures.hpp>
#include <headrace/lowering/lower_pte.hpp>

namespace headrace::cli {

/// The configurations of accelerators that Vela knows.
[[nodiscard]] std::vector<std::string> accelerators();

/// Is that a configuration of an accelerator, such as ethos-u55-128?
[[nodiscard]] bool is_accelerator(const std::string& delegate);

/// What the flatbuffers of its delegates may consist of.
[[nodiscard]] target_spec target_of_accelerator(const std::string& delegate);

/// What Vela estimates that a flatbuffer costs, and its figures by layer as it wrote them.
struct vela_estimate {
    vela_figures figures;
    std::string per_layer;  ///< comma-separated values
};
[[nodiscard]] result<vela_estimate> estimate_by_vela(const std::string& vela, const std::string& accelerator,
                                                     const byte_source& flatbuffer);

/// Runs Vela, a program in the path or a path to it, for each delegate.
[[nodiscard]] delegate_compiler compile_by_vela(std::string vela, std::string accelerator);

}  // namespace headrace::cli

#endif
