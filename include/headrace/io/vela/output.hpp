// SPDX-License-Identifier: MIT
// Declares headrace::read_vela_output, which reads the output of Vela's `--output-format raw`: the command
// stream of an Ethos-U NPU, and the memory that it reads and writes.
#ifndef HEADRACE_IO_VELA_OUTPUT_HPP
#define HEADRACE_IO_VELA_OUTPUT_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/io/file/zip_archive.hpp>

namespace headrace {

/// The place of a tensor of the model in the arena.
struct arena_tensor {
    std::uint64_t offset;
    std::uint64_t bytes;
};

/// A compiled model. The driver takes the address of each region by its number: that of the weights, of the
/// arena, and of the faster memory if Vela was told that there is one.
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

namespace vela {

/// The arrays of the archive, by name.
class vela_arrays {
public:
    explicit vela_arrays(const zip_archive& archive) : archive_(archive) {}

    [[nodiscard]] result<std::span<const std::byte>> bytes(const std::string& name) const;

    [[nodiscard]] result<std::vector<std::uint64_t>> integers(const std::string& name) const;

    [[nodiscard]] result<std::uint64_t> integer(const std::string& name) const;

    /// Returns the model's inputs or outputs.
    [[nodiscard]] result<std::vector<arena_tensor>> tensors(
        const std::string& kind, std::uint64_t arena) const;

private:
    [[nodiscard]] result<std::span<const std::byte>> entry(const std::string& name) const;

    const zip_archive& archive_;
};

}  // namespace vela

/// True for an archive, which Vela writes, rather than a flatbuffer.
[[nodiscard]] inline bool is_vela_output(std::span<const std::byte> file) {
    return file.size() >= 4 && std::memcmp(file.data(), "PK\x03\x04", 4) == 0;
}

/// Reads the output of Vela; the result refers to the file's bytes. Errors do not name the file.
[[nodiscard]] result<vela_output> read_vela_output(std::span<const std::byte> file);

}  // namespace headrace

#endif
