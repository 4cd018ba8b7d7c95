// SPDX-License-Identifier: MIT
// Declares headrace::reduce_program, which finds the smallest program that still has a property.
#ifndef HEADRACE_REDUCE_REDUCE_HPP
#define HEADRACE_REDUCE_REDUCE_HPP

#include <cstddef>
#include <functional>

#include <headrace/base/function_ref.hpp>
#include <headrace/base/result.hpp>
#include <headrace/io/program.hpp>

namespace headrace {

/// Returns whether a program still has the property for which it is reduced, such as "lowering it crashes".
/// It must return the same for equal programs. An error ends the reduction.
using is_interesting = function_ref<result<bool>(const program&)>;

/// How far a reduction has come.
struct reduction_progress {
    std::size_t nodes = 0;    ///< of the smallest program so far, without inputs, constants and the output
    std::size_t tests = 0;    ///< programs for which the test was run
    bool is_smaller = false;  ///< the last one was interesting
};

struct reduce_options {
    bool keeps_sizes = false;      ///< tensors keep their sizes
    bool keeps_constants = false;  ///< constants keep their elements
    /// Called after each test, with the smallest program so far. An error ends the reduction.
    std::function<result<void>(const reduction_progress&, const program&)> after_test{};
};

/// The result of a reduction.
struct reduction {
    program smallest;
    reduction_progress done;
};

/// Returns the smallest program that the strategies below find for which `test` holds, as it must for `p`.
/// Each is delta debugging: parts are left out, halves first, then quarters, at last single ones (Zeller and
/// Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE TSE 28(2), 2002). Left out are
/// outputs; nodes, whose results become inputs, the operand of their type, or constants; optional operands;
/// inputs, which become the first one of their type. Then sizes become smaller, and constants zeros or ones.
/// All of it is repeated until nothing helps. The order is fixed, and no program is tested twice. The result
/// views the memory of `p`, which must outlive it.
[[nodiscard]] result<reduction> reduce_program(
    const program& p, is_interesting test, const reduce_options& options = {});

/// Returns the number of nodes without inputs, constants and the output.
[[nodiscard]] std::size_t count_computed(const graph& g);

}  // namespace headrace

#endif
