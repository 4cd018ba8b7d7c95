// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pte/file.hpp.

#include <headrace/io/pte/file.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/io/pte/format.hpp>
#include <headrace/io/pte/operators.hpp>
#include <headrace/io/pte/pte_generated.hpp>

namespace headrace {

result<pte_file> pte_file::open(std::span<const std::byte> bytes) {
    using header = pte::extended_header;
    if (!is_pte(bytes)) return malformed("it is not an ExecuTorch program: its identifier is not ET12");
    pte_file f;
    f.bytes_ = bytes;
    std::span<const std::byte> program = bytes;
    const bool has_header = bytes.size() >= header::at + header::bytes - 8 &&
        std::memcmp(bytes.data() + header::at, header::magic.data(), 4) == 0;
    if (has_header) {
        const auto at = bytes.subspan(header::at);
        const auto length = pte::get_little_endian<std::uint32_t>(at.subspan(4));
        const auto program_bytes = pte::get_little_endian<std::uint64_t>(at.subspan(8));
        f.segment_base_ = pte::get_little_endian<std::uint64_t>(at.subspan(16));
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

std::vector<std::string> pte_file::method_names() const {
    std::vector<std::string> names;
    if (program_->methods() == nullptr) return names;
    for (const pte_fb::Method* const m : *program_->methods())
        names.emplace_back(m->name() == nullptr ? "" : m->name()->c_str());
    return names;
}

result<const pte_fb::Method*> pte_file::method(std::string_view name) const {
    const std::vector<std::string> names = method_names();
    const auto found = std::ranges::find(names, name);
    if (name.empty() && names.size() == 1) return program_->methods()->Get(0);
    if (found != names.end())
        return program_->methods()->Get(static_cast<flatbuffers::uoffset_t>(found - names.begin()));
    std::string known;
    for (const std::string& n : names) known += (known.empty() ? "" : ", ") + n;
    return invalid({"name one of its methods: ", known});
}

result<std::span<const std::byte>> pte_file::segment(std::uint32_t number) const {
    if (program_->segments() == nullptr || number >= program_->segments()->size())
        return malformed({"it has no segment ", number});
    const pte_fb::Segment& s = *program_->segments()->Get(number);
    const std::uint64_t room = bytes_.size() - segment_base_;
    if (s.offset() > room || s.size() > room - s.offset())
        return malformed({"segment ", number, " ends past the end of the file"});
    return bytes_.subspan(
        static_cast<std::size_t>(segment_base_ + s.offset()), static_cast<std::size_t>(s.size()));
}

result<std::span<const std::byte>> pte_file::initial_value(
    std::uint32_t number, std::uint64_t size, std::uint64_t list) const {
    const auto* const all = program_->initial_values();
    const bool is_there = all != nullptr && list < all->size();
    return part_of(is_there ? all->Get(static_cast<flatbuffers::uoffset_t>(list)) : nullptr, number, size);
}

result<std::span<const std::byte>> pte_file::delegate(const pte_fb::Delegate& d) const {
    if (d.data() == nullptr) return malformed("a delegate has no data");
    const std::uint32_t number = d.data()->index();
    if (d.data()->location() == pte_fb::DelegateLocation::SEGMENT) return segment(number);
    const auto* const all = program_->inline_delegates();
    if (all == nullptr || number >= all->size() || all->Get(number)->bytes() == nullptr)
        return malformed({"it has no delegate data ", number});
    return std::as_bytes(std::span(all->Get(number)->bytes()->data(), all->Get(number)->bytes()->size()));
}

result<std::span<const std::byte>> pte_file::named_data(std::string_view key) const {
    if (program_->named_data() == nullptr) return std::span<const std::byte>();
    for (const pte_fb::NamedData* const n : *program_->named_data()) {
        if (n->key() != nullptr && n->key()->string_view() == key) return segment(n->segment());
    }
    return std::span<const std::byte>();
}

bool pte_file::needs_external_data(const pte_fb::Method& m) {
    if (m.values() == nullptr) return false;
    return std::any_of(m.values()->begin(), m.values()->end(), [](const pte_fb::Value* v) {
        const pte_fb::Tensor* const t = v->kind_as_Tensor();
        return t != nullptr && pte::is_external(*t);
    });
}

result<std::span<const std::byte>> pte_file::part_of(
    const pte_fb::Offsets* all, std::uint32_t number, std::uint64_t size) const {
    if (all == nullptr || !pte::is_readable(all->offsets()) || number >= all->offsets()->size())
        return malformed({"it has no constant ", number});
    HEADRACE_TRY(bytes, segment(all->segment()));
    const std::uint64_t at = all->offsets()->Get(number);
    if (at > bytes.size() || size > bytes.size() - at)
        return malformed({"constant ", number, " ends past the end of its segment"});
    return bytes.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(size));
}

}  // namespace headrace
