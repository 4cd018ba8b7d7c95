// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/text/opaque_arguments.hpp.

#include <headrace/io/text/opaque_arguments.hpp>

#include <vector>

#include <headrace/base/error.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/io/text/opaque_text.hpp>

namespace headrace {

namespace {

/// Reads the text of an opaque node with the cursor for texts of graphs.
class opaque_argument_parser {
public:
    opaque_argument_parser(text::cursor& at, list<value> operands) : at_(at), operand_(at, operands) {}

    [[nodiscard]] std::vector<opaque_argument> items() {
        std::vector<opaque_argument> found;
        do {
            opaque_argument& a = found.emplace_back();
            if (const auto name = at_.accept_argument_name()) a.name = *name;
            read(a);
        } while (at_.accept(','));
        return found;
    }

private:
    void read(opaque_argument& a) {
        using content = opaque_argument::content;
        const char first = at_.peek();
        if (first == '%') {
            a.kind = content::tensor;
            a.tensor = operand_();
        } else if (first == '"') {
            a.kind = content::text;
            a.text = at_.quoted("a string");
        } else if (at_.accept('[')) {
            a.kind = content::list;
            if (!at_.accept(']')) {
                a.items = items();
                at_.expect(']', "or ',' in a list");
            }
        } else {
            a.text = at_.literal("a value, a list, a number, a word or a string");
        }
    }

    text::cursor& at_;
    text::operand_numbers operand_;
};

}  // namespace

result<std::vector<opaque_argument>> opaque_arguments(const args<builtin::opaque>& a) {
    std::vector<opaque_argument> found;
    if (a.arguments.empty()) {
        for (const value v : a.operands) {
            found.emplace_back();
            found.back().kind = opaque_argument::content::tensor;
            found.back().tensor = v;
        }
        return found;
    }
    if (!text::is_canonical(a)) return invalid("its arguments cannot be read: it has others");
    text::cursor at(a.arguments, {});
    return opaque_argument_parser(at, a.operands).items();
}

}  // namespace headrace
