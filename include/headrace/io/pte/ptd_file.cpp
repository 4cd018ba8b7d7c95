// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pte/ptd_file.hpp.

#include <headrace/io/pte/ptd_file.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include <headrace/base/printable.hpp>
#include <headrace/base/result.hpp>
#include <headrace/io/pte/format.hpp>
#include <headrace/io/pte/ptd_generated.hpp>
#include <headrace/ir/tensor_meta.hpp>

namespace headrace {

result<ptd_file> ptd_file::open(std::span<const std::byte> bytes) {
    using pte::get_little_endian;
    if (!is_ptd(bytes)) return malformed("it has no external data: its identifier is not FT01");
    // After the identifier: a magic number, the header's length, the offset and length of the rest of the
    // flatbuffer, and the offset and length of the segments.
    constexpr std::size_t header_at = 8;
    constexpr std::size_t header_bytes = 40;
    if (bytes.size() < header_at + header_bytes || std::memcmp(bytes.data() + header_at, "FH01", 4) != 0)
        return malformed("its header is missing; the file may be cut off");
    const auto header = bytes.subspan(header_at, header_bytes);
    const std::uint64_t base = get_little_endian<std::uint64_t>(header.subspan(24));
    const std::uint64_t data_bytes = get_little_endian<std::uint64_t>(header.subspan(32));
    if (get_little_endian<std::uint32_t>(header.subspan(4)) < header_bytes || base > bytes.size() ||
        base < header_at + header_bytes || data_bytes > bytes.size() - base)
        return malformed("its header is for a longer file; it may be cut off");
    const auto tables = bytes.first(static_cast<std::size_t>(base));
    flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(tables.data()), tables.size());
    if (!ptd_fb::VerifyFlatTensorBuffer(verifier))
        return malformed("its flatbuffer is not sound; the file may be damaged");
    ptd_file f;
    f.data_ = bytes.subspan(static_cast<std::size_t>(base));
    f.tables_ = ptd_fb::GetFlatTensor(bytes.data());
    if (f.tables_->version() != 0) return unsupported("its schema is newer than version 0");
    return f;
}

result<std::span<const std::byte>> ptd_file::tensor(std::string_view name, const tensor_meta& meta) const {
    HEADRACE_TRY(entry, find(name));
    const std::pmr::string called = "tensor '" + printable(name) + "'";
    if (entry->layout() == nullptr || !has_layout(*entry->layout(), meta))
        return malformed({called, " has another type or shape there than in the program"});
    const auto* const segments = tables_->segments();
    if (segments == nullptr || entry->segment() >= segments->size())
        return malformed({"it has no segment ", entry->segment()});
    const ptd_fb::Segment& s = *segments->Get(entry->segment());
    if (s.offset() > data_.size() || s.size() > data_.size() - s.offset())
        return malformed({"segment ", entry->segment(), " ends behind the file"});
    const std::uint64_t size = packed_bytes(meta);
    if (s.size() < size) return malformed({called, " has fewer bytes there than its shape needs"});
    return data_.subspan(static_cast<std::size_t>(s.offset()), static_cast<std::size_t>(size));
}

result<const ptd_fb::NamedData*> ptd_file::find(std::string_view name) const {
    if (tables_->named_data() != nullptr) {
        for (const ptd_fb::NamedData* const n : *tables_->named_data()) {
            if (n->key() != nullptr && n->key()->string_view() == name) return n;
        }
    }
    return malformed(
        {"the external data has no tensor '", printable(name), "'; it may be that of another program"});
}

bool ptd_file::has_layout(const ptd_fb::Layout& l, const tensor_meta& meta) {
    if (pte::dtype_of(l.scalar_type()) != meta.dtype || l.sizes() == nullptr || l.dim_order() == nullptr ||
        l.dim_order()->size() != meta.rank())
        return false;
    for (std::uint32_t i = 0; i != l.dim_order()->size(); ++i) {
        if (l.dim_order()->Get(i) != i) return false;
    }
    return std::equal(l.sizes()->begin(), l.sizes()->end(), meta.shape.begin(), meta.shape.end());
}

}  // namespace headrace
