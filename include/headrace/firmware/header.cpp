// SPDX-License-Identifier: MIT
// Lowers a model to layers with planned memory, and writes its header.
#include <headrace/firmware/header.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include <headrace/firmware/header_text.hpp>
#include <headrace/firmware/layer_writer.hpp>
#include <headrace/on_device/sample.hpp>
#include <headrace/passes/device_lowering.hpp>

namespace headrace::firmware {

namespace {

// A layer's kernel computes any operator of its graph; all other operators need a writer.
template <class Op>
inline constexpr bool is_written = has_writer<Op> || one_of<Op, layered_ops>;

template <class... Ops>
constexpr auto written_of(ops<Ops...>) {
    op_set<tosa::dialect, device::dialect> set;
    ((is_written<Ops> ? set.template insert<Ops>() : void()), ...);
    return set;
}

/// The proof that every model that lowers to TOSA has a kernel for each of its layers.
struct writable {
    static constexpr auto set = written_of(tosa::dialect::all_ops{}) | written_of(device::dialect::all_ops{});
};
using to_device = device_lowering<writable>;

double next_number(on_device::sample_numbers& numbers, on_device::element type) {
    using enum on_device::element;
    switch (type) {
        case float32:
        case float16:
        case bfloat16:
            return numbers.next<float32>();
        case int8:
            return numbers.next<int8>();
        case uint8:
            return numbers.next<uint8>();
        case int16:
            return numbers.next<int16>();
        default:
            return static_cast<double>(numbers.next<int32>());
    }
}

// Inputs that a board makes as well.
std::optional<std::vector<tensor>> sample_inputs(const graph& g) {
    std::vector<tensor> inputs;
    on_device::sample_numbers numbers;
    for (const node& n : g.inputs()) {
        const tensor_meta& meta = *n.results[0].meta;
        const auto type = element_of(meta.dtype);
        if (!type) return std::nullopt;
        std::vector<double> all(static_cast<std::size_t>(meta.elements()));
        for (double& x : all) x = next_number(numbers, *type);
        inputs.push_back(tensor::of(meta.dtype, {meta.shape.begin(), meta.shape.end()}, all));
    }
    return inputs;
}

// Names of arrays with elements of each output, or nothing if the model cannot be executed on such inputs.
std::vector<std::string> add_sample(const graph& g, const model_execution& execute, constant_arrays& to) {
    std::vector<std::string> names;
    const auto inputs = execute ? sample_inputs(g) : std::nullopt;
    if (!inputs) return names;
    const auto outputs = execute(*inputs);
    if (!outputs) return names;
    for (const tensor& y : outputs.value()) {
        const auto type = element_of(y.type());
        if (!type || y.size() == 0 || y.size() > INT32_MAX) return {};
        std::vector<std::int64_t> integers;
        std::vector<float> floats;
        for (std::int64_t i = 0; i < y.size();
             i += on_device::sample_step(static_cast<std::int32_t>(y.size())))
            if (is_floating(*type))
                floats.push_back(static_cast<float>(y.real(i)));
            else
                integers.push_back(y.integer(i));
        names.push_back(
            floats.empty() ? to.add("output", *type, integers) : to.add_floats("output", *type, floats));
    }
    return names;
}

std::string format_peak_sizes(const model_report& report) {
    std::vector<std::int64_t> sizes;
    for (const reported_tensor* t : report.peak()) sizes.push_back(t->bytes);
    return fmt::format("at {} there are tensors of {} bytes", report.fullest(), fmt::join(sizes, ", "));
}

result<void> check_limits(const model_report& report, const header_options& options) {
    if (options.largest_arena && report.arena.bytes > *options.largest_arena)
        return unsupported(fmt::format("the arena has {} bytes, {} are allowed: {}", report.arena.bytes,
            *options.largest_arena, format_peak_sizes(report)));
    if (options.largest_flash && report.constant_bytes > *options.largest_flash)
        return unsupported(fmt::format("the constants take {} bytes of flash, {} are allowed",
            report.constant_bytes, *options.largest_flash));
    return {};
}

}  // namespace

result<model_header> write_header(graph& g, const header_options& options) {
    io_description io = describe_io(g);
    constant_arrays sample(SIZE_MAX);
    const std::vector<std::string> outputs = add_sample(g, options.execute, sample);
    pass_context context(options.infer);
    const result_names names(g);
    HEADRACE_TRY(to_device::run_unchecked(g, context, {}));
    HEADRACE_TRY(layers, write_layers(g, options.core, names));
    arena_figures arena = plan_buffers(layers.buffers);
    std::optional<bank_layout> banks;
    if (options.memory) {
        HEADRACE_TRY(planned, plan_banks(layers, *options.memory));
        arena.bytes = planned.arena_bytes;
        arena.lower_bound = planned.lower_bound;
        banks = std::move(planned);
    }
    model_header made{.text = {},
        .io = std::move(io),
        .layers = std::move(layers),
        .report = {},
        .banks = std::move(banks)};
    made.report = report_of(made.layers, arena, options.core);
    HEADRACE_TRY(check_limits(made.report, options));
    made.text = format_header(options, made, sample.text(), outputs);
    return made;
}

}  // namespace headrace::firmware
