// SPDX-License-Identifier: MIT
// Declares headrace::search_quantization, which searches for the settings that quantize a graph best.
#ifndef HEADRACE_QUANTIZATION_SEARCH_QUANTIZATION_HPP
#define HEADRACE_QUANTIZATION_SEARCH_QUANTIZATION_HPP

#include <functional>
#include <string>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/quantization/quantize_graph.hpp>

namespace headrace {

/// A configuration that was tried.
struct quantization_trial {
    std::string change;  ///< the change from the best configuration so far
    double sqnr = 0;     ///< at the outputs, in decibels, on samples not used for calibration
    bool is_taken = false;
};

struct quantization_search {
    quantization_config best{};
    std::vector<quantization_trial> trials{};  ///< the configuration as given comes first
    bool is_complete = true;                   ///< all changes were tried before the time limit
};

/// Quantizes copies of a float graph, adding one change at a time, and keeps each that improves the result:
/// equalization, smoothing, 5, 10 and 20 % of headroom, ranges by least square error, by the extremes and by
/// percentiles, bias correction, and headroom once more. Three quarters of the samples calibrate, every
/// fourth one judges; with fewer than eight, all samples do both. Rules are kept.
///
/// `infer` is for the passes that prepare the graph. No further change is tried once `goes_on` returns false;
/// the result depends on time only in that case.
[[nodiscard]] result<quantization_search> search_quantization(const graph& g, const quantization_config& base,
    const sample_source& samples, pass_context::node_inference infer, const parallel_for& in_parallel,
    const std::function<bool()>& goes_on);

}  // namespace headrace

#endif
