// SPDX-License-Identifier: MIT
// Declares headrace::check_integers and headrace::prepare_integers, which ensure that a lowering to 32 bits
// computes PyTorch's integers.
#ifndef HEADRACE_LOWERING_INTEGER_CHECK_HPP
#define HEADRACE_LOWERING_INTEGER_CHECK_HPP

#include <string>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/result.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/rewrite/pass_context.hpp>

namespace headrace {

/// The integers of a program that do not fit in 32 bits, described for its author.
struct integer_check {
    pmr_vector<diagnostic> refusals{};  ///< values that do not fit for some input
    std::string warning{};  ///< values and inputs that are assumed to fit; empty if there are none
};

/// Finds the integers of a graph, which is not changed, that a lowering would compute incorrectly in 32 bits.
/// If `strict`, values that would be assumed to fit are refused.
[[nodiscard]] result<integer_check> check_integers(const graph& g, bool strict);

/// Rewrites ops that could be right in 32 bits but are not yet: negation and absolute value of the least
/// int32 give that number in PyTorch, and constants whose intermediate values need 64 bits are computed with
/// 64 bits. If there are neither, the graph is unchanged; otherwise it becomes functional.
[[nodiscard]] result<void> prepare_integers(graph& g);

}  // namespace headrace

#endif
