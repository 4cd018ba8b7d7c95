// SPDX-License-Identifier: MIT
#include "lowering_checks.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <headrace/dialect/aten.hpp>
#include <headrace/io/tosa/emitter.hpp>
#include <headrace/io/tosa/reader.hpp>
#include <headrace/io/unread_nodes.hpp>
#include <headrace/lowering/lower.hpp>
#include <headrace/run/execution.hpp>
#include <headrace/run/models.hpp>
#include <headrace/target/tosa_verify.hpp>

namespace headrace::fuzz {

namespace {

// Compares outputs that must be the same in two successive steps.
void compare_bytes(std::span<const std::byte> a, std::span<const std::byte> b, const char* what) {
    if (!std::ranges::equal(a, b)) found(what);
}

// Also reads programs with dynamic sizes. If a program has unread nodes, its metadata has not been checked.
result<program> read_whole(const std::string& path) {
    HEADRACE_TRY(read, read_model(path, {.examples = true}));
    HEADRACE_TRY(refuse_unread(*read.graph));
    return std::move(read);
}
lowering_outcome lower(const std::string& path, const lowering_options& options) {
    return try_lowering([&] { return read_whole(path); }, options);
}

void saw_report(const lowering_report& report) {
    for (const pass_record& p : report.passes) {
        if (p.status != pass_status::ran || p.nodes.rewritten == 0) continue;
        saw(p.name, report.target, std::to_string(std::bit_width(p.nodes.rewritten)));
    }
}

// True if each kernel has little to compute: for a convolution, the product of two tensors.
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

// True if the graph draws random numbers, which differ on each run.
bool is_random(const graph& g) {
    static constexpr auto draws = ops_in<aten::rand, aten::rand_like, aten::randn, aten::randn_like,
        aten::bernoulli, aten::bernoulli_p>;
    return std::ranges::any_of(g.nodes(), [](const node& n) { return draws.contains(*n.op); }) ||
        std::ranges::any_of(g.regions(), [](const graph& region) { return is_random(region); });
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
    compare_bytes(
        done.flatbuffer.bytes, lower(path, options).flatbuffer.bytes, "lowering again gives other bytes");
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
        if (is_random(g)) continue;
        step("execution again");
        const auto again = execute(g, *inputs);
        if (!again) found("executing again fails: " + std::string(again.error().message));
        for (std::size_t i = 0; i != outputs.value().size(); ++i)
            compare_bytes(
                outputs.value()[i].bytes(), again.value()[i].bytes(), "executing again gives other bytes");
    }
}

}  // namespace headrace::fuzz
