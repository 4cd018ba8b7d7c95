// SPDX-License-Identifier: MIT
// Defines how ops are named in C++, for headrace::contract_text.
#ifndef HEADRACE_CONTRACT_OP_SPELLING_HPP
#define HEADRACE_CONTRACT_OP_SPELLING_HPP

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

#include <headrace/base/strings.hpp>
#include <headrace/base/type_name.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/cortex_m.hpp>
#include <headrace/dialect/dim_order_ops.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/io/file/c_text.hpp>
#include <headrace/op/op.hpp>

namespace headrace::detail {

// The C++ names of a dialect's ops, by their index in it, and the header that defines them.
struct dialect_spelling {
    const dialect_info* dialect;
    std::span<const std::string_view> types;
    std::string_view header;
};

// One constant per op: all of them in one constant expression exceed clang's step limit.
template <class Op>
inline constexpr std::string_view op_type_name = qualified_type_name<Op>();
template <class List>
inline constexpr std::array<std::string_view, 0> op_type_names{};
template <class... Ops>
inline constexpr std::array<std::string_view, sizeof...(Ops)> op_type_names<ops<Ops...>>{
    op_type_name<Ops>...};
template <class Dialect>
constexpr dialect_spelling spelling_of(std::string_view header) {
    return {&info_of_dialect<Dialect>, op_type_names<typename Dialect::all_ops>, header};
}

[[nodiscard]] inline const dialect_spelling* find_spelling(const dialect_info& dialect) {
    static constexpr std::array spellings{spelling_of<aten::dialect>("headrace/dialect/aten.hpp"),
        spelling_of<cortex_m::dialect>("headrace/dialect/cortex_m.hpp"),
        spelling_of<dim_order_ops::dialect>("headrace/dialect/dim_order_ops.hpp"),
        spelling_of<higher_order::dialect>("headrace/dialect/higher_order.hpp"),
        spelling_of<quantized_decomposed::dialect>("headrace/dialect/quantized_decomposed.hpp"),
        spelling_of<tosa::dialect>("headrace/dialect/tosa.hpp")};
    const auto found = std::ranges::find(spellings, &dialect, &dialect_spelling::dialect);
    return found == spellings.end() ? nullptr : &*found;
}

[[nodiscard]] inline std::string format_foreign_op(std::string_view name) {
    return join_text("headrace::foreign_op<", c_string_literal(name), '>');
}
[[nodiscard]] inline std::string format_op(const op_info& op) {
    const dialect_spelling* spelling = find_spelling(*op.dialect);
    return spelling == nullptr ? format_foreign_op(op.name) : std::string(spelling->types[op.index]);
}

}  // namespace headrace::detail

#endif
