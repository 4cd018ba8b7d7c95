// SPDX-License-Identifier: MIT
// Defines functions that need only an op's field table: printing, comparing and hashing of arguments.
#ifndef HEADRACE_OP_REFLECT_HPP
#define HEADRACE_OP_REFLECT_HPP

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <headrace/base/mix.hpp>
#include <headrace/base/printable.hpp>
#include <headrace/base/text.hpp>
#include <headrace/op/op.hpp>

namespace headrace {

[[nodiscard]] constexpr bool holds_tensors(field_kind k) {
    return k == field_kind::tensor || k == field_kind::tensors || k == field_kind::optional_tensors;
}

namespace detail {

/// Calls `as(std::type_identity<T>)` with the type of a field of that kind.
template <class F>
decltype(auto) visit_kind(field_kind kind, F&& as) {
    switch (kind) {
        case field_kind::tensor:
            return as(std::type_identity<value>{});
        case field_kind::tensors:
            return as(std::type_identity<list<value>>{});
        case field_kind::optional_tensors:
            return as(std::type_identity<list<std::optional<value>>>{});
        case field_kind::integer:
            return as(std::type_identity<std::int64_t>{});
        case field_kind::integers:
            return as(std::type_identity<int_list>{});
        case field_kind::floating:
            return as(std::type_identity<double>{});
        case field_kind::floatings:
            return as(std::type_identity<list<double>>{});
        case field_kind::boolean:
            return as(std::type_identity<bool>{});
        case field_kind::number:
            return as(std::type_identity<scalar>{});
        case field_kind::text:
            return as(std::type_identity<std::string_view>{});
        case field_kind::element_type:
            return as(std::type_identity<dtype>{});
        case field_kind::format:
            return as(std::type_identity<memory_format>{});
        case field_kind::resize:
            return as(std::type_identity<resize_mode>{});
        case field_kind::nan:
            return as(std::type_identity<nan_mode>{});
        case field_kind::rounding:
            return as(std::type_identity<rounding_mode>{});
        case field_kind::region:
            return as(std::type_identity<graph*>{});
        case field_kind::data:
            return as(std::type_identity<tensor_data>{});
        case field_kind::texts:
            return as(std::type_identity<list<std::string_view>>{});
        case field_kind::custom:
            return as(std::type_identity<custom_member>{});
    }
    __builtin_unreachable();
}

/// Calls `call(const T&)`, or with std::optional<T>, for the member that a field describes.
template <class F>
decltype(auto) visit_field(const field_info& f, const void* arguments, F&& call) {
    const auto* at = static_cast<const std::byte*>(arguments) + f.offset;
    return visit_kind(f.kind, [&]<class T>(std::type_identity<T>) -> decltype(auto) {
        if constexpr (std::is_same_v<T, custom_member>) {
            const custom_member member{f.custom, const_cast<std::byte*>(at)};
            return call(member);
        } else {
            return f.optional ? call(*reinterpret_cast<const std::optional<T>*>(at))
                              : call(*reinterpret_cast<const T*>(at));
        }
    });
}

/// Calls `call(const T&)` with an item from field_info::item_in; half as many types as in visit_field.
template <class F>
decltype(auto) visit_item(const field_info& f, const void* item, F&& call) {
    return visit_kind(f.kind, [&]<class T>(std::type_identity<T>) -> decltype(auto) {
        if constexpr (std::is_same_v<T, custom_member>) {
            const custom_member member{f.custom, const_cast<void*>(item)};
            return call(member);
        } else {
            return call(*static_cast<const T*>(item));
        }
    });
}

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

template <class Name>
class printer {
public:
    printer(std::pmr::string& out, Name& name) : out_(out), name_(name) {}

    void put(const value& v) {
        if (v)
            out_ += name_(v);
        else
            out_ += "none";
    }
    void put(std::int64_t i) { out_ += number_text(i); }
    void put(bool b) { out_ += b ? "true" : "false"; }
    void put(double d) {
        char text[32];
        const auto end = std::to_chars(text, text + sizeof text, d).ptr;
        const std::string_view shortest(text, static_cast<std::size_t>(end - text));
        out_ += shortest;
        if (shortest.find_first_of(".en") == std::string_view::npos) out_ += ".0";  // 2.0 differs from 2
    }
    void put(const scalar& s) {
        if (s.is_floating()) {
            put(s.to_double());
        } else if (s.kind() == scalar::kind_type::boolean) {
            put(s.to_int() != 0);
        } else {
            put(s.to_int());
        }
    }
    void put(std::string_view text) {
        // In quotes, on one line, and of limited length.
        const bool is_cut = text.size() > max_printed_message;
        text = text.substr(0, max_printed_message);
        out_ += '"';
        for (std::size_t at = 0; at <= text.size();) {
            const std::size_t end = std::min(text.find_first_of("\"\\", at), text.size());
            headrace::detail::append_printable(out_, text.substr(at, end - at));
            if (end != text.size()) (out_ += '\\') += text[end];
            at = end + 1;
        }
        out_ += is_cut ? "...\"" : "\"";
    }
    void put(graph* const& g) {
        if (g == nullptr) {
            out_ += "none";
        } else if constexpr (requires { name_(static_cast<const graph*>(g)); }) {
            out_ += name_(static_cast<const graph*>(g));
        } else {
            out_ += "{...}";
        }
    }
    void put(const custom_member& m) {
        m.type->print(m.at,
            {&out_, [](void* to, std::string_view text) { *static_cast<std::pmr::string*>(to) += text; }});
    }
    void put(const tensor_data& data) {
        out_ += data.strides.empty() ? "row-major" : "strides ";
        if (!data.strides.empty()) put(data.strides);
    }
    template <class T>
        requires std::is_enum_v<T>
    void put(T e) {
        out_ += name_of(e);
    }
    template <class T>
    void put(const std::optional<T>& o) {
        if (o)
            put(*o);
        else
            out_ += "none";
    }
    void put(const int_list& items) { put_all(items); }
    template <class T>
    void put(const list<T>& items) {
        put_all(items);
    }

private:
    template <class Items>
    void put_all(const Items& items) {
        out_ += '[';
        bool first = true;
        for (const auto& item : items) {
            if (!first) out_ += ", ";
            put(item);
            first = false;
        }
        out_ += ']';
    }
    std::pmr::string& out_;
    Name& name_;
};

}  // namespace detail

/// Appends one argument: `[1, 1]`. `name(value)` returns the text of a value, and `name(const graph*)`, if it
/// exists, that of a region.
template <class Name>
void print_field(std::pmr::string& out, const field_info& f, const void* arguments, Name&& name) {
    detail::printer<Name> to(out, name);
    const void* const item = f.item_in(arguments);
    if (item == nullptr) {
        out += "none";
    } else {
        detail::visit_item(f, item, [&](const auto& as) { to.put(as); });
    }
}

/// Appends the arguments of an op: `(input=%x, stride=[1, 1], bias=none)`; `name` is as for print_field.
template <class Name>
void print_arguments(std::pmr::string& out, const op_info& op, const void* arguments, Name&& name) {
    out += '(';
    for (const field_info& f : op) {
        if (&f != op.begin()) out += ", ";
        out += f.name;
        out += '=';
        print_field(out, f, arguments, name);
    }
    out += ')';
}

/// Returns `aten.conv2d.default(input=%x, …)`.
template <op_tag Op, class Name>
[[nodiscard]] std::pmr::string print(Op, const args<Op>& a, Name&& name) {
    std::pmr::string out(Op::name);
    print_arguments(out, info_of<Op>, &a, name);
    return out;
}

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
