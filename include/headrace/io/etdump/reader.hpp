// SPDX-License-Identifier: MIT
// Declares headrace::read_etdump, which reads what ExecuTorch's runtime recorded of an inference.
#ifndef HEADRACE_IO_ETDUMP_READER_HPP
#define HEADRACE_IO_ETDUMP_READER_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <headrace/base/dtype.hpp>
#include <headrace/base/result.hpp>

namespace headrace {

/// A tensor that an instruction of the .pte file wrote.
struct etdump_tensor {
    std::uint32_t instruction = 0;
    std::uint32_t result = 0;  ///< among those of the instruction
    dtype type = dtype::unknown;
    std::uint64_t offset = 0;  ///< in the debug buffer
    std::span<const std::byte> bytes{};
};

/// The time of an instruction, in the ticks of the runtime's clock: nanoseconds, unless the port of the
/// runtime has another one.
struct etdump_time {
    std::uint32_t instruction = 0;
    std::uint64_t ticks = 0;
};

struct etdump {
    std::vector<etdump_tensor> tensors{};
    std::vector<etdump_time> times{};
};

[[nodiscard]] bool is_etdump(std::span<const std::byte> file);

/// Reads the last inference of an etdump. `buffer` is the debug buffer with the tensors, which views keep; it
/// may be empty, and there are no tensors then. Events inside of delegates are left out. The files may be
/// untrusted. An error says what is wrong, and with a tensor, of which instruction.
[[nodiscard]] result<etdump> read_etdump(std::span<const std::byte> file, std::span<const std::byte> buffer);

}  // namespace headrace

#endif
