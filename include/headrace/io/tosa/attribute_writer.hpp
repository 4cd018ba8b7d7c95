// SPDX-License-Identifier: MIT
// Defines how the attributes of an operator are written into a TOSA flatbuffer.
#ifndef HEADRACE_IO_TOSA_ATTRIBUTE_WRITER_HPP
#define HEADRACE_IO_TOSA_ATTRIBUTE_WRITER_HPP

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string>
#include <string_view>
#include <unordered_map>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/result.hpp>
#include <headrace/base/text.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/io/tosa/format.hpp>
#include <headrace/io/tosa/names.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::tosa_file {

/// Writes the attribute tables of operators.
class tosa_attribute_writer {
protected:
    using text = flatbuffers::Offset<flatbuffers::String>;
    template <class T>
    using offsets = pmr_vector<flatbuffers::Offset<T>>;

    tosa_attribute_writer(std::size_t bytes, flatbuffers::Allocator* memory) : builder_(bytes, memory) {}

    // Writes the attribute table of an op from its field table; the parts outside the table come first.
    result<flatbuffers::Offset<void>> write_attributes(const op_info& op, const node& n) {
        parts_.assign(op.field_count, {});
        for (std::size_t i = 0; i != op.field_count; ++i) {
            if (!tosa::is_attribute(op, op.fields[i])) continue;
            HEADRACE_TRY(part, write_part(n, op.fields[i]));
            parts_[i] = part;
        }
        const auto start = builder_.StartTable();
        flatbuffers::voffset_t slot = 4;
        for (std::size_t i = 0; i != op.field_count; ++i) {
            if (!tosa::is_attribute(op, op.fields[i])) continue;
            write_slot(slot, n, op.fields[i], parts_[i]);
            slot = static_cast<flatbuffers::voffset_t>(slot + 2);
        }
        return flatbuffers::Offset<void>(builder_.EndTable(start));
    }

    text make_text(std::string_view words) { return builder_.CreateString(words.data(), words.size()); }

    flatbuffers::FlatBufferBuilder builder_;
    unique_names names_;
    pmr_vector<const graph*> pending_;  // regions that are named
    std::pmr::unordered_map<const graph*, std::string_view> region_names_;

private:
    result<flatbuffers::Offset<void>> write_part(const node& n, const field_info& f) {
        switch (f.kind) {
            case field_kind::integers:
                return write_integers(n, f);
            case field_kind::integer: {
                const auto number = detail::member_at<std::int64_t>(n.arguments, f);
                if (number != static_cast<std::int32_t>(number)) return out_of_range(n, f, number);
                return flatbuffers::Offset<void>();
            }
            case field_kind::number: {
                const value input = n.operand(0);
                const tensor_meta* meta = meta_of(input);
                if (meta == nullptr)
                    return invalid({message_prefix(n), "the type of its operand is not known"});
                const auto e =
                    tosa_file::encode_element(detail::member_at<scalar>(n.arguments, f), meta->dtype);
                return builder_.CreateVector(e.bytes.data(), e.size).Union();
            }
            case field_kind::text: {
                const auto words = detail::member_at<std::string_view>(n.arguments, f);
                if (f.name != "implementation_attrs") return make_text(words).Union();
                return builder_
                    .CreateVector(reinterpret_cast<const std::uint8_t*>(words.data()), words.size())
                    .Union();
            }
            case field_kind::region:
                return write_region_name(n, f);
            default:
                return flatbuffers::Offset<void>();
        }
    }

    result<flatbuffers::Offset<void>> write_integers(const node& n, const field_info& f) {
        items_.clear();
        for (const std::int64_t item : detail::member_at<int_list>(n.arguments, f)) {
            items_.push_back(static_cast<std::int32_t>(item));
            if (items_.back() != item) return out_of_range(n, f, item);
        }
        return builder_.CreateVector(items_.data(), items_.size()).Union();
    }
    // The region itself is written later.
    result<flatbuffers::Offset<void>> write_region_name(const node& n, const field_info& f) {
        const graph* region = detail::member_at<graph*>(n.arguments, f);
        if (region == nullptr) return invalid({message_prefix(n), "has no ", f.name});
        const auto [named, is_new] = region_names_.try_emplace(region);
        if (is_new) {
            const std::pmr::string base = "main_" + std::pmr::string(f.name.substr(0, f.name.find('_')));
            named->second = names_.make(base);
            pending_.push_back(region);
        }
        return make_text(named->second).Union();
    }

    void write_slot(
        flatbuffers::voffset_t slot, const node& n, const field_info& f, flatbuffers::Offset<void> part) {
        switch (f.kind) {
            case field_kind::integer:
                builder_.AddElement<std::int32_t>(
                    slot, static_cast<std::int32_t>(detail::member_at<std::int64_t>(n.arguments, f)), 0);
                break;
            case field_kind::boolean:
                builder_.AddElement<std::uint8_t>(slot, detail::member_at<bool>(n.arguments, f) ? 1 : 0, 0);
                break;
            case field_kind::element_type:
                builder_.AddElement<std::uint32_t>(
                    slot, tosa_file::number_of(detail::member_at<dtype>(n.arguments, f)).value_or(0), 0);
                break;
            case field_kind::resize:
            case field_kind::nan:
            case field_kind::rounding:
                builder_.AddElement<std::uint32_t>(slot, detail::member_at<std::uint8_t>(n.arguments, f), 0);
                break;
            default:
                builder_.AddOffset(slot, part);
        }
    }

    static error out_of_range(const node& n, const field_info& f, std::int64_t item) {
        return unsupported({message_prefix(n), f.name, " has ", item, ", which TOSA 1.0 cannot hold"});
    }

    // Parts of the table that is being written; the next table reuses their memory.
    pmr_vector<flatbuffers::Offset<void>> parts_;
    pmr_vector<std::int32_t> items_;
};

}  // namespace headrace::tosa_file

#endif
