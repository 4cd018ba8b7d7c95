// SPDX-License-Identifier: MIT
// Defines headrace::equal_arguments and headrace::hash_arguments, for tables of nodes.
#ifndef HEADRACE_OP_EQUAL_ARGUMENTS_HPP
#define HEADRACE_OP_EQUAL_ARGUMENTS_HPP

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include <headrace/base/fixed_string.hpp>
#include <headrace/base/lists.hpp>
#include <headrace/base/mix.hpp>
#include <headrace/op/fields.hpp>
#include <headrace/op/op_info.hpp>
#include <headrace/op/value.hpp>
#include <headrace/op/visit_field.hpp>

namespace headrace {

namespace detail {

class hasher {
public:
    void add(std::uint64_t bits) { state_ = mix(state_, bits); }
    void add(const value& v) {
        add_address(v.producer);
        add(std::uint64_t{v.result});
    }
    void add(double d) { add(d != d ? std::uint64_t{1} : std::bit_cast<std::uint64_t>(d)); }
    void add(bool b) { add(std::uint64_t{b}); }
    void add(std::int64_t i) { add(static_cast<std::uint64_t>(i)); }
    void add(const scalar& s) {
        add(static_cast<std::uint64_t>(s.kind()));
        if (s.is_floating())
            add(s.to_double());
        else
            add(s.to_int());
    }
    void add(std::string_view text) { add(hash_of(text)); }
    void add(graph* const& g) { add_address(g); }
    void add(const tensor_data& d) {
        add_address(d.bytes);
        add(d.strides);
    }
    void add(const custom_member& m) {
        m.type->print(
            m.at, {this, [](void* to, std::string_view text) { static_cast<hasher*>(to)->add(text); }});
    }
    template <class T>
        requires std::is_enum_v<T>
    void add(T e) {
        add(static_cast<std::uint64_t>(e));
    }
    template <class T>
    void add(const std::optional<T>& o) {
        add(o.has_value());
        if (o) add(*o);
    }
    void add(const int_list& items) { add_all(items); }
    template <class T>
    void add(const list<T>& items) {
        add_all(items);
    }
    [[nodiscard]] std::uint64_t state() const { return state_; }

private:
    void add_address(const void* at) { add(std::uint64_t{reinterpret_cast<std::uintptr_t>(at)}); }
    template <class Items>
    void add_all(const Items& items) {
        add(std::uint64_t{items.size()});
        for (const auto& item : items) add(item);
    }
    std::uint64_t state_ = 1;
};

// NaN equals NaN, but -0.0 differs from 0.0, because they divide differently. There is no overload for
// double: compilers would check for every other type whether it converts.
template <class T>
bool same(const T& a, const T& b) {
    if constexpr (std::is_same_v<T, double>) {
        return (a != a && b != b) || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
    } else if constexpr (std::is_same_v<T, scalar>) {
        return a.kind() == b.kind() &&
            (a.is_floating() ? same(a.to_double(), b.to_double()) : a.to_int() == b.to_int());
    } else {
        return a == b;
    }
}
template <class T>
bool same(const std::optional<T>& a, const std::optional<T>& b) {
    return a.has_value() == b.has_value() && (!a || same(*a, *b));
}
template <class T>
bool same(const list<T>& a, const list<T>& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i != a.size(); ++i) {
        if (!same(a[i], b[i])) return false;
    }
    return true;
}

}  // namespace detail

/// True if a member is equal in both structs. Values compare by identity, constants by address; NaN equals
/// NaN.
[[nodiscard]] inline bool equal_field(const field_info& f, const void* a, const void* b) {
    const void* const first = f.item_in(a);
    const void* const second = f.item_in(b);
    if (first == nullptr || second == nullptr) return first == second;
    return detail::visit_item(f, first, [&]<class T>(const T& item) {
        if constexpr (std::is_same_v<T, custom_member>) {
            return f.custom->equal(first, second);
        } else {
            return detail::same(item, *static_cast<const T*>(second));
        }
    });
}

/// True if all arguments are equal; used for common subexpressions and the dispatch cache.
[[nodiscard]] inline bool equal_arguments(const op_info& op, const void* a, const void* b) {
    for (const field_info& f : op) {
        if (!equal_field(f, a, b)) return false;
    }
    return true;
}

/// Returns a hash that agrees with equal_arguments, valid within one run: values hash by address.
[[nodiscard]] inline std::uint64_t hash_arguments(const op_info& op, const void* arguments) {
    detail::hasher h;
    h.add(op.name);
    for (const field_info& f : op) {
        const void* const item = f.item_in(arguments);
        if (f.optional) h.add(item != nullptr);
        if (item != nullptr) detail::visit_item(f, item, [&](const auto& as) { h.add(as); });
    }
    return h.state();
}

}  // namespace headrace

#endif
