// SPDX-License-Identifier: MIT
// Declares headrace::compare_models, which measures, layer by layer, how far one form of a model is from
// another.
#ifndef HEADRACE_COMPARE_COMPARE_MODELS_HPP
#define HEADRACE_COMPARE_COMPARE_MODELS_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/io/signature/io_description.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/quantization/observers/observe.hpp>

namespace headrace {

/// How a layer of the reference differs from that of the other model, over all samples.
struct layer_comparison {
    std::string name;    ///< in the reference
    std::string op;      ///< of the reference
    std::string other;   ///< name in the other model
    std::string source;  ///< line of the reference's own source, "net.py:42"; empty if the export has none
    std::string module;  ///< path of the reference's module, "encoder.norm1"; empty if the export has none
    std::vector<std::int64_t> shape;
    /// Signal to quantization noise in decibels, 10·log10(Σx² / Σ(x - y)²); infinite if all elements are
    /// equal.
    double sqnr = 0;
    /// The SQNR if the layer's inputs were exact: from its noise relative to the signal, that of its noisiest
    /// predecessor is subtracted. Infinite if the layer adds no noise.
    double own_sqnr = 0;
    double largest_difference = 0;
    double cosine = 0;     ///< Σxy / √(Σx²·Σy²)
    double saturated = 0;  ///< share of the reference's numbers outside the range of the other's integers
    bool fitted = false;   ///< the scale and offset of the integers were found by least squares
    bool is_output = false;
    std::vector<std::size_t> inputs;  ///< its predecessors, at most eight, by position in the list
};

struct model_comparison {
    std::vector<layer_comparison> layers;  ///< in the order of the reference
    std::size_t samples = 0;
    std::size_t reference_layers = 0;  ///< including those without a counterpart
    std::size_t other_layers = 0;
    std::string_view
        machine{};  ///< the runtime whose arithmetic the other model has; empty for PyTorch's and TOSA's
};

struct comparison_options {
    sample_source samples;           ///< of the reference's inputs
    const graph* through = nullptr;  ///< the quantized program from which `other` was lowered
    parallel_for in_parallel = run_serially;
};

/// Annotates the inputs and outputs of a lowered graph with the quantization that the lowering described.
/// Returns an error if the description is of other inputs or outputs.
[[nodiscard]] result<void> annotate_signature(graph& g, const io_description& io);

/// Runs both models on the samples, and compares the layers that match_layers pairs. If `other` is a
/// quantized program, a float reference is first brought into the form in which it is quantized, so that
/// folded norms and the steps of a softmax have counterparts.
///
/// Integers are compared as the real numbers that they represent. Their scale is taken from their quantize
/// node, from annotations of the signature, from the reference's layer or from that of `through`; otherwise,
/// as for a flatbuffer alone, scale and offset are fitted. A lowered model's images may be channels-last.
///
/// If `other` takes integers for the reference's real numbers and has no annotations, its inputs are
/// annotated from the reference or `through`. Errors: a model that cannot be run, inputs whose quantization
/// is unknown, models without a common layer.
[[nodiscard]] result<model_comparison> compare_models(
    const graph& reference, graph& other, const comparison_options& options);

}  // namespace headrace

#endif
