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

#include <headrace/dialect/builtin.hpp>
#include <headrace/io/text/cursor.hpp>

namespace headrace::text {

/// Collects arguments of any kind in the form of builtin::opaque.
class opaque_writer {
public:
    /// Begins an argument, or an item of the open list.
    void begin(std::string_view name);
    void put(value v);
    void put_raw(std::string_view text);
    void put_quoted(std::string_view text);
    void put(double number);
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

    void read();

private:
    // Members of structs have names, too.
    void read_items();
    void read_content();

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

    value operator()();

private:
    cursor& at_;
    list<value> operands_;
};

/// True if the text of an opaque node has the form that its arguments are written in, so that it can be
/// printed as it is. If a program made the node, the text may be anything.
[[nodiscard]] bool is_canonical(const args<builtin::opaque>& a);

}  // namespace headrace::text

#endif
