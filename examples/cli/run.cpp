// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include <headrace/infer/shape_builder.hpp>
#include <headrace/io/file/npy.hpp>
#include <headrace/io/package/package.hpp>
#include <headrace/io/signature/graph_signature.hpp>
#include <headrace/io/signature/io_description_reader.hpp>
#include <headrace/ir/dead_code.hpp>
#include <headrace/run/execution.hpp>
#include <headrace/run/models.hpp>
#include <headrace/run/signature_tensors.hpp>

#include "commands.hpp"
#include "graph_files.hpp"
#include "messages.hpp"
#include "notes.hpp"
#include "package.hpp"

namespace headrace::cli {

namespace {

result<void> write_output(const std::string& file, const tensor& t) {
    const tensor_meta meta{t.type(), int_list(t.shape()), {}};
    return write_npy(file, meta, t.bytes());
}

void print_summary(std::size_t i, const tensor& t) {
    fmt::print("output {}: {}{}", i, name_of(t.type()), shape_text(t.shape()));
    constexpr std::int64_t shown = 8;
    for (std::int64_t k = 0; k != std::min(t.size(), shown); ++k)
        fmt::print("{}{:.6g}", k == 0 ? " = " : ", ", t.real(k));
    fmt::print("{}\n", t.size() > shown ? ", …" : "");
}

/// Annotates a delegate from its package, which has the quantization of its integers.
result<void> describe_by_package(const loaded_model& loaded, const std::string& name) {
    HEADRACE_TRY(method, loaded.source->method(name));
    if (!method->delegate || method->io.empty()) return {};
    HEADRACE_TRY(io, read_io_description(std::as_bytes(std::span(method->io))));
    return describe_signature(*loaded.model.graph, io);
}

/// Reports bad usage if there are files, but a different number than tensors.
int check_count(const char* what, std::size_t tensors, std::size_t files) {
    if (files == 0 || files == tensors) return status_ok;
    return report_usage(fmt::format("the model has {}, {} given", counted(tensors, what),
        counted(files, "file") + (files == 1 ? " was" : " were")));
}

result<int> run_model(const run_model_options& options) {
    HEADRACE_TRY(loaded, load_model_with_data(options.model, options.method, options.data, options.sizes));
    const program& p = loaded.model;
    graph& g = *p.graph;
    eliminate_dead_code(g);
    say_notes(options.model, g);
    if (!options.io.empty()) {
        HEADRACE_TRY(describe_signature(g, options.io, options.method));
    } else if (loaded.source) {
        HEADRACE_TRY(describe_by_package(loaded, options.method));
    }
    const std::size_t output_count = std::min(g.outputs().size(), p.user_outputs);
    for (const int status : {check_count("input", signature_inputs(g).size(), options.inputs.size()),
             check_count("output", output_count, options.outputs.size())}) {
        if (status != status_ok) return status;
    }
    const auto side = options.io.empty() ? signature_side::graph : signature_side::exported;
    HEADRACE_TRY(given, read_inputs(g, options.inputs, side));
    warn_of_training(g);
    HEADRACE_TRY(outputs, execute(g, given.tensors));
    HEADRACE_TRY(loaded.check());
    if (!options.io.empty() || given.quantized_here) outputs = outputs_of(g, std::move(outputs));
    outputs.resize(output_count);
    for (std::size_t i = 0; i != outputs.size(); ++i) {
        if (options.outputs.empty()) {
            print_summary(i, outputs[i]);
        } else {
            HEADRACE_TRY(write_output(options.outputs[i], outputs[i]));
        }
    }
    return status_ok;
}

}  // namespace

int run(const run_model_options& options) {
    if (const int status = check_method_option(options.model, options.method); status != status_ok)
        return status;
    if (const int status = check_distinct_files(options.outputs, options.model); status != status_ok)
        return status;
    for (const std::string& file : options.outputs) {
        if (const int status = check_extension(file, {".npy"}); status != status_ok) return status;
    }
    const result<int> status = run_model(options);
    return status ? status.value() : report_error(status.error());
}

}  // namespace headrace::cli
