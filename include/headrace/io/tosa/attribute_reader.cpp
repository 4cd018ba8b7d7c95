// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/tosa/attribute_reader.hpp.

#include <headrace/io/tosa/attribute_reader.hpp>

#include <cstdint>
#include <string_view>

#include <headrace/base/result.hpp>
#include <headrace/io/tosa/block_reader.hpp>
#include <headrace/io/tosa/format.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::tosa_file {

result<void> tosa_attribute_reader::read_attribute(
    const flatbuffers::Table& table, flatbuffers::voffset_t slot, const field_info& f, opened_operator& o) {
    switch (f.kind) {
        case field_kind::integer:
            detail::member_at<std::int64_t>(o.arguments, f) = table.GetField<std::int32_t>(slot, 0);
            break;
        case field_kind::boolean:
            detail::member_at<bool>(o.arguments, f) = table.GetField<std::uint8_t>(slot, 0) != 0;
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

result<void> tosa_attribute_reader::read_enumerator(
    std::uint32_t number, const field_info& f, opened_operator& o) {
    const auto no_such = [&] { return malformed({o.where, ": ", f.name, " has no value ", number}); };
    if (f.kind == field_kind::element_type) {
        const dtype type = tosa_file::element_type(number);
        if (number != 0 && type == dtype::unknown) return no_such();
        detail::member_at<dtype>(o.arguments, f) = type;
        return {};
    }
    const std::uint32_t last = f.kind == field_kind::rounding ? 3 : 2;
    if (number > last) return no_such();
    detail::member_at<std::uint8_t>(o.arguments, f) = static_cast<std::uint8_t>(number);
    return {};
}

result<void> tosa_attribute_reader::read_integers(
    const flatbuffers::Vector<std::int32_t>* items, const field_info& f, opened_operator& o) {
    if (items == nullptr) return malformed({o.where, ": ", f.name, " is missing"});
    HEADRACE_TRY(spend(items->size()));
    o.lists.emplace_back(items->begin(), items->end());
    detail::member_at<int_list>(o.arguments, f) = int_list(o.lists.back());
    return {};
}

result<void> tosa_attribute_reader::read_number(
    const flatbuffers::Vector<std::uint8_t>* bytes, const field_info& f, opened_operator& o) {
    const dtype type = meta_of(o.operands[0])->dtype;
    if (bytes == nullptr || bytes->size() != storage_bytes(type, 1)) {
        return malformed({o.where, ": ", f.name, " is not one number of its operand's type"});
    }
    detail::member_at<scalar>(o.arguments, f) = tosa_file::decode_element(bytes->data(), type);
    return {};
}

result<void> tosa_attribute_reader::read_text(
    const flatbuffers::Vector<std::uint8_t>* text, const field_info& f, opened_operator& o) {
    if (text == nullptr) return {};
    HEADRACE_TRY(spend(text->size()));
    detail::member_at<std::string_view>(o.arguments, f) = {
        reinterpret_cast<const char*>(text->data()), text->size()};
    return {};
}

}  // namespace headrace::tosa_file
