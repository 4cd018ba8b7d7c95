// SPDX-License-Identifier: MIT
// What Vela writes with `--output-format raw`: the command stream of an Ethos-U NPU and what it reads and
// writes.
#ifndef HEADRACE_EXAMPLES_CLI_VELA_OUTPUT_HPP
#define HEADRACE_EXAMPLES_CLI_VELA_OUTPUT_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <headrace/base/error.hpp>

namespace headrace::cli {

/// Where a tensor of the model lies in the arena.
struct arena_tensor {
    std::uint64_t offset;
    std::uint64_t bytes;
};

/// The driver is given the addresses of regions by number: constants, the arena, and where Vela was told of
/// one the faster memory.
struct vela_output {
    std::span<const std::byte> commands;  ///< in the file's bytes
    std::span<const std::byte> weights;
    std::uint64_t weights_region = 0;
    std::uint64_t arena_bytes = 0;
    std::uint64_t arena_region = 0;
    std::uint64_t fast_arena_bytes = 0;
    std::uint64_t fast_arena_region = 0;
    std::vector<arena_tensor> inputs;
    std::vector<arena_tensor> outputs;
};

/// Is it an archive, as Vela writes one, and no flatbuffer?
[[nodiscard]] bool is_vela_output(std::span<const std::byte> file);

/// Errors are without the path.
[[nodiscard]] result<vela_output> read_vela_output(std::span<const std::byte> file);

}  // namespace headrace::cli

#endif
