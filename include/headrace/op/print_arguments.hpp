// SPDX-License-Identifier: MIT
// Defines headrace::print_arguments, the arguments of an op as text.
#ifndef HEADRACE_OP_PRINT_ARGUMENTS_HPP
#define HEADRACE_OP_PRINT_ARGUMENTS_HPP

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <headrace/base/lists.hpp>
#include <headrace/base/printable.hpp>
#include <headrace/base/text.hpp>
#include <headrace/op/fields.hpp>
#include <headrace/op/op.hpp>
#include <headrace/op/value.hpp>
#include <headrace/op/visit_field.hpp>

namespace headrace {

namespace detail {

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

}  // namespace headrace

#endif
