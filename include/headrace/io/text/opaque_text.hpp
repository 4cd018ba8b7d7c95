// SPDX-License-Identifier: MIT
// Defines how the arguments of an op that no dialect knows are read and written as text.
#ifndef HEADRACE_IO_TEXT_OPAQUE_TEXT_HPP
#define HEADRACE_IO_TEXT_OPAQUE_TEXT_HPP

#include <functional>
#include <memory_resource>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/text.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/io/text/cursor.hpp>

namespace headrace::detail::graph_text {

/// Collects arguments of any kind in the form of builtin::opaque.
class opaque_writer {
public:
    /// Begins an argument, or an item of the open list.
    void begin(std::string_view name) {
        if (!text_.empty() && text_.back() != '[') text_ += ", ";
        if (name.empty()) return;
        (text_ += name) += '=';
        plain_ = false;
    }
    void put(value v) {
        (text_ += '%') += number_text(operands_.size());
        operands_.push_back(v);
    }
    void put_raw(std::string_view text) {
        text_ += text;
        plain_ = false;
    }
    void put_quoted(std::string_view text) {
        append_quoted(text_, text);
        plain_ = false;
    }
    void put(double number) {
        append_floating(text_, number);
        plain_ = false;
    }
    /// Returns the args struct, which views this object.
    [[nodiscard]] args<builtin::opaque> arguments(std::string_view target) const {
        return {target, list<value>(operands_), plain_ ? std::string_view() : std::string_view(text_)};
    }

private:
    std::pmr::string text_;
    std::vector<value> operands_;
    bool plain_ = true;  // only operands so far, which need no text
};

/// Reads `self=%x, dims=[1, 2])`: the text after an opening parenthesis.
class opaque_reader {
public:
    opaque_reader(cursor& at, opaque_writer& out, std::function<value()> operand)
        : at_(at), out_(out), operand_(std::move(operand)) {}

    void read() {
        if (at_.accept(')')) return;
        read_items();
        at_.expect(')', "or ',' after an argument");
    }

private:
    // Members of structs have names, too.
    void read_items() {
        do {
            const auto name = at_.accept_argument_name();
            out_.begin(name ? *name : std::string_view());
            read_content();
        } while (at_.accept(','));
    }
    void read_content() {
        const char first = at_.peek();
        if (first == '%') return out_.put(operand_());
        if (first == '"') return out_.put_quoted(at_.quoted("a string"));
        if (!at_.accept('['))
            return out_.put_raw(at_.literal("a value, a list, a number, a word or a string"));
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

    cursor& at_;
    opaque_writer& out_;
    std::function<value()> operand_;
    int depth_ = 0;
};

/// Reads %0, %1 and so on in the arguments of an opaque node, one after the other, and returns these
/// operands.
class operand_numbers {
public:
    operand_numbers(cursor& at, list<value> operands) : at_(at), operands_(operands) {}

    value operator()() {
        const std::size_t begin = at_.next();
        at_.expect('%', "and the number of an operand");
        std::size_t number = 0;
        if (!number_in(at_.name_here(), number) || number >= operands_.size())
            at_.fail(begin, "there is no such operand");
        return operands_[number];
    }

private:
    cursor& at_;
    list<value> operands_;
};

/// True if the text of an opaque node has the form that its arguments are written in, so that it can be
/// printed as it is. If a program made the node, the text may be anything.
[[nodiscard]] inline bool is_canonical(const args<builtin::opaque>& a) {
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

}  // namespace headrace::detail::graph_text

#endif
