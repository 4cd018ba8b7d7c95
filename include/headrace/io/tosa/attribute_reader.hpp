// SPDX-License-Identifier: MIT
// Defines how the attributes of an operator are read from a TOSA flatbuffer.
#ifndef HEADRACE_IO_TOSA_ATTRIBUTE_READER_HPP
#define HEADRACE_IO_TOSA_ATTRIBUTE_READER_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/io/tosa/block_reader.hpp>
#include <headrace/io/tosa/format.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::detail {

/// Reads the attributes of operators. The verifier has checked each table against the schema, and hence the
/// type of each slot.
class tosa_attribute_reader : protected tosa_block_reader {
protected:
    using tosa_block_reader::tosa_block_reader;

    /// An operator while it is read: its arguments, and the operands and lists that they refer to.
    struct opened_operator {
        std::string where;
        std::byte* arguments = nullptr;
        std::vector<value> operands{};
        std::vector<std::vector<std::int64_t>> lists{};
    };

    // Reads any attribute except a region.
    result<void> read_attribute(const flatbuffers::Table& table, flatbuffers::voffset_t slot,
        const field_info& f, opened_operator& o) {
        switch (f.kind) {
            case field_kind::integer:
                tosa_format::member<std::int64_t>(o.arguments, f) = table.GetField<std::int32_t>(slot, 0);
                break;
            case field_kind::boolean:
                tosa_format::member<bool>(o.arguments, f) = table.GetField<std::uint8_t>(slot, 0) != 0;
                break;
            case field_kind::element_type:
            case field_kind::resize:
            case field_kind::nan:
            case field_kind::rounding:
                return read_enumerator(table.GetField<std::uint32_t>(slot, 0), f, o);
            case field_kind::integers:
                return read_integers(table.GetPointer<const flatbuffers::Vector<std::int32_t>*>(slot), f, o);
            case field_kind::number:
                return read_number(table.GetPointer<const flatbuffers::Vector<std::uint8_t>*>(slot), f, o);
            case field_kind::text:
                return read_text(table.GetPointer<const flatbuffers::Vector<std::uint8_t>*>(slot), f, o);
            default:
                break;
        }
        return {};
    }

private:
    static result<void> read_enumerator(std::uint32_t number, const field_info& f, opened_operator& o) {
        const auto no_such = [&] { return malformed({o.where, ": ", f.name, " has no value ", number}); };
        if (f.kind == field_kind::element_type) {
            const dtype type = tosa_format::element_type(number);
            if (number != 0 && type == dtype::unknown) return no_such();
            tosa_format::member<dtype>(o.arguments, f) = type;
            return {};
        }
        const std::uint32_t last = f.kind == field_kind::rounding ? 3 : 2;
        if (number > last) return no_such();
        tosa_format::member<std::uint8_t>(o.arguments, f) = static_cast<std::uint8_t>(number);
        return {};
    }
    result<void> read_integers(
        const flatbuffers::Vector<std::int32_t>* items, const field_info& f, opened_operator& o) {
        if (items == nullptr) return malformed({o.where, ": ", f.name, " is missing"});
        HEADRACE_TRY(spend(items->size()));
        o.lists.emplace_back(items->begin(), items->end());
        tosa_format::member<int_list>(o.arguments, f) = int_list(o.lists.back());
        return {};
    }
    static result<void> read_number(
        const flatbuffers::Vector<std::uint8_t>* bytes, const field_info& f, opened_operator& o) {
        const dtype type = meta_of(o.operands[0])->dtype;
        if (bytes == nullptr || bytes->size() != storage_bytes(type, 1)) {
            return malformed({o.where, ": ", f.name, " is not one number of its operand's type"});
        }
        tosa_format::member<scalar>(o.arguments, f) = tosa_format::decode_element(bytes->data(), type);
        return {};
    }
    // A [ubyte], such as implementation_attrs, differs from a string only in lacking a terminating zero.
    result<void> read_text(
        const flatbuffers::Vector<std::uint8_t>* text, const field_info& f, opened_operator& o) {
        if (text == nullptr) return {};
        HEADRACE_TRY(spend(text->size()));
        tosa_format::member<std::string_view>(o.arguments, f) = {
            reinterpret_cast<const char*>(text->data()), text->size()};
        return {};
    }
};

}  // namespace headrace::detail

#endif
