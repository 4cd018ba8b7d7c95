// SPDX-License-Identifier: MIT
// Defines headrace::check_integers and headrace::prepare_integers, for which a lowering to 32 bits has the
// integers that PyTorch has.
#ifndef HEADRACE_LOWERING_INTEGER_CHECK_HPP
#define HEADRACE_LOWERING_INTEGER_CHECK_HPP

#include <string>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/result.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/pass/pass_context.hpp>

namespace headrace {

/// Which integers of a program 32 bits do not hold, in words for its author.
struct integer_check {
    pmr_vector<diagnostic> refusals{};  ///< values that do not fit for some input
    std::string warning{};  ///< values and inputs that are assumed to fit; empty if there are none
};

// integer_check_definition.hpp defines these functions: include it in exactly one translation unit of a
// program.

/// Finds the integers that a lowering of the graph, which stays as it is, would compute wrongly in 32 bits.
/// If it is `strict`, what would be assumed is refused.
[[nodiscard]] result<integer_check> check_integers(const graph& g, bool strict);

/// Rewrites what can be right in 32 bits but would not be as it is: the negation and the magnitude of the
/// least int32 are that number itself in PyTorch, and constants that 32 bits do not hold on their way are
/// computed with 64 bits. Where there is neither, the graph stays as it is, else it becomes functional.
[[nodiscard]] result<void> prepare_integers(graph& g);

}  // namespace headrace

#endif
