// SPDX-License-Identifier: MIT
#include "lowering_checks.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/io/tosa_emitter.hpp>
#include <headrace/io/tosa_reader.hpp>
#include <headrace/lowering/execution.hpp>
#include <headrace/lowering/lower.hpp>
#include <headrace/lowering/models.hpp>
#include <headrace/partition/extract.hpp>
#include <headrace/quantization/quantize_graph.hpp>
#include <headrace/target/tosa_verify.hpp>

namespace headrace::fuzz {

namespace {

// Outputs of one step that must be the same in the next one.
void compare_bytes(std::span<const std::byte> a, std::span<const std::byte> b, const char* what) {
    if (!std::ranges::equal(a, b)) found(what);
}

lowering_outcome lower(const std::string& path, const lowering_options& options) {
    return try_lowering([&] { return read_model(path, {.examples = true}); }, options);  // dynamic sizes, too
}

void saw_report(const lowering_report& report) {
    for (const pass_record& p : report.passes) {
        if (p.status != pass_status::ran || p.nodes.rewritten == 0) continue;
        saw(p.name, report.target, std::to_string(std::bit_width(p.nodes.rewritten)));
    }
}

// What a kernel computes in a step must stay small: the product of two tensors, for a convolution.
bool is_small(const graph& g) {
    constexpr std::uint64_t most_elements = 1 << 14;
    constexpr std::size_t most_nodes = 2000;
    std::uint64_t elements = 0;
    for (const node& n : g.nodes()) {
        for (const result_slot& r : std::span(n.results, n.result_count)) {
            if (!r.meta) continue;
            const auto count = r.meta->checked_elements();
            if (!count) return false;
            elements += static_cast<std::uint64_t>(*count);
            if (elements > most_elements) return false;
        }
    }
    return g.size() <= most_nodes &&
           std::ranges::all_of(g.regions(), [](const graph& region) { return is_small(region); });
}

tensor zeros_like(const tensor_meta& meta) {
    return tensor::of(meta.dtype, {meta.shape.begin(), meta.shape.end()},
                      std::vector<double>(static_cast<std::size_t>(meta.elements())));
}

}  // namespace

void saw_graph(const graph& g, std::string_view where) {
    for (const node& n : g.nodes()) {
        for (const edge& e : n.operand_edges()) saw(where, e.source->op->name, n.op->name);
        for (const result_slot& r : std::span(n.results, n.result_count)) {
            if (r.meta) saw(n.op->name, name_of(r.meta->dtype), std::to_string(r.meta->rank()));
        }
    }
    for (const graph& region : g.regions()) saw_graph(region, where);
}

void check_flatbuffer(std::span<const std::byte> flatbuffer, const target_spec* target) {
    step("reading back");
    const auto read = read_tosa(flatbuffer);
    if (!read) found("what was emitted cannot be read: " + std::string(read.error().message));
    graph& g = *read.value();
    step("verifying what was read back");
    if (const auto sound = verify_metadata(g); !sound)
        found("what was emitted is not sound: " + std::string(sound.error().message));
    if (target != nullptr) {
        if (const auto legal = verify_tosa(g, *target); !legal)
            found("what was emitted is not legal: " + std::string(legal.error().message));
    }
    step("emitting again");
    const auto again = emit_tosa(g);
    if (!again) found("what was read back cannot be emitted: " + std::string(again.error().message));
    compare_bytes(flatbuffer, again.value().bytes(), "emitting what was read back gives other bytes");
}

void check_lowering(const std::string& path, const std::optional<target_spec>& target) {
    lowering_options options{.target = target};
    options.observer.before_passes = [](graph& g) -> result<void> {
        saw_graph(g, "exported");
        step("passes");
        return {};
    };
    options.observer.after_pass = [](const pass_record& p, graph&) -> result<void> {
        step(p.name);
        return {};
    };
    step("reading");
    const lowering_outcome done = lower(path, options);
    saw_report(done.report);
    if (done.failure) check(*done.failure);
    for (const diagnostic& d : done.refusals) {
        if (d.kind == error_kind::invalid)
            found("a node is refused by an internal error: " + std::string(d.op + ": " + d.reason));
        saw("refused", d.op, d.reason.substr(0, 40));
    }
    if (done.flatbuffer.bytes.empty()) return;
    saw_graph(*done.model.graph, "lowered");
    const target_spec reached = done.model.graph->target();
    check_flatbuffer(done.flatbuffer.bytes, &reached);
    step("lowering again");
    compare_bytes(done.flatbuffer.bytes, lower(path, options).flatbuffer.bytes,
                  "lowering again gives other bytes");
}

void check_execution(const graph& g) {
    if (!is_small(g)) return;
    step("inputs");
    const auto given = model_inputs(g, {});
    if (!given) return check(given.error());
    std::vector<tensor> zeros;
    for (const node& n : g.inputs()) zeros.push_back(zeros_like(*n.results[0].meta));
    for (const std::vector<tensor>* inputs :
         {&given.value(), static_cast<const std::vector<tensor>*>(&zeros)}) {
        step("execution");
        const auto outputs = execute(g, *inputs);
        if (!outputs) {
            check(outputs.error());
            continue;
        }
        step("execution again");
        const auto again = execute(g, *inputs);
        if (!again) found("executing again fails: " + std::string(again.error().message));
        for (std::size_t i = 0; i != outputs.value().size(); ++i)
            compare_bytes(outputs.value()[i].bytes(), again.value()[i].bytes(),
                          "executing again gives other bytes");
    }
}

namespace {

/// Numbers of all magnitudes, another part of them in each sample; other types as they were given.
std::vector<tensor> inputs_of_all_magnitudes(const graph& g, std::vector<tensor> inputs, std::size_t sample) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr float numbers[] = {0,    1,    -0.5F,     1e-45F,   -1e-38F, 3e-20F,
                                 3e7F, -1e9F, 16777216.F, -1e33F, 2e34F,   -std::numeric_limits<float>::max(),
                                 1,    0.25F, -infinity, infinity};
    std::size_t i = 0;
    for (const node& n : g.inputs()) {
        tensor& t = inputs[i++];
        if (n.results[0].meta->dtype != dtype::float32) continue;
        tensor other(t.type(), t.shape());
        std::size_t k = sample * 5 + i;
        for (float& x : other.mutable_data<float>()) {
            x = numbers[k % std::size(numbers)];
            k += sample == 0 ? 0 : 1;
        }
        t = other;
    }
    return inputs;
}

void check_scales(const graph& g) {
    for (const node& n : g.nodes()) {
        const auto* q = args_if<quantized_decomposed::quantize_per_tensor>(n);
        if (q == nullptr) continue;
        const auto scale = static_cast<float>(q->scale);
        if (!(scale > 0) || !std::isfinite(scale) || !std::isfinite(1 / scale))
            found("a scale is " + std::to_string(q->scale));
        if (q->zero_point < q->quant_min || q->zero_point > q->quant_max)
            found("a zero point is not one of the integers");
    }
}

}  // namespace

void check_quantization(const graph& g) {
    if (!is_small(g) || g.inputs().empty()) return;
    for (const node& n : g.nodes()) {
        if (n.op->dialect == &info_of_dialect<quantized_decomposed::dialect>) return;
    }
    step("inputs");
    const auto given = model_inputs(g, {});
    if (!given) return check(given.error());
    const sample_source samples{3, [&](std::size_t i) -> result<std::vector<tensor>> {
                                    return inputs_of_all_magnitudes(g, given.value(), i);
                                }};
    constexpr observer_kind kinds[] = {observer_kind::histogram, observer_kind::min_max,
                                       observer_kind::percentile, observer_kind::mean_square,
                                       observer_kind::moving_average};
    for (const observer_kind kind : kinds) {
        step("quantization");
        graph copy;
        copy_graph(g, copy);
        pass_context context(&infer_node);
        quantization_config config;
        config.all.activation.observer = kind;
        const auto done = quantize_graph(copy, context, config, samples);
        if (!done) {
            check(done.error());
            continue;
        }
        if (!context.diagnostics().empty()) continue;
        check_scales(copy);
        step("execution");
        if (const auto outputs = execute(copy, samples.inputs(1).value()); !outputs) check(outputs.error());
    }
}

}  // namespace headrace::fuzz
