// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pt2/writing/argument_writer.hpp.

#include <headrace/io/pt2/writing/argument_writer.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <headrace/io/pt2/tensor.hpp>
#include <headrace/io/pt2/writing/keyword_arguments.hpp>

namespace headrace::pt2 {

std::optional<std::int64_t> number_of(dtype type) {
    constexpr std::int64_t end = 40;
    for (std::int64_t i = 0; i != end; ++i) {
        if (type != dtype::unknown && dtype_of(i) == type) return i;
    }
    return std::nullopt;
}

void argument_writer::write_tensor(value v) {
    w_.begin_object("as_tensor");
    w_.member("name", name(v));
    w_.end_object();
}

void argument_writer::write_device() {
    write_named("device", false, [&] {
        w_.begin_object("as_device");
        w_.member("type", "cpu");
        w_.member("index", nullptr);
        w_.end_object();
    });
}

void argument_writer::write_argument(const node& n, const field_info& f, bool& by_name) {
    by_name = by_name || is_keyword_only(n.op->name, f.name);
    if (by_name && is_empty(n, f)) return;  // positional None must be written: no default
    write_named(f.name, by_name, [&] { write_member(n, f); });
}

bool argument_writer::is_empty(const node& n, const field_info& f) {
    bool empty = false;
    visit(n, f, [&](const auto& v) { empty = std::is_same_v<std::decay_t<decltype(v)>, std::nullptr_t>; });
    return empty;
}

void argument_writer::write_member(const node& n, const field_info& f) {
    visit(n, f, [&](const auto& v) {
        using type = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<type, std::nullptr_t>) {
            w_.member("as_none", true);
        } else if constexpr (std::is_same_v<type, unwritable_member>) {
            fail(n, "its argument " + std::string(f.name) + " has no form in a .pt2");
        } else {
            write_value(v);
        }
    });
}

void argument_writer::write_value(const list<value>& items) {
    w_.begin_array("as_tensors");
    for (const value v : items) {
        w_.begin_object();
        w_.member("name", name(v));
        w_.end_object();
    }
    w_.end_array();
}

void argument_writer::write_value(const list<std::optional<value>>& items) {
    w_.begin_array("as_optional_tensors");
    for (const std::optional<value>& v : items) {
        w_.begin_object();
        if (v) {
            write_tensor(*v);
        } else {
            w_.member("as_none", true);
        }
        w_.end_object();
    }
    w_.end_array();
}

void argument_writer::write_value(double v) {
    w_.key("as_float");
    write_number(v);
}

void argument_writer::write_value(const list<double>& items) {
    w_.begin_array("as_floats");
    for (const double v : items) write_number(v);
    w_.end_array();
}

void argument_writer::write_number(double v) {
    if (std::isfinite(v)) return w_.value(v);
    w_.value(std::isnan(v) ? "NaN" : v > 0 ? "Infinity" : "-Infinity");
}

void argument_writer::write_value(const list<std::string_view>& items) {
    w_.begin_array("as_strings");
    for (const std::string_view text : items) w_.value(text);
    w_.end_array();
}

void argument_writer::write_value(const scalar& v) {
    if (v.is_floating()) return write_value(v.to_double());
    if (v.kind() == scalar::kind_type::boolean) return write_value(v.to_int() != 0);
    write_value(v.to_int());
}

}  // namespace headrace::pt2
