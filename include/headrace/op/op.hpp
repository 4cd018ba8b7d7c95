// SPDX-License-Identifier: MIT
// Defines headrace::op and headrace::dialect_of, for declaring ops and dialects, and headrace::op_info, the
// run-time description of an op.
#ifndef HEADRACE_OP_OP_HPP
#define HEADRACE_OP_OP_HPP

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <headrace/base/dtype.hpp>
#include <headrace/base/fixed_string.hpp>
#include <headrace/base/slots.hpp>
#include <headrace/op/fields.hpp>
#include <headrace/op/traits.hpp>

namespace headrace {

/// A dialect at run time; the census of a graph counts ops by it.
struct dialect_info {
    std::string_view name;
    std::size_t op_count;
    bool is_pure;  ///< its ops depend only on their operands, except those with trait::impure
};

/// An op at run time. There is one object per op in the whole program: its address is the op's identity.
struct op_info {
    std::string_view name;  ///< as PyTorch spells it, without "torch.ops.": "aten.conv2d.default"
    const dialect_info* dialect;
    std::uint16_t index;   ///< index in the dialect
    std::int16_t results;  ///< number of results, or variadic_results
    std::uint32_t args_size;
    std::uint32_t args_alignment;
    const field_info* fields;
    std::size_t field_count;
    const void* default_args;  ///< an args object with the schema's defaults
    std::uint64_t traits;
    const op_info* base;  ///< the op that this one is a variant of, with equal arguments; or null

    /// True if it has any of the traits in `any_of`.
    [[nodiscard]] constexpr bool has(trait any_of) const { return has_any(traits, any_of); }
    /// Returns the op of which this one is a variant, or else this op: the computation, regardless of the
    /// name and of the memory that it writes to.
    [[nodiscard]] constexpr const op_info& functional() const { return base != nullptr ? *base : *this; }

    [[nodiscard]] constexpr const field_info* begin() const { return fields; }
    [[nodiscard]] constexpr const field_info* end() const { return fields + field_count; }
    [[nodiscard]] constexpr const field_info* find(std::string_view field) const {
        for (const field_info& f : *this) {
            if (f.name == field) return &f;
        }
        return nullptr;
    }
};

/// For ops whose result is a Tensor[]: split, chunk, unbind.
inline constexpr int variadic_results = -1;

namespace detail {

// The facts of an op's declaration; shared by all ops with the same facts.
template <auto... Facts>
struct stated_facts {
    static constexpr int results = results_in(Facts...);
    static constexpr std::uint64_t trait_bits = trait_bits_in(results, Facts...);
    /// The name of its out-variant, if that does not follow from its own name.
    static constexpr std::string_view out_name = out_name_in(Facts...);
    /// Returns the op of which this one is a variant; void if there is none.
    static constexpr auto variant_base() { return first_related<std::remove_cv_t<decltype(Facts)>...>{}; }
};

}  // namespace detail

/// Base of every op tag. `Fields` names the members of the tag's nested struct `args`, in order and as in the
/// op's schema; types and defaults are the struct's own:
///
///     struct softmax_int : op<dialect, "aten.softmax.int", "self, dim, dtype"> {
///         struct args { value self; std::int64_t dim; std::optional<headrace::dtype> dtype{}; };
///     };
///
/// The number of results, if it is not one, and the traits (op/traits.hpp) follow in any order:
///
///     struct max_dim : op<dialect, "aten.max.dim", "self, dim, keepdim", 2, trait::reduction> { … };
///     struct relu_inplace : op<dialect, "aten.relu_.default", "self", in_place_of<relu>> { … };
template <class Dialect, fixed_string Name, fixed_string Fields, auto... Facts>
struct op : detail::stated_facts<Facts...> {
    using dialect_type = Dialect;
    static constexpr std::string_view name = Name.view();
    static constexpr std::string_view field_list = Fields.view();
};

/// Matches op tags: satisfied by a struct derived from headrace::op that has a nested `args`.
template <class T>
concept op_tag = requires {
    typename T::dialect_type;
    typename T::args;
    { T::name } -> std::convertible_to<std::string_view>;
};

/// The argument struct of an op.
template <op_tag Op>
using args = typename Op::args;

/// The names of an op's fields, in order.
template <class Op>
inline constexpr auto field_names = split_names<count_names(Op::field_list)>(Op::field_list);

/// True if the op has any of the traits in `any_of`.
template <op_tag Op>
[[nodiscard]] constexpr bool has_trait(trait any_of) {
    return has_any(Op::trait_bits, any_of);
}

/// The number of spatial axes of an op that has a fixed number of them: 2 for aten::conv2d; 0 for others.
template <op_tag Op>
inline constexpr std::size_t spatial_rank = spatial_rank_in(Op::trait_bits);

/// The op of which `Op` is a variant: aten::relu for aten::relu_inplace. Void if there is none.
template <op_tag Op>
using base_of = typename decltype(Op::variant_base())::type;

/// Matches variants of other ops, as declared by in_place_of, view_copy_of and synonym_of.
template <class Op>
concept op_variant = op_tag<Op> && has_trait<Op>(trait::variant);

/// Matches the ops of a dialect that have all of the traits; `a | b` stands for either.
template <class Op, class Dialect, trait... Traits>
concept op_where =
    op_tag<Op> && __is_same(typename Op::dialect_type, Dialect) && (has_trait<Op>(Traits) && ...);

/// A list of op tags.
template <class... Ops>
struct ops {
    static constexpr std::size_t size = sizeof...(Ops);
};

namespace detail {

// A hash table of positions by name hash, with open addressing, so that the dialect's check and every lookup
// take linear time in all. A slot holds a position + 1, or 0.
template <std::size_t N>
struct hash_slots {
    std::array<std::uint16_t, std::bit_ceil(2 * N + 1)> slots{};
    bool all_different = true;

    static constexpr std::size_t size = std::bit_ceil(2 * N + 1);

    constexpr hash_slots(const std::uint64_t* hashes) {
        for (std::size_t i = 0; i != N; ++i) {
            std::uint16_t& slot = slots[slot_of(hashes, hashes[i])];
            if (slot == 0)
                slot = static_cast<std::uint16_t>(i + 1);
            else
                all_different = false;
        }
    }
    /// Returns the first position with that hash, or N.
    constexpr std::size_t find(const std::uint64_t* hashes, std::uint64_t hash) const {
        const std::uint16_t slot = slots[slot_of(hashes, hash)];
        return slot == 0 ? N : slot - 1U;
    }
    constexpr std::size_t slot_of(const std::uint64_t* hashes, std::uint64_t hash) const {
        return find_slot(
            size, hash, [&](std::size_t at) { return slots[at] == 0 || hashes[slots[at] - 1] == hash; });
    }
};

template <std::size_t N>
constexpr bool all_true(const bool (&facts)[N]) {
    for (const bool fact : facts) {
        if (!fact) return false;
    }
    return true;
}

// The names of a dialect's ops; empty if the list has a fault, so that no second error follows.
template <bool Sound, class... Ops>
struct op_names {
    static constexpr std::size_t size = sizeof...(Ops);
    static constexpr std::array<std::uint64_t, sizeof...(Ops)> hashes{hash_of(Ops::name)...};
    static constexpr std::array<std::string_view, sizeof...(Ops)> names{Ops::name...};
};
template <class... Ops>
struct op_names<false, Ops...> {
    static constexpr std::size_t size = 0;
    static constexpr std::array<std::uint64_t, 0> hashes{};
    static constexpr std::array<std::string_view, 0> names{};
};

template <std::size_t I, class T>
struct indexed {};
template <class Indices, class... Ts>
struct indexed_types;
template <std::size_t... I, class... Ts>
struct indexed_types<std::index_sequence<I...>, Ts...> : indexed<I, Ts>... {};
template <std::size_t I, class T>
std::type_identity<T> held_at(const indexed<I, T>&);

}  // namespace detail

/// The type at position `I` of a list. For diagnostics only: it costs one base class per type of the list.
template <std::size_t I, class List>
struct type_at;
template <std::size_t I, class... Ts>
struct type_at<I, ops<Ts...>> {
    using type = typename decltype(detail::held_at<I>(
        detail::indexed_types<std::make_index_sequence<sizeof...(Ts)>, Ts...>{}))::type;
};

/// The diagnosis of success. All others name the culprit in a compile error.
struct no_fault {};

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

/// The default arguments of an op: the schema's defaults, and zero or empty for arguments without one.
template <op_tag Op>
inline constexpr args<Op> default_args{};

/// Names an op whose field list does not have as many names as its args has members, in the compile error.
template <class Op, std::size_t Names>
struct not_as_many_names {};
/// Names the last field of an op whose name is not that of the member at its position, in the compile error.
template <class Op, fixed_string Field>
struct other_name {};
template <class Diagnosis>
inline constexpr bool fields_are_members = false;
template <>
inline constexpr bool fields_are_members<no_fault> = true;

/// Names an op and a member of its args whose type is not an argument type, in the compile error.
template <class Op, class Member>
struct no_argument_type {};
template <class Diagnosis>
inline constexpr bool members_are_arguments = false;
template <>
inline constexpr bool members_are_arguments<no_fault> = true;

namespace detail {

template <std::size_t N, class... Ts>
constexpr addresses<N> addresses_in(const members<Ts...>& all) {
    addresses<N> found{};
    for (std::size_t i = 0; i != N; ++i) found.at[i] = all.at[i];
    return found;
}
template <class Op, std::size_t Count>
constexpr auto diagnose_names() {
    if constexpr (!takes<args<Op>, Count>() || takes<args<Op>, Count + 1>()) {
        return not_as_many_names<Op, Count>{};
    } else if constexpr (Count == 0) {
        return no_fault{};
    } else {
        constexpr std::string_view members =
            spelled<addresses_in<Count>(members_of<Count>(default_args<Op>))>();
        constexpr std::size_t other = last_other_name(members, field_names<Op>.data(), Count);
        if constexpr (other == Count) {
            return no_fault{};
        } else {
            constexpr std::string_view field = field_names<Op>[other];
            return other_name<Op, fixed_string<field.size() + 1>(field)>{};
        }
    }
}

template <class Op>
constexpr auto diagnose_fields() {
    if constexpr (requires { Op::field_list; }) {
        return diagnose_names<Op, field_names<Op>.size()>();
    } else {
        return no_fault{};  // fields_of is specialized for it
    }
}

template <class Op, class T, class... Ts>
constexpr auto diagnose_types(const members<T, Ts...>*) {
    if constexpr (argument_type<T>) {
        return diagnose_types<Op>(static_cast<const members<Ts...>*>(nullptr));
    } else {
        return no_argument_type<Op, T>{};
    }
}
template <class... Ts>
constexpr bool are_arguments(const members<Ts...>*) {
    return (argument_type<Ts> && ...);
}
template <class Op>
constexpr auto diagnose_members() {
    if constexpr (requires { Op::field_list; } && fields_are_members<decltype(diagnose_fields<Op>())>) {
        using list = decltype(members_of<field_names<Op>.size()>(default_args<Op>));
        constexpr const list* all = nullptr;
        if constexpr (are_arguments(all)) {
            return no_fault{};
        } else {
            return diagnose_types<Op>(all);
        }
    } else {
        return no_fault{};
    }
}

}  // namespace detail

/// The fault in the field names of an op, or no_fault.
template <op_tag Op>
using field_fault = decltype(detail::diagnose_fields<Op>());
/// The fault in the member types of an op, or no_fault.
template <op_tag Op>
using member_fault = decltype(detail::diagnose_members<Op>());

template <op_tag Op>
inline constexpr auto fields_of = [] {
    if constexpr (fields_are_members<field_fault<Op>> && members_are_arguments<member_fault<Op>>) {
        return make_fields<args<Op>>(field_names<Op>);
    } else {
        return std::array<field_info, 0>{};  // info_of reports the fault
    }
}();

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
