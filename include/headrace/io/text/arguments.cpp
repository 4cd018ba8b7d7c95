// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/text/arguments.hpp.

#include <headrace/io/text/arguments.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/io/file/json.hpp>
#include <headrace/op/reflect.hpp>

namespace headrace::text {

namespace {

/// Returns how messages describe an argument of that kind.
[[nodiscard]] constexpr std::string_view kind_text(field_kind kind) {
    switch (kind) {
        case field_kind::tensor:
            return "a value such as %x";
        case field_kind::tensors:
            return "a list of values such as [%x, %y]";
        case field_kind::optional_tensors:
            return "a list of values such as [none, %x]";
        case field_kind::integer:
            return "an integer";
        case field_kind::integers:
            return "integers such as [1, 2]";
        case field_kind::floating:
            return "a number such as 1.5";
        case field_kind::floatings:
            return "numbers such as [1.5, 2.0]";
        case field_kind::boolean:
            return "true or false";
        case field_kind::number:
            return "a number such as 1, 1.0 or true";
        case field_kind::text:
            return "a string in quotes";
        case field_kind::element_type:
            return "a type such as float32";
        case field_kind::format:
            return "a memory format such as contiguous";
        case field_kind::resize:
            return "nearest or bilinear";
        case field_kind::nan:
            return "propagate or ignore";
        case field_kind::rounding:
            return "single_round, inexact_round or double_round";
        case field_kind::region:
            return "a graph in braces";
        case field_kind::data:
            return "elements such as [1, 2]";
        case field_kind::texts:
            return "strings such as [\"a\", \"b\"]";
        case field_kind::custom:
            return "a value of the dialect's own";
    }
    return "?";
}

}  // namespace

const void* argument_reader::read(const op_info& op) {
    void* const arguments = memory_.allocate(op.args_size + 1, op.args_alignment);
    std::memcpy(arguments, op.default_args, op.args_size);
    std::vector<bool> given(op.field_count);
    bool positional = true;
    at_.expect('(', "and arguments after an op");
    if (!at_.accept(')')) {
        std::size_t next = 0;
        do read_argument(op, arguments, given, positional, next);
        while (at_.accept(','));
        at_.expect(')', "or ',' after an argument");
    }
    for (const field_info& f : op) {
        const bool is_elements = f.kind == field_kind::data && op.results != 0;
        const bool needed =
            (holds_tensors(f.kind) || f.kind == field_kind::region || is_elements) && !f.optional;
        if (needed && !given[static_cast<std::size_t>(&f - op.begin())])
            at_.fail_here("argument " + in_quotes(f.name) + " of " + std::string(op.name) + " is missing");
    }
    return arguments;
}

void argument_reader::read_argument(
    const op_info& op, void* arguments, std::vector<bool>& given, bool& positional, std::size_t& next) {
    const std::size_t begin = at_.next();
    std::size_t index = next++;
    if (const auto name = at_.accept_argument_name()) {
        positional = false;
        const field_info* const named = op.find(*name);
        if (named == nullptr)
            at_.fail(begin, std::string(op.name) + " has no argument " + in_quotes(*name) + fields_of(op));
        index = static_cast<std::size_t>(named - op.begin());
    } else if (!positional) {
        at_.fail(begin, "an argument after a named one needs its name, as in dim=1");
    } else if (index >= op.field_count) {
        at_.fail(begin, std::string(op.name) + " has no more arguments" + fields_of(op));
    }
    const field_info& f = op.fields[index];
    if (given[index]) at_.fail(begin, "argument " + in_quotes(f.name) + " is given twice");
    given[index] = true;
    const std::size_t value_at = at_.next();
    detail::visit_field(f, arguments, [&]<class T>(const T& member) {
        if (!read(const_cast<T&>(member)))
            at_.fail(value_at,
                "argument " + in_quotes(f.name) + " takes " + expected(f) + (f.optional ? ", or none" : ""));
    });
}

std::string argument_reader::expected(const field_info& f) {
    if (f.kind != field_kind::custom) return std::string(kind_text(f.kind));
    std::string text;
    f.custom->expect(
        {&text, [](void* to, std::string_view piece) { *static_cast<std::string*>(to) += piece; }});
    return text;
}

std::string argument_reader::fields_of(const op_info& op) {
    std::string text = op.field_count == 0 ? "; it has none" : "; it has";
    for (const field_info& f : op) (text += &f == op.begin() ? " " : ", ") += f.name;
    return text;
}

bool argument_reader::read(value& member) {
    if (at_.peek() != '%') return false;
    member = others_.operand();
    return true;
}

bool argument_reader::read(graph*& member) {
    if (at_.peek() != '{' && at_.peek() != '@') return false;
    member = others_.region();
    return true;
}

bool argument_reader::read(bool& member) {
    member = at_.accept_word("true");
    return member || at_.accept_word("false");
}

bool argument_reader::read(scalar& member) {
    const std::string_view text = at_.literal("a number");
    std::int64_t integer = 0;
    double floating = 0;
    if (text == "true" || text == "false") {
        member = scalar(text == "true");
    } else if (number_in(text, integer)) {
        member = scalar(integer);
    } else if (number_in(text, floating)) {
        member = scalar(floating);
    } else {
        return false;
    }
    return true;
}

bool argument_reader::read(std::string_view& member) {
    if (at_.peek() != '"') return false;
    const std::string text = at_.quoted("a string");
    member = {kept(text.data(), text.size()), text.size()};
    return true;
}

bool argument_reader::read(tensor_data& member) {
    member = others_.data();
    return true;
}

bool argument_reader::read(int_list& member) {
    std::vector<std::int64_t> items;
    if (!read_items(items)) return false;
    member = int_list(std::span<const std::int64_t>(kept(items.data(), items.size()), items.size()));
    return true;
}

template <class T>
bool argument_reader::read_items(std::vector<T>& items) {
    if (!at_.accept('[')) return false;
    if (at_.accept(']')) return true;
    do {
        if (!read(items.emplace_back())) return false;
    } while (at_.accept(','));
    at_.expect(']', "or ',' in a list");
    return true;
}

}  // namespace headrace::text
