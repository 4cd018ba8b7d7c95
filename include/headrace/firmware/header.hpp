// SPDX-License-Identifier: MIT
// Declares headrace::firmware::write_header: a lowered model as a C++ type.
#ifndef HEADRACE_FIRMWARE_HEADER_HPP
#define HEADRACE_FIRMWARE_HEADER_HPP

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/banks/memory_map.hpp>
#include <headrace/base/result.hpp>
#include <headrace/eval/tensor.hpp>
#include <headrace/firmware/bank_layout.hpp>
#include <headrace/firmware/layers.hpp>
#include <headrace/firmware/report.hpp>
#include <headrace/io/signature/io_description.hpp>
#include <headrace/io/stream_signature.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/rewrite/pass_context.hpp>

namespace headrace::firmware {

/// Computes the outputs of a model for inputs, or returns an error.
using model_execution = std::function<result<std::vector<tensor>>(std::span<const tensor>)>;

struct header_options {
    std::string name;   ///< of the namespace: a C++ identifier, or several with `::` between them
    std::string model;  ///< the file that the model comes from, for the first comment
    core_description core{};
    pass_context::node_inference infer = nullptr;  ///< for the passes: headrace::infer_node
    std::optional<std::int64_t> largest_arena{},
        largest_flash{};                       ///< bytes; beyond them the model is refused
    std::optional<memory_map> memory{};        ///< the banks of the board; one arena without it
    model_execution execute{};                 ///< for the sample of the header's self-test; none without it
    std::optional<stream_signature> stream{};  ///< of a model that computes a step
};

/// A generated header with its layers and figures. Comments at its top are the report, a line each.
struct model_header {
    std::string text;
    io_description io;
    written_layers layers;
    model_report report;
    std::optional<bank_layout> banks{};  ///< if there is a memory map
};

/// The report in the comments of a generated header, or of a source with one; nothing if the text is neither.
[[nodiscard]] std::optional<std::string> report_in(std::string_view header);

/// Rewrites a graph of TOSA operators to layers and writes it as a header. An error names what no kernel
/// computes, or the tensors at the peak of an arena that is too large.
[[nodiscard]] result<model_header> write_header(graph& g, const header_options& options);

}  // namespace headrace::firmware

#endif
