// SPDX-License-Identifier: MIT
// Defines headrace::mask_scores, which makes boolean masks of infinities among scores.
#ifndef HEADRACE_QUANTIZATION_MASK_SCORES_HPP
#define HEADRACE_QUANTIZATION_MASK_SCORES_HPP

#include <vector>

#include <headrace/pass/pass_context.hpp>
#include <headrace/quantization/observe.hpp>

namespace headrace {

/// A score of -infinity, or of -1e9, says that a softmax leaves an element out. As a number it would take all
/// of an integer's range: with -1e9 among the scores a step is 4 million. So the exponentials of what is left
/// out become 0 instead, and the scores keep their range. Infinities are followed from where they arise
/// through all arithmetic that leads to a softmax, to an exponential, or to a largest or smallest number;
/// samples tell which numbers of an input stand for them. Without samples, only constants do.
///
/// Returns the values, such as inputs, of which some numbers still stand for infinity and a bound tells these
/// from the others: their ranges are those of the others, and saturated numbers lie beyond the bound.
[[nodiscard]] result<std::vector<value>> mask_scores(graph& g, pass_context& context,
                                                     const sample_source& samples,
                                                     const parallel_for& in_parallel = run_serially);

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/quantization/mask_scores_definition.hpp>
#endif

#endif
