// SPDX-License-Identifier: MIT
// Declares headrace::read_npy and headrace::write_npy for NumPy's files of one array.
#ifndef HEADRACE_IO_FILE_NPY_HPP
#define HEADRACE_IO_FILE_NPY_HPP

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/ir/tensor_meta.hpp>

namespace headrace {

/// An array in row-major order, little-endian. It can be moved, not copied: a shape of more than six
/// dimensions views `extents`.
struct npy_array {
    tensor_meta meta;
    std::vector<std::byte> data;
    std::vector<std::int64_t> extents;

    npy_array() = default;
    npy_array(dtype type, std::vector<std::int64_t> shape, std::vector<std::byte> bytes);
    npy_array(npy_array&&) = default;
    npy_array& operator=(npy_array&&) = default;
};

namespace detail {

/// The header's text and the data of a file. Errors are without the path.
struct npy_parts {
    std::string_view header;
    std::span<const std::byte> data;
};
[[nodiscard]] result<npy_parts> npy_split(std::span<const std::byte> bytes);

/// Returns the number of bytes before the data, from the first `npy_begin` bytes of a file.
[[nodiscard]] result<std::size_t> npy_head_size(std::span<const std::byte> bytes);
inline constexpr std::size_t npy_begin = 12;

/// Describes the data of a file; `bytes` is their size.
struct npy_layout {
    headrace::dtype type = dtype::unknown;
    std::vector<std::int64_t> shape;
    bool column_major = false;
    std::uint64_t bytes = 0;
};
/// Reads the layout from all bytes before the data.
[[nodiscard]] result<npy_layout> npy_layout_of(std::span<const std::byte> head);

[[nodiscard]] result<npy_array> npy_parse(std::span<const std::byte> bytes, bool with_data = true);

}  // namespace detail

/// Reads an array. Errors begin with the path.
[[nodiscard]] result<npy_array> read_npy(const std::filesystem::path& path);

/// Reads dtype and shape of an array, whose `data` stays empty.
[[nodiscard]] result<npy_array> read_npy_head(const std::filesystem::path& path);

/// Returns a file that holds a row-major array, or an error for a type that NumPy lacks.
[[nodiscard]] result<std::vector<std::byte>> npy_bytes_of(
    const tensor_meta& meta, std::span<const std::byte> data);

/// Writes an array, whose data must be row-major and have the size that its shape requires.
[[nodiscard]] result<void> write_npy(
    const std::filesystem::path& path, const tensor_meta& meta, std::span<const std::byte> data);

}  // namespace headrace

#endif
