// SPDX-License-Identifier: MIT
// Files in Arm's VGF, and delegates for it, which Arm's converter generates from TOSA flatbuffers.
#ifndef HEADRACE_EXAMPLES_CLI_VGF_HPP
#define HEADRACE_EXAMPLES_CLI_VGF_HPP

#include <cstddef>
#include <string>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/io/file/atomic_file.hpp>
#include <headrace/lowering/lower_pte.hpp>

namespace headrace::cli {

/// The name of delegates for ExecuTorch's VGF backend, which runs them by Vulkan.
inline constexpr const char* vgf_delegate = "vgf";

/// True if the path's extension is that of VGF.
[[nodiscard]] bool is_vgf_path(const std::string& path);

/// Converts a TOSA flatbuffer by Arm's model-converter (https://pypi.org/project/ai-ml-sdk-model-converter), a
/// program in the path or a path to it; empty: model-converter from the path.
[[nodiscard]] result<std::vector<std::byte>> convert_to_vgf(
    const std::string& converter, const byte_source& flatbuffer);

/// Converts each delegate likewise.
[[nodiscard]] delegate_compiler compile_to_vgf(std::string converter);

}  // namespace headrace::cli

#endif
