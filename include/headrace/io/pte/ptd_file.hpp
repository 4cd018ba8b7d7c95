// SPDX-License-Identifier: MIT
// Defines headrace::ptd_file, a .ptd file: the tensors that a .pte file keeps outside itself.
#ifndef HEADRACE_IO_PTE_PTD_FILE_HPP
#define HEADRACE_IO_PTE_PTD_FILE_HPP

#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

#include <headrace/base/result.hpp>
#include <headrace/io/pte/ptd_generated.hpp>
#include <headrace/ir/tensor_meta.hpp>

namespace headrace {

/// A view of a file's bytes, which must outlive it. The bytes may be untrusted.
class ptd_file {
public:
    [[nodiscard]] static bool is_ptd(std::span<const std::byte> bytes) {
        return bytes.size() >= 8 && std::memcmp(bytes.data() + 4, ptd_fb::FlatTensorIdentifier(), 4) == 0;
    }

    /// Fails with `malformed` if the file is cut off or its flatbuffer is malformed. The bytes must be
    /// aligned to 16, as in mapped files.
    [[nodiscard]] static result<ptd_file> open(std::span<const std::byte> bytes);

    /// Returns the elements of a tensor in row-major order; it must have that type and shape in the file.
    [[nodiscard]] result<std::span<const std::byte>> tensor(
        std::string_view name, const tensor_meta& meta) const;

private:
    [[nodiscard]] result<const ptd_fb::NamedData*> find(std::string_view name) const;
    [[nodiscard]] static bool has_layout(const ptd_fb::Layout& l, const tensor_meta& meta);

    std::span<const std::byte> data_;
    const ptd_fb::FlatTensor* tables_ = nullptr;
};

}  // namespace headrace

#endif
