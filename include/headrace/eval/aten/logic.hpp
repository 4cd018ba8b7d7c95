// SPDX-License-Identifier: MIT
// Declares functions of bits, and headrace::eval::select_where.
#ifndef HEADRACE_EVAL_ATEN_LOGIC_HPP
#define HEADRACE_EVAL_ATEN_LOGIC_HPP

#include <cstdint>

#include <headrace/eval/evaluation.hpp>
#include <headrace/eval/map.hpp>

namespace headrace::eval {

/// For integers and booleans only.
template <class A, class B, class F>
void map_bits(evaluation& e, const A& a, const B& b, F f) {
    broadcast_binary<std::int64_t>(e.output(), operand(e, a), operand(e, b), e.output_type(), f);
}

/// Selects elements of `yes` or `no`, both cast to the dtype of the result.
void select_where(evaluation& e, const tensor& condition, const tensor& yes, const tensor& no);

}  // namespace headrace::eval

#endif
