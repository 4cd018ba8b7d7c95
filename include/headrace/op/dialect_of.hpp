// SPDX-License-Identifier: MIT
// Defines headrace::dialect_of, the base of dialects, and headrace::index_of, an op's position in its list.
#ifndef HEADRACE_OP_DIALECT_OF_HPP
#define HEADRACE_OP_DIALECT_OF_HPP

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <headrace/base/fixed_string.hpp>
#include <headrace/base/slots.hpp>
#include <headrace/op/no_fault.hpp>
#include <headrace/op/op_info.hpp>
#include <headrace/op/op_tag.hpp>
#include <headrace/op/ops.hpp>

namespace headrace {

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

}  // namespace detail

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

}  // namespace headrace

#endif
