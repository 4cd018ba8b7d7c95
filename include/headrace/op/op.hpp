// SPDX-License-Identifier: MIT
// Defines headrace::dialect_of, the base of dialects, headrace::info_of, the run-time description of an op,
// and headrace::find_op, the op of that name; includes the headers with which ops are declared.
#ifndef HEADRACE_OP_OP_HPP
#define HEADRACE_OP_OP_HPP

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <headrace/base/fixed_string.hpp>
#include <headrace/op/fields.hpp>
#include <headrace/op/fields_of.hpp>
#include <headrace/op/name_hashes.hpp>
#include <headrace/op/no_fault.hpp>
#include <headrace/op/op_info.hpp>
#include <headrace/op/op_tag.hpp>
#include <headrace/op/ops.hpp>

namespace headrace {

/// Names two ops of a dialect with the same name, in the compile error.
template <class First, class Second>
struct same_name {};
template <class Diagnosis>
inline constexpr bool names_are_unique = false;
template <>
inline constexpr bool names_are_unique<no_fault> = true;

/// Base of every dialect: `struct dialect : dialect_of<"mine", first_op, second_op> {};` The list must be
/// complete: ops that are not listed cannot be used.
template <fixed_string Name, class... Ops>  // not op_tag...: clang folds that and stops at 256 ops
struct dialect_of {
private:
    static constexpr bool holds_ops = detail::all_true({true, op_tag<Ops>...});
    static_assert(
        holds_ops, "dialect: its list holds something that is not an op; derive it from headrace::op");
    using listed = detail::op_names<holds_ops, Ops...>;

public:
    using all_ops = ops<Ops...>;
    static constexpr std::string_view name = Name.view();
    static constexpr std::size_t size = listed::size;
    static constexpr const auto& name_hashes = listed::hashes;
    static constexpr const auto& op_names = listed::names;
    static constexpr detail::hash_slots<size> slots{name_hashes.data()};

private:
    static constexpr auto diagnose() {
        if constexpr (slots.all_different) {
            return no_fault{};
        } else {
            constexpr auto pair = [] {
                for (std::size_t i = 0; i != size; ++i) {
                    for (std::size_t k = i + 1; k != size; ++k) {
                        if (name_hashes[i] == name_hashes[k]) return std::array{i, k};
                    }
                }
                return std::array<std::size_t, 2>{};
            }();
            return same_name<typename type_at<pair[0], all_ops>::type,
                typename type_at<pair[1], all_ops>::type>{};
        }
    }
    static_assert(names_are_unique<decltype(diagnose())>,
        "dialect: two ops have the same name; see same_name<First, Second>, rename one");
};

/// Matches dialects that declare their ops to be pure, except those with trait::impure.
template <class Dialect>
concept pure_dialect = requires { Dialect::is_pure; };

template <class Dialect>
inline constexpr dialect_info info_of_dialect{Dialect::name, Dialect::size, pure_dialect<Dialect>};

template <op_tag Op>
inline constexpr std::size_t found_in_its_dialect =
    Op::dialect_type::slots.find(Op::dialect_type::name_hashes.data(), hash_of(Op::name));
template <op_tag Op>
inline constexpr bool listed_in_its_dialect = found_in_its_dialect<Op> < Op::dialect_type::size;

/// The index of an op in its dialect; 0 for an op that is not listed, which info_of refuses.
template <op_tag Op>
inline constexpr std::size_t index_of = listed_in_its_dialect<Op> ? found_in_its_dialect<Op> : 0;

/// Names two ops whose arguments cannot be converted, in the compile error.
template <class From, class To>
struct other_fields {};
template <class Diagnosis>
inline constexpr bool fields_are_equal = false;
template <>
inline constexpr bool fields_are_equal<no_fault> = true;

namespace detail {
template <class From, class To>
constexpr auto diagnose_conversion() {
    if constexpr (have_equal_fields(fields_of<From>, fields_of<To>)) {
        return no_fault{};
    } else {
        return other_fields<From, To>{};
    }
}
}  // namespace detail

/// Converts the arguments of one op to those of another with equal fields, such as its base.
template <op_tag To, op_tag From>
[[nodiscard]] args<To> convert_args(const args<From>& a) {
    using diagnosis = decltype(detail::diagnose_conversion<From, To>());
    static_assert(fields_are_equal<diagnosis>,
        "convert_args: the ops' fields differ; give both the same kinds of members in the same order");
    if constexpr (fields_are_equal<diagnosis>) {
        return std::bit_cast<args<To>>(a);
    } else {
        return {};
    }
}

template <op_tag Op>
inline constexpr op_info info_of = [] {
    static_assert(listed_in_its_dialect<Op>, "op: not in its dialect's list; add it there");
    static_assert(
        __is_trivially_copyable(args<Op>), "op: args must be trivially copyable; use headrace::list");
    static_assert(fields_are_members<field_fault<Op>>, HEADRACE_WRONG_FIELDS);
    static_assert(enumerations_are_named<member_fault<Op>>, HEADRACE_UNNAMED_ENUMERATION);
    static_assert(members_are_arguments<member_fault<Op>>, HEADRACE_WRONG_MEMBER);
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
