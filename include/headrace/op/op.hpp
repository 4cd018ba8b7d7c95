// SPDX-License-Identifier: MIT
// Defines headrace::info_of, the run-time description of an op, and headrace::find_op, the op of that name;
// includes the headers with which ops and dialects are declared.
#ifndef HEADRACE_OP_OP_HPP
#define HEADRACE_OP_OP_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <headrace/op/dialect_of.hpp>
#include <headrace/op/fields_of.hpp>
#include <headrace/op/no_fault.hpp>
#include <headrace/op/op_info.hpp>
#include <headrace/op/op_tag.hpp>
#include <headrace/op/ops.hpp>

namespace headrace {

template <op_tag Op>
inline constexpr op_info info_of = [] {
    static_assert(listed_in_its_dialect<Op>, "op: not in its dialect's list; add it there");
    static_assert(
        __is_trivially_copyable(args<Op>), "op: args must be trivially copyable; use headrace::list");
    static_assert(fields_are_members<field_fault<Op>>,
        "op: its field names are not the members of args; write the same names in the same order");
    static_assert(members_are_arguments<member_fault<Op>>,
        "op: a member of args has a type that no argument can have; see no_argument_type, use one "
        "of kind_of");
    const op_info* base = nullptr;
    if constexpr (op_variant<Op>) {
        static_assert(fields_are_equal<decltype(detail::diagnose_conversion<Op, base_of<Op>>())>,
            "op: a variant's fields differ from its base's; give both the same members in the same order");
        base = &info_of<base_of<Op>>;
    }
    return op_info{Op::name, &info_of_dialect<typename Op::dialect_type>,
        static_cast<std::uint16_t>(index_of<Op>), static_cast<std::int16_t>(Op::results), sizeof(args<Op>),
        alignof(args<Op>), fields_of<Op>.data(), fields_of<Op>.size(), &default_args<Op>, Op::trait_bits,
        base};
}();

namespace detail {
template <class List>
struct op_table_of;
template <class... Ops>
struct op_table_of<ops<Ops...>> {
    static constexpr std::array<const op_info*, sizeof...(Ops)> value{&info_of<Ops>...};
};
}  // namespace detail

/// All ops of a dialect. Using it links all of them into the program, so the core never does.
template <class Dialect>
inline constexpr const auto& op_table = detail::op_table_of<typename Dialect::all_ops>::value;

/// Returns the op of that name in any of the dialects, or null.
template <class... Dialects>
[[nodiscard]] constexpr const op_info* find_op(std::string_view name) {
    const std::uint64_t hash = hash_of(name);
    const op_info* found = nullptr;
    const auto look_in = [&]<class Dialect>() {
        const std::size_t i = Dialect::slots.find(Dialect::name_hashes.data(), hash);
        if (i != Dialect::size && Dialect::op_names[i] == name) found = op_table<Dialect>[i];
        return found != nullptr;
    };
    static_cast<void>((look_in.template operator()<Dialects>() || ...));
    return found;
}

}  // namespace headrace

#endif
