// SPDX-License-Identifier: MIT
// Defines headrace::detail::compiled_rule, the inference rules that headrace::compiled has.
#ifndef HEADRACE_INFER_COMPILED_RULES_DEFINITION_HPP
#define HEADRACE_INFER_COMPILED_RULES_DEFINITION_HPP

#include <headrace/infer/aten_definition.hpp>
#include <headrace/infer/dim_order_ops_definition.hpp>
#include <headrace/infer/higher_order_definition.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/infer/quantized_decomposed_definition.hpp>
#include <headrace/infer/tosa_definition.hpp>

namespace headrace::detail {

template <class... Dialects>
[[nodiscard]] inference_rule rule_in_tables(const op_info& op, ops<Dialects...>) {
    inference_rule rule = nullptr;
    const auto look_in = [&]<class D>() {
        if (op.dialect == &info_of_dialect<D>) rule = rule_in_table<D>(op);
    };
    (look_in.template operator()<Dialects>(), ...);
    return rule;
}

inference_rule compiled_rule(const op_info& op) { return rule_in_tables(op, compiled_rules{}); }

}  // namespace headrace::detail

#endif
