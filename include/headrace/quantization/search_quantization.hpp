// SPDX-License-Identifier: MIT
// Declares headrace::search_quantization, which tries what makes a quantized graph better.
#ifndef HEADRACE_QUANTIZATION_SEARCH_QUANTIZATION_HPP
#define HEADRACE_QUANTIZATION_SEARCH_QUANTIZATION_HPP

#include <functional>
#include <string>
#include <vector>

#include <headrace/quantization/quantize_graph.hpp>

namespace headrace {

/// A way to quantize that was tried.
struct quantization_trial {
    std::string change;  ///< what it has beside what had been taken before
    double sqnr = 0;     ///< at the outputs, for samples that ranges were not made of, in decibels
    bool is_taken = false;
};

struct quantization_search {
    quantization_config best{};
    std::vector<quantization_trial> trials{};  ///< the configuration as given comes first
    bool is_complete = true;                   ///< all was tried before the time was over
};

/// Quantizes copies of a float graph with one more of these changes at a time, and keeps each that gains:
/// equalization, smoothing, 5, 10 and 20 % of headroom, ranges by least square error, by the extremes and by
/// percentiles, bias correction, and headroom once more. Ranges are made of three quarters of the samples,
/// every fourth one judges; of all, both, if there are fewer than eight. Rules stay as they are.
///
/// `infer` is for the passes that prepare the graph. Nothing new is tried once `goes_on` says no; the result
/// depends on time only then.
[[nodiscard]] result<quantization_search> search_quantization(const graph& g, const quantization_config& base,
                                                              const sample_source& samples,
                                                              pass_context::node_inference infer,
                                                              const parallel_for& in_parallel,
                                                              const std::function<bool()>& goes_on);

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/quantization/search_quantization_definition.hpp>
#endif

#endif
