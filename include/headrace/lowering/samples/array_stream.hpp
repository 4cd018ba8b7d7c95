// SPDX-License-Identifier: MIT
// Defines headrace::array_stream, which takes arrays from a pipe or from standard input.
#ifndef HEADRACE_LOWERING_SAMPLES_ARRAY_STREAM_HPP
#define HEADRACE_LOWERING_SAMPLES_ARRAY_STREAM_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/io/file/atomic_file.hpp>
#include <headrace/io/file/npy.hpp>
#include <headrace/ir/tensor_meta.hpp>

namespace headrace {

/// Arrays (.npy) that arrive one after another. Each is written to a temporary file as it arrives, since a
/// calibration may read its samples several times; few of its bytes are in memory.
class array_stream {
public:
    /// Type and shape of an array, and where it is in the temporary file.
    struct array {
        headrace::dtype type = dtype::unknown;
        std::vector<std::int64_t> shape;
        std::uint64_t begin = 0;
        std::size_t size = 0;
    };

    /// True for "-", which stands for standard input, and for pipes and devices.
    [[nodiscard]] static bool is_stream(const std::string& path);
    [[nodiscard]] static result<std::shared_ptr<array_stream>> open(const std::string& path);

    /// Waits for an array and keeps it; nothing at the end of the stream. Errors are without the name.
    [[nodiscard]] result<std::optional<array>> next();
    /// Returns an array that was kept; may be called from several threads at once.
    [[nodiscard]] result<npy_array> read(const array& kept) const;
    [[nodiscard]] const std::string& name() const { return name_; }

private:
    struct closer {
        void operator()(std::FILE* file) const {
            if (file != stdin) std::fclose(file);
        }
    };
    using input = std::unique_ptr<std::FILE, closer>;

    array_stream(std::string name, input from, const std::string& kept);

    [[nodiscard]] std::size_t take(std::span<std::byte> to);
    [[nodiscard]] result<void> keep(std::span<const std::byte> bytes);
    [[nodiscard]] result<std::vector<std::byte>> take_head();
    [[nodiscard]] result<void> keep_data(std::uint64_t size);

    std::string name_;
    input from_;
    detail::temporary_file kept_;
    std::uint64_t kept_bytes_ = 0;
};

}  // namespace headrace

#endif
