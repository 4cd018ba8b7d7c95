// SPDX-License-Identifier: MIT
// Prints passes/declared_passes.hpp; see declarations.hpp.
#include <cstdio>
#include <string>
#include <string_view>

#include <headrace/passes/declare/declarations.hpp>
#include <headrace/version.hpp>

namespace headrace::declare {

namespace {

constexpr std::string_view head = R"(// SPDX-License-Identifier: MIT
// Headrace )" HEADRACE_VERSION R"(: declares the standard passes, for programs that link headrace::compiled.
#ifndef HEADRACE_PASSES_DECLARED_PASSES_HPP
#define HEADRACE_PASSES_DECLARED_PASSES_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/dim_order_ops.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/pass/pass.hpp>

namespace headrace {

)";
constexpr std::string_view tail = R"(
}  // namespace headrace

#endif
)";

}  // namespace

std::string declarations::text() const {
    std::string text(head);
    text += "struct constant_evaluator;\n";
    for (const std::string& name : named_) {
        const std::size_t arguments = name.find('<');
        if (arguments != std::string::npos) text += "template <class>\n";
        text += "struct " + name.substr(0, arguments) + ";\n";
    }
    text += passes_;
    text += tail;
    return text;
}

}  // namespace headrace::declare

int main() {
    using namespace headrace::declare;
    declarations out;
    declare_normalize(out);
    declare_quantize(out);
    declare_decompose(out);
    declare_legalize(out);
    declare_layout(out);
    declare_npu(out);
    declare_u55(out);
    const std::string text = out.text();
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
