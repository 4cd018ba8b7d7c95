// SPDX-License-Identifier: MIT
// Declares headrace::compare_models, which says layer by layer how far one form of a model is from another.
#ifndef HEADRACE_LOWERING_COMPARE_MODELS_HPP
#define HEADRACE_LOWERING_COMPARE_MODELS_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/io/io_description.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/quantization/observe.hpp>

namespace headrace {

/// How a layer of the one model differs from that of the other, over all samples.
struct layer_comparison {
    std::string name;   ///< in the reference
    std::string op;     ///< of the reference
    std::string other;  ///< name in the other model
    std::vector<std::int64_t> shape;
    /// Signal to quantization noise in decibels, 10·log10(Σx² / Σ(x - y)²); infinite where all are equal.
    double sqnr = 0;
    /// The SQNR that it would have if what it reads were exact: of the noise, relative to the signal, what
    /// the noisiest of the layers before it has is taken off. Infinite where it adds none.
    double own_sqnr = 0;
    double largest_difference = 0;
    double cosine = 0;     ///< Σxy / √(Σx²·Σy²)
    double saturated = 0;  ///< share of the reference's numbers beyond what the other's integers can say
    bool fitted = false;   ///< what the integers stand for was found by least squares
    bool is_output = false;
    std::vector<std::size_t> inputs;  ///< the layers before it, at most eight, by their places in the list
};

struct model_comparison {
    std::vector<layer_comparison> layers;  ///< in the order of the reference
    std::size_t samples = 0;
    std::size_t reference_layers = 0;  ///< with those that have no counterpart
    std::size_t other_layers = 0;
};

struct comparison_options {
    sample_source samples;           ///< of the reference's inputs
    const graph* through = nullptr;  ///< the quantized program that a lowered `other` was made of
    parallel_for in_parallel = run_serially;
};

/// Notes in a lowered graph what its inputs and outputs stand for, as the lowering described it. An error if
/// the description is of other inputs or outputs.
[[nodiscard]] result<void> annotate_interface(graph& g, const io_description& io);

/// Runs both models on the samples, and compares the layers that match_layers pairs. A float program is
/// first brought into the form in which it is quantized if the other one is a quantized program, so that
/// folded norms and the steps of a softmax have counterparts.
///
/// Integers are compared as the real numbers that they stand for: by their quantize node, by the annotations
/// of the interface, or by the reference's layer or that of `through`; what remains, as in a flatbuffer
/// alone, by the scale and offset that fit best. A lowered model's images may have their channels last.
///
/// Where `other` takes integers for the reference's real numbers and no annotation says which, its inputs
/// get annotations from the reference or `through`. Errors: a model that cannot be run, inputs whose numbers
/// are not known, models without a common layer.
[[nodiscard]] result<model_comparison> compare_models(const graph& reference, graph& other,
                                                      const comparison_options& options);

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/lowering/compare_models_definition.hpp>
#endif

#endif
