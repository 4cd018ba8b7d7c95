// SPDX-License-Identifier: MIT
// Prints the field tables of the dialects that PyTorch or ExecuTorch defines, for schemas.py to compare.
// Tab-separated, one line per field: op, results, field, kind, optional, default. An op without fields has one line
// that ends after its results. Then one line per op: op, "traits", its base, the name of its out-variant, traits.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/cortex_m.hpp>
#include <headrace/dialect/dim_order_ops.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/memory/out_variant.hpp>

namespace {

using namespace headrace;

std::string_view name_of(field_kind kind) {
    switch (kind) {
        case field_kind::tensor:
            return "tensor";
        case field_kind::tensors:
            return "tensors";
        case field_kind::optional_tensors:
            return "optional_tensors";
        case field_kind::integer:
            return "integer";
        case field_kind::integers:
            return "integers";
        case field_kind::floating:
            return "floating";
        case field_kind::floatings:
            return "floatings";
        case field_kind::boolean:
            return "boolean";
        case field_kind::number:
            return "number";
        case field_kind::text:
            return "text";
        case field_kind::element_type:
            return "element_type";
        case field_kind::format:
            return "format";
        case field_kind::region:
            return "region";
        default:
            return "other";
    }
}

std::string text_of(double v) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.17g", v);
    std::string text = buffer;
    if (text.find_first_of(".eni") == std::string::npos) text += ".0";  // a Python float, not an int
    return text;
}

template <class T>
std::string text_of_list(const T& items) {
    std::string text;
    for (const auto item : items) text += (text.empty() ? "" : ",") + std::to_string(item);
    return "[" + text + "]";
}

template <class T>
const T* held(const void* member, bool optional) {
    if (!optional) return static_cast<const T*>(member);
    const auto& o = *static_cast<const std::optional<T>*>(member);
    return o ? &*o : nullptr;
}

template <class T, class Print>
std::string print(const void* member, bool optional, Print text) {
    const T* value = held<T>(member, optional);
    return value ? text(*value) : "None";
}

std::string default_of(const op_info& op, const field_info& field) {
    const void* member = static_cast<const std::byte*>(op.default_args) + field.offset;
    const bool o = field.optional;
    switch (field.kind) {
        case field_kind::integer:
            return print<std::int64_t>(member, o, [](auto v) { return std::to_string(v); });
        case field_kind::integers:
            return print<int_list>(member, o, [](const auto& v) { return text_of_list(v); });
        case field_kind::floating:
            return print<double>(member, o, text_of);
        case field_kind::floatings:
            return print<list<double>>(member, o, [](const auto& v) { return text_of_list(v); });
        case field_kind::boolean:
            return print<bool>(member, o, [](bool v) { return std::string(v ? "True" : "False"); });
        case field_kind::number:
            return print<scalar>(member, o, [](scalar v) {
                if (v.kind() == scalar::kind_type::boolean) return std::string(v.to_int() ? "True" : "False");
                return v.is_floating() ? text_of(v.to_double()) : std::to_string(v.to_int());
            });
        case field_kind::text:
            return print<std::string_view>(member, o, [](auto v) { return std::string(v); });
        case field_kind::element_type:
            return print<dtype>(member, o, [](dtype v) { return std::string(headrace::name_of(v)); });
        case field_kind::format:
            return print<memory_format>(
                member, o, [](memory_format v) { return std::to_string(static_cast<int>(v)); });
        case field_kind::tensor:
            return print<value>(member, o, [](auto) { return std::string("-"); });
        default:
            return "-";
    }
}

// Only traits that PyTorch's schemas and results can confirm.
constexpr std::pair<trait, const char*> checked_traits[] = {{trait::in_place, "in_place"},
    {trait::aliasing, "aliasing"}, {trait::like_self, "like_self"}, {trait::int_to_float, "int_to_float"},
    {trait::predicate, "predicate"}, {trait::copied_view, "copied_view"}, {trait::unary, "unary"},
    {trait::binary, "binary"}};

void dump_traits(const op_info& op, std::string_view out_name) {
    std::printf("%s\ttraits\t%s\t%s\t", std::string(op.name).c_str(),
        op.base == nullptr ? "" : std::string(op.base->name).c_str(), std::string(out_name).c_str());
    for (const auto& [bit, name] : checked_traits) {
        if (op.has(bit)) std::printf("%s ", name);
    }
    std::printf("\n");
}

template <class Op>
constexpr std::string_view out_name() {
    if constexpr (has_trait<Op>(trait::has_out)) {
        return info_of<out::variant<Op>>.name;
    } else {
        return {};
    }
}

template <class... Ops>
void dump_traits_of(ops<Ops...>) {
    constexpr std::pair<const op_info*, std::string_view> table[] = {{&info_of<Ops>, out_name<Ops>()}...};
    for (const auto& [op, name] : table) dump_traits(*op, name);
}

template <class Dialect>
void dump() {
    for (const op_info* op : op_table<Dialect>) {
        const std::string head = std::string(op->name) + "\t" + std::to_string(op->results);
        if (op->field_count == 0) std::printf("%s\n", head.c_str());
        for (const field_info& field : *op) {
            std::printf("%s\t%s\t%s\t%d\t%s\n", head.c_str(), std::string(field.name).c_str(),
                std::string(name_of(field.kind)).c_str(), field.optional ? 1 : 0,
                default_of(*op, field).c_str());
        }
    }
    dump_traits_of(typename Dialect::all_ops{});
}

}  // namespace

int main() {
    dump<aten::dialect>();
    dump<quantized_decomposed::dialect>();
    dump<dim_order_ops::dialect>();
    dump<cortex_m::dialect>();
    dump<higher_order::dialect>();
}
