// SPDX-License-Identifier: MIT
// Defines headrace::signature_inputs and headrace::signature_outputs: what the caller of a graph must know
// about its inputs and outputs.
#ifndef HEADRACE_IO_SIGNATURE_GRAPH_SIGNATURE_HPP
#define HEADRACE_IO_SIGNATURE_GRAPH_SIGNATURE_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <headrace/ir/graph.hpp>
#include <headrace/ir/signature.hpp>

namespace headrace {

/// An input or an output, under its name in the exported program. It refers to the graph.
struct signature_tensor {
    std::string_view name;
    const tensor_meta& meta;
    const signature_quantization* quantization;  ///< null if the numbers are the user's own
    bool channels_last;                          ///< NHWC here, NCHW as exported
    bool is_unsigned;                            ///< int8 here, uint8 to the caller

    /// The dtype that the caller passes or receives.
    [[nodiscard]] headrace::dtype dtype() const { return is_unsigned ? headrace::dtype::uint8 : meta.dtype; }
};

/// Asks the pipeline to move the channels of inputs and outputs with four axes last (NHWC).
inline void ask_for_channels_last(graph& g) {
    for (node& n : g.inputs()) g.annotate(n, channels_last_signature{});
    if (g.output() != nullptr) g.annotate(*g.output(), channels_last_signature{});
}

/// True if a tensor of that rank at this placeholder or output node has its channels last, although it was
/// exported with them first.
[[nodiscard]] inline bool is_channels_last(const node& n, std::size_t rank) {
    const auto* layout = n.find_annotation<channels_last_signature>();
    return layout != nullptr && layout->applied && rank == 4;
}

/// True if the output at that position is int8 here and uint8 to the caller.
[[nodiscard]] inline bool is_unsigned_output(const node& output, std::size_t position) {
    const auto* a = output.find_annotation<unsigned_outputs>();
    return a != nullptr &&
        std::find(a->positions.begin(), a->positions.end(), static_cast<std::int64_t>(position)) !=
        a->positions.end();
}

namespace detail {

// A scale of 0 marks a tensor whose integers are the user's own.
[[nodiscard]] inline const signature_quantization* if_quantized(const signature_quantization* q) {
    return q == nullptr || q->scale == 0 ? nullptr : q;
}

}  // namespace detail

[[nodiscard]] inline std::vector<signature_tensor> signature_inputs(const graph& g) {
    std::vector<signature_tensor> all;
    for (const node& n : g.inputs()) {
        const tensor_meta& meta = *n.results[0].meta;
        const auto* q = n.find_annotation<signature_quantization>();
        all.push_back({n.name(), meta, detail::if_quantized(q), is_channels_last(n, meta.rank()),
            n.find_annotation<unsigned_input>() != nullptr});
    }
    return all;
}

[[nodiscard]] inline std::vector<signature_tensor> signature_outputs(const graph& g) {
    std::vector<signature_tensor> all;
    const node& out = *g.output();
    const auto* exported = out.find_annotation<output_names>();
    const auto* quantized = out.find_annotation<output_quantizations>();
    for (const value v : g.outputs()) {
        const std::size_t i = all.size();
        const bool named = exported != nullptr && i < exported->names.size();
        const bool coded = quantized != nullptr && i < quantized->values.size();
        const auto* q = coded ? &quantized->values[i] : nullptr;
        all.push_back({named ? exported->names[i] : v.producer->name(), *meta_of(v), detail::if_quantized(q),
            is_channels_last(out, meta_of(v)->rank()), is_unsigned_output(out, i)});
    }
    return all;
}

}  // namespace headrace

#endif
