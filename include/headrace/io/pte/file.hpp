// SPDX-License-Identifier: MIT
// Defines headrace::pte_file, a .pte file whose flatbuffer has been verified.
#ifndef HEADRACE_IO_PTE_FILE_HPP
#define HEADRACE_IO_PTE_FILE_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/io/pte/ptd_file.hpp>
#include <headrace/io/pte/pte_generated.hpp>

namespace headrace {

/// A view of a file's bytes, which must outlive it. Every table can be read; numbers in them that refer to
/// something must be checked where they are used.
class pte_file {
public:
    [[nodiscard]] static bool is_pte(std::span<const std::byte> bytes) {
        return bytes.size() >= 8 && std::memcmp(bytes.data() + 4, pte_fb::ProgramIdentifier(), 4) == 0;
    }

    /// Fails with `malformed` if the file is cut off or its flatbuffer is malformed. The bytes must be
    /// aligned to 16, as in mapped files.
    [[nodiscard]] static result<pte_file> open(std::span<const std::byte> bytes);

    [[nodiscard]] const pte_fb::Program& program() const { return *program_; }

    /// Returns the size of the flatbuffer in bytes.
    [[nodiscard]] std::uint64_t program_bytes() const { return program_bytes_; }

    [[nodiscard]] std::vector<std::string> method_names() const;
    /// Returns the method of that name; the only one if the name is empty.
    [[nodiscard]] result<const pte_fb::Method*> method(std::string_view name) const;

    /// Returns the bytes of a segment, up to its end.
    [[nodiscard]] result<std::span<const std::byte>> segment(std::uint32_t number) const;
    /// Returns the first `size` bytes of a constant; constants are numbered from 1.
    [[nodiscard]] result<std::span<const std::byte>> constant(
        std::uint32_t number, std::uint64_t size) const {
        return part_of(program_->constants(), number, size);
    }
    /// Returns the first `size` bytes of a state's initial value, in one of the lists of such values.
    [[nodiscard]] result<std::span<const std::byte>> initial_value(
        std::uint32_t number, std::uint64_t size, std::uint64_t list = 0) const;

    /// Returns the data of a delegate, for its backend.
    [[nodiscard]] result<std::span<const std::byte>> delegate(const pte_fb::Delegate& d) const;
    /// Returns the segment that backends request by that name; empty if there is none.
    [[nodiscard]] result<std::span<const std::byte>> named_data(std::string_view key) const;

    /// Sets the file of external constants, which must outlive this object.
    void attach(const ptd_file& data) { external_ = &data; }
    [[nodiscard]] const ptd_file* external_data() const { return external_; }
    /// True if a method has tensors in another file.
    [[nodiscard]] static bool needs_external_data(const pte_fb::Method& m);

    /// Returns the size of the file in bytes.
    [[nodiscard]] std::uint64_t size() const { return bytes_.size(); }

private:
    [[nodiscard]] result<std::span<const std::byte>> part_of(
        const pte_fb::Offsets* all, std::uint32_t number, std::uint64_t size) const;

    std::span<const std::byte> bytes_;
    const pte_fb::Program* program_ = nullptr;
    const ptd_file* external_ = nullptr;
    std::uint64_t program_bytes_ = 0;
    std::uint64_t segment_base_ = 0;
};

}  // namespace headrace

#endif
