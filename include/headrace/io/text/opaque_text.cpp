// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/text/opaque_text.hpp.

#include <headrace/io/text/opaque_text.hpp>

#include <cstddef>
#include <string>
#include <string_view>

#include <headrace/base/text.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/io/file/json.hpp>
#include <headrace/io/text/cursor.hpp>
#include <headrace/io/text/elements.hpp>

namespace headrace::text {

void opaque_writer::begin(std::string_view name) {
    if (!text_.empty() && text_.back() != '[') text_ += ", ";
    if (name.empty()) return;
    (text_ += name) += '=';
    plain_ = false;
}

void opaque_writer::put(value v) {
    (text_ += '%') += number_text(operands_.size());
    operands_.push_back(v);
}

void opaque_writer::put_raw(std::string_view text) {
    text_ += text;
    plain_ = false;
}

void opaque_writer::put_quoted(std::string_view text) {
    append_quoted(text_, text);
    plain_ = false;
}

void opaque_writer::put(double number) {
    append_floating(text_, number);
    plain_ = false;
}

void opaque_reader::read() {
    if (at_.accept(')')) return;
    read_items();
    at_.expect(')', "or ',' after an argument");
}

void opaque_reader::read_items() {
    do {
        const auto name = at_.accept_argument_name();
        out_.begin(name ? *name : std::string_view());
        read_content();
    } while (at_.accept(','));
}

void opaque_reader::read_content() {
    const char first = at_.peek();
    if (first == '%') return out_.put(operand_());
    if (first == '"') return out_.put_quoted(at_.quoted("a string"));
    if (!at_.accept('[')) return out_.put_raw(at_.literal("a value, a list, a number, a word or a string"));
    constexpr int deepest = 8;
    if (++depth_ == deepest) at_.fail_here("lists are nested too deeply");
    out_.put_raw("[");
    if (!at_.accept(']')) {
        read_items();
        at_.expect(']', "or ',' in a list");
    }
    out_.put_raw("]");
    --depth_;
}

value operand_numbers::operator()() {
    const std::size_t begin = at_.next();
    at_.expect('%', "and the number of an operand");
    std::size_t number = 0;
    if (!number_in(at_.name_here(), number) || number >= operands_.size())
        at_.fail(begin, "there is no such operand");
    return operands_[number];
}

bool is_canonical(const args<builtin::opaque>& a) {
    if (a.arguments.empty()) return true;
    const std::string text = std::string(a.arguments) + ")";
    try {
        cursor at(text, {});
        opaque_writer again;
        opaque_reader(at, again, operand_numbers(at, a.operands)).read();
        const args<builtin::opaque> read = again.arguments({});
        return at.at_end() && read.operands == a.operands && read.arguments == a.arguments;
    } catch (const failure&) {
        return false;
    }
}

}  // namespace headrace::text
