// SPDX-License-Identifier: MIT
// Declares headrace::mask_scores, which turns infinities among scores into boolean masks.
#ifndef HEADRACE_QUANTIZATION_MASKS_MASK_SCORES_HPP
#define HEADRACE_QUANTIZATION_MASKS_MASK_SCORES_HPP

#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/quantization/observers/observe.hpp>
#include <headrace/rewrite/pass_context.hpp>

namespace headrace {

/// Turns infinities among attention scores into boolean masks. A score of -infinity, or of -1e9, tells a
/// softmax to leave an element out. As a number it would take up the whole integer range: with -1e9 among the
/// scores, a step is 4 million. So the exponentials of excluded elements are set to 0 instead, and the scores
/// keep their range. Infinities are followed from where they arise through all arithmetic that leads to a
/// softmax, an exponential, or a maximum or minimum; samples show which numbers of an input stand for
/// infinity. Without samples, only constants do.
///
/// Returns the values, such as inputs, in which some numbers still stand for infinity and are told from the
/// others by a bound. The range of such a value is that of its other numbers; saturated numbers are beyond
/// the bound.
[[nodiscard]] result<std::vector<value>> mask_scores(graph& g, pass_context& context,
    const sample_source& samples, const parallel_for& in_parallel = run_serially);

}  // namespace headrace

#endif
