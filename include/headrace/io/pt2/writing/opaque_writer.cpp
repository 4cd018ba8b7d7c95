// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pt2/writing/opaque_writer.hpp.

#include <headrace/io/pt2/writing/opaque_writer.hpp>

#include <algorithm>
#include <cstdint>
#include <ranges>
#include <string_view>

#include <headrace/io/pt2/tensor.hpp>
#include <headrace/io/pt2/writing/keyword_arguments.hpp>
#include <headrace/io/text/elements.hpp>
#include <headrace/io/text/opaque_arguments.hpp>

namespace headrace::pt2 {

void opaque_argument_writer::write_opaque_inputs(const node& n) {
    const std::string_view op = args_of<builtin::opaque>(n).target;
    const auto arguments = opaque_arguments(args_of<builtin::opaque>(n));
    if (!arguments) return fail(n, arguments.error().message);
    bool by_name = false;
    for (const opaque_argument& a : arguments.value()) {
        by_name = (by_name || !is_of_tensors(a) || is_keyword_only(op, a.name)) && !a.name.empty();
        write_named(a.name, by_name, [&] { write_one(n, a); });
    }
}

bool opaque_argument_writer::is_of_tensors(const opaque_argument& a) {
    return a.kind == content::tensor ||
        (a.kind == content::list && std::ranges::any_of(a.items, &is_of_tensors));
}

void opaque_argument_writer::write_one(const node& n, const opaque_argument& a) {
    if (a.kind == content::tensor) return write_value(a.tensor);
    if (a.kind == content::list) return write_list(n, a);
    if (a.kind == content::word) return write_word(n, a);
    if (a.name != "device") return w_.member("as_string", a.text);
    w_.begin_object("as_device");
    w_.member("type", a.text);
    w_.member("index", nullptr);
    w_.end_object();
}

void opaque_argument_writer::write_word(const node& n, const opaque_argument& a) {
    std::int64_t whole = 0;
    double number = 0;
    using headrace::text::number_in;
    if (is_none(a)) return w_.member("as_none", true);
    if (a.text == "true" || a.text == "false") return w_.member("as_bool", a.text == "true");
    if (number_in(a.text, whole)) return w_.member("as_int", whole);
    if (number_in(a.text, number)) return write_value(number);
    constexpr std::int64_t types = 40;
    for (std::int64_t i = 0; i != types; ++i) {
        const dtype type = dtype_of(i);
        if (type != dtype::unknown && name_of(type) == a.text) return w_.member("as_scalar_type", i);
    }
    for (const memory_format format : {memory_format::contiguous, memory_format::channels_last,
             memory_format::channels_last_3d, memory_format::preserve}) {
        if (name_of(format) == a.text) return write_value(format);
    }
    fail(n,
        a.text == "graph" ? "the graph that it was given has not been kept"
                          : "its argument " + a.text + " has no form in a .pt2");
    w_.member("as_none", true);
}

void opaque_argument_writer::write_list(const node& n, const opaque_argument& a) {
    const auto all = [&](auto&& is) { return std::ranges::all_of(a.items, is); };
    const auto holds = [](std::string_view text, auto number) {
        return headrace::text::number_in(text, number);
    };
    const auto is_word = [](const opaque_argument& i) { return i.kind == content::word; };
    const auto is_whole = [&](const auto& i) { return is_word(i) && holds(i.text, std::int64_t{}); };
    if (std::ranges::any_of(a.items, [](const auto& i) { return !i.name.empty(); })) {
        fail(n, "its argument " + a.name + " is a struct, which a .pt2 does not have");
    } else if (all(is_whole)) {
        return write_items("as_ints", a, [&](const auto& i) { w_.raw(i.text); });
    } else if (all([&](const auto& i) { return is_word(i) && holds(i.text, double{}); })) {
        return write_items("as_floats", a, [&](const auto& i) { write_float(i.text); });
    } else if (all([&](const auto& i) { return is_word(i) && (i.text == "true" || i.text == "false"); })) {
        return write_items("as_bools", a, [&](const auto& i) { w_.raw(i.text); });
    } else if (all([](const auto& i) { return i.kind == content::text; })) {
        return write_items("as_strings", a, [&](const auto& i) { w_.value(i.text); });
    } else if (all([](const auto& i) { return i.kind == content::tensor; })) {
        return write_items("as_tensors", a, [&](const auto& i) {
            w_.begin_object();
            w_.member("name", name(i.tensor));
            w_.end_object();
        });
    } else if (all([](const auto& i) { return i.kind == content::tensor || is_none(i); })) {
        return write_items("as_optional_tensors", a, [&](const auto& i) {
            w_.begin_object();
            write_one(n, i);
            w_.end_object();
        });
    } else {
        fail(n, "its argument " + a.name + " is a list of several kinds, which a .pt2 does not have");
    }
    w_.member("as_none", true);
}

void opaque_argument_writer::write_items(std::string_view key, const opaque_argument& a, const auto& write) {
    w_.begin_array(key);
    for (const opaque_argument& i : a.items) write(i);
    w_.end_array();
}

void opaque_argument_writer::write_float(std::string_view text) {
    double number = 0;
    static_cast<void>(headrace::text::number_in(text, number));
    write_number(number);
}

}  // namespace headrace::pt2
