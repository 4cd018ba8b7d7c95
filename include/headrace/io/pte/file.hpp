// SPDX-License-Identifier: MIT
// Defines headrace::pte_file, a .pte file whose flatbuffer has been verified.
#ifndef HEADRACE_IO_PTE_FILE_HPP
#define HEADRACE_IO_PTE_FILE_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/base/text.hpp>
#include <headrace/io/pte/format.hpp>
#include <headrace/io/pte/operators.hpp>
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
    [[nodiscard]] static result<pte_file> open(std::span<const std::byte> bytes) {
        using header = detail::pte::extended_header;
        if (!is_pte(bytes)) return malformed("it is not an ExecuTorch program: its identifier is not ET12");
        pte_file f;
        f.bytes_ = bytes;
        std::span<const std::byte> program = bytes;
        const bool has_header = bytes.size() >= header::at + header::bytes - 8 &&
            std::memcmp(bytes.data() + header::at, header::magic.data(), 4) == 0;
        if (has_header) {
            const auto at = bytes.subspan(header::at);
            const auto length = detail::pte::get_little_endian<std::uint32_t>(at.subspan(4));
            const auto program_bytes = detail::pte::get_little_endian<std::uint64_t>(at.subspan(8));
            f.segment_base_ = detail::pte::get_little_endian<std::uint64_t>(at.subspan(16));
            if (length < 24 || program_bytes > bytes.size() || f.segment_base_ > bytes.size())
                return malformed("its header is for a longer file; it may be cut off");
            program = bytes.first(static_cast<std::size_t>(program_bytes));
        }
        flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(program.data()), program.size());
        if (!pte_fb::VerifyProgramBuffer(verifier))
            return malformed("its flatbuffer is malformed; the file may be damaged");
        f.program_bytes_ = program.size();
        f.program_ = pte_fb::GetProgram(program.data());
        if (f.program_->version() != 0) return unsupported("its schema is newer than version 0");
        return f;
    }

    [[nodiscard]] const pte_fb::Program& program() const { return *program_; }

    /// Returns the size of the flatbuffer in bytes.
    [[nodiscard]] std::uint64_t program_bytes() const { return program_bytes_; }

    [[nodiscard]] std::vector<std::string> method_names() const {
        std::vector<std::string> names;
        if (program_->methods() == nullptr) return names;
        for (const pte_fb::Method* const m : *program_->methods())
            names.emplace_back(m->name() == nullptr ? "" : m->name()->c_str());
        return names;
    }
    /// Returns the method of that name; the only one if the name is empty.
    [[nodiscard]] result<const pte_fb::Method*> method(std::string_view name) const {
        const std::vector<std::string> names = method_names();
        const auto found = std::ranges::find(names, name);
        if (name.empty() && names.size() == 1) return program_->methods()->Get(0);
        if (found != names.end())
            return program_->methods()->Get(static_cast<flatbuffers::uoffset_t>(found - names.begin()));
        std::string known;
        for (const std::string& n : names) known += (known.empty() ? "" : ", ") + n;
        return invalid({"name one of its methods: ", known});
    }

    /// Returns the bytes of a segment, up to its end.
    [[nodiscard]] result<std::span<const std::byte>> segment(std::uint32_t number) const {
        if (program_->segments() == nullptr || number >= program_->segments()->size())
            return malformed({"it has no segment ", number});
        const pte_fb::Segment& s = *program_->segments()->Get(number);
        const std::uint64_t room = bytes_.size() - segment_base_;
        if (s.offset() > room || s.size() > room - s.offset())
            return malformed({"segment ", number, " ends past the end of the file"});
        return bytes_.subspan(
            static_cast<std::size_t>(segment_base_ + s.offset()), static_cast<std::size_t>(s.size()));
    }
    /// Returns the first `size` bytes of a constant; constants are numbered from 1.
    [[nodiscard]] result<std::span<const std::byte>> constant(
        std::uint32_t number, std::uint64_t size) const {
        return part_of(program_->constants(), number, size);
    }
    /// Returns the first `size` bytes of a state's initial value.
    [[nodiscard]] result<std::span<const std::byte>> initial_value(
        std::uint32_t number, std::uint64_t size) const {
        const auto* const all = program_->initial_values();
        return part_of(all == nullptr || all->size() == 0 ? nullptr : all->Get(0), number, size);
    }

    /// Returns the data of a delegate, for its backend.
    [[nodiscard]] result<std::span<const std::byte>> delegate(const pte_fb::Delegate& d) const {
        if (d.data() == nullptr) return malformed("a delegate has no data");
        const std::uint32_t number = d.data()->index();
        if (d.data()->location() == pte_fb::DelegateLocation::SEGMENT) return segment(number);
        const auto* const all = program_->inline_delegates();
        if (all == nullptr || number >= all->size() || all->Get(number)->bytes() == nullptr)
            return malformed({"it has no delegate data ", number});
        return std::as_bytes(std::span(all->Get(number)->bytes()->data(), all->Get(number)->bytes()->size()));
    }
    /// Returns the segment that backends request by that name; empty if there is none.
    [[nodiscard]] result<std::span<const std::byte>> named_data(std::string_view key) const {
        if (program_->named_data() == nullptr) return std::span<const std::byte>();
        for (const pte_fb::NamedData* const n : *program_->named_data()) {
            if (n->key() != nullptr && n->key()->string_view() == key) return segment(n->segment());
        }
        return std::span<const std::byte>();
    }

    /// Sets the file of external constants, which must outlive this object.
    void attach(const ptd_file& data) { external_ = &data; }
    [[nodiscard]] const ptd_file* external_data() const { return external_; }
    /// True if a method has tensors in another file.
    [[nodiscard]] static bool needs_external_data(const pte_fb::Method& m) {
        if (m.values() == nullptr) return false;
        return std::any_of(m.values()->begin(), m.values()->end(), [](const pte_fb::Value* v) {
            const pte_fb::Tensor* const t = v->kind_as_Tensor();
            return t != nullptr && detail::pte::is_external(*t);
        });
    }

    /// Returns the size of the file in bytes.
    [[nodiscard]] std::uint64_t size() const { return bytes_.size(); }

private:
    [[nodiscard]] result<std::span<const std::byte>> part_of(
        const pte_fb::Offsets* all, std::uint32_t number, std::uint64_t size) const {
        if (all == nullptr || !detail::pte::is_readable(all->offsets()) || number >= all->offsets()->size())
            return malformed({"it has no constant ", number});
        HEADRACE_TRY(bytes, segment(all->segment()));
        const std::uint64_t at = all->offsets()->Get(number);
        if (at > bytes.size() || size > bytes.size() - at)
            return malformed({"constant ", number, " ends past the end of its segment"});
        return bytes.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(size));
    }

    std::span<const std::byte> bytes_;
    const pte_fb::Program* program_ = nullptr;
    const ptd_file* external_ = nullptr;
    std::uint64_t program_bytes_ = 0;
    std::uint64_t segment_base_ = 0;
};

}  // namespace headrace

#endif
