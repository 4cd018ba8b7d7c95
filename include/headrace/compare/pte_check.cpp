// SPDX-License-Identifier: MIT
// Defines the members of headrace::pte_check.

#include <headrace/compare/pte_check.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <span>

#include <headrace/base/printable.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/compare/layerwise.hpp>
#include <headrace/compare/match_values.hpp>
#include <headrace/dialect/builtin.hpp>

#include <headrace/ir/listing.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/ir/signature.hpp>
#include <headrace/ir/state.hpp>
#include <headrace/lowering/delegation.hpp>
#include <headrace/lowering/kernels/kernel_parts.hpp>
#include <headrace/lowering/pte_delegates.hpp>
#include <headrace/partition/extract.hpp>
#include <headrace/run/execution.hpp>
#include <headrace/run/models.hpp>
#include <headrace/run/signature_tensors.hpp>

namespace headrace {

namespace {

constexpr std::string_view cortex_m_machine = "as ExecuTorch's runtime with CMSIS-NN's kernels computes it, ";

tensor random_integers(const tensor_meta& meta, const signature_quantization& by, std::mt19937& engine) {
    std::uniform_int_distribution<std::int64_t> among(by.lowest, by.highest);
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(meta.elements()));
    for (std::int64_t& x : numbers) x = among(engine);
    return tensor::of(meta.dtype, {meta.shape.begin(), meta.shape.end()}, numbers);
}

// Returns the user's inputs and the first values of states, in the order of the graph's inputs.
result<std::vector<tensor>> inputs_of(const graph& g, const std::vector<std::string>& files) {
    graph signature;
    for (const node& n : g.inputs()) {
        if (n.find_annotation<first_value>() != nullptr) continue;
        node& copy = signature.create<builtin::placeholder>({});
        copy.annotations = n.annotations;
        signature.set_meta(copy.result(), *n.results[0].meta);
        signature.set_name(copy.result(), n.name());
    }
    HEADRACE_TRY(read, read_inputs(signature, files, signature_side::exported));
    std::vector<tensor>& given = read.tensors;
    std::mt19937 engine(0);
    std::vector<tensor> inputs;
    std::size_t next = 0;
    for (const node& n : g.inputs()) {
        const tensor_meta& meta = *n.results[0].meta;
        const auto* by = n.find_annotation<signature_quantization>();
        if (const auto* first = n.find_annotation<first_value>()) {
            inputs.push_back(tensor_of_constant(first->data, meta));
        } else if (files.empty() && by != nullptr) {
            inputs.push_back(random_integers(meta, *by, engine));
            ++next;
        } else {
            inputs.push_back(std::move(given[next++]));
        }
    }
    return inputs;
}

// Puts what an execution leaves in the states among the inputs of the next one. Returns how many states there
// are: they are the last inputs, and their next values are outputs as pte_method says.
std::size_t advance_states(const graph& g, std::span<const tensor> made, std::span<tensor> inputs) {
    std::size_t states = 0;
    for (const node& n : g.inputs()) states += n.find_annotation<first_value>() != nullptr ? 1 : 0;
    if (made.size() < 2 * states || inputs.size() < states) return 0;
    std::ranges::copy(made.last(2 * states).first(states), inputs.last(states).begin());
    return states;
}

// Layers are found again by their origins, which a quantizer's nodes, or those of a text, may lack.
void add_origins(graph& g) {
    const printed_names names(g);
    for_each_node(g, [&](node& n) {
        if (is_of_dialect<builtin::dialect>(n) || n.result_count == 0) return;
        if (n.find_annotation<provenance>() != nullptr) return;
        graph& owner = *n.owner;
        owner.annotate(n, provenance{owner.own(names[n.result()]), n.op->name});
    });
}

std::string number_text(double x) {
    std::array<char, 32> digits{};
    std::snprintf(digits.data(), digits.size(), "%.3g", x);
    return digits.data();
}

// Returns "conv2d_1 (aten.conv2d.default; now cortex_m.quantized_conv2d_nhwc.default) is 5 of its
// quantization steps off for equal inputs, 1 is tolerated".
std::string wrong_layer_text(const layerwise_difference& d) {
    const std::string_view unit = d.in_steps ? " of its quantization steps off" : " off, relatively,";
    return join_text(printable(d.name), " (", d.op, "; now ", d.other, ") is ", number_text(d.difference),
        unit, " for equal inputs, ", number_text(d.granted), d.granted > 1 ? " are" : " is", " tolerated");
}

// Returns the quantization steps of a method's outputs, which may be integers; 0 for an output without one.
std::vector<double> steps_of(const graph& exported) {
    std::vector<double> steps = output_steps(exported);
    const auto* given = exported.output()->find_annotation<output_quantizations>();
    for (std::size_t i = 0; given != nullptr && i != std::min(steps.size(), given->values.size()); ++i) {
        if (given->values[i].scale != 0) steps[i] = 1;
    }
    return steps;
}

// Copies a graph so that it can be executed with the inputs that it takes, be they integers for real numbers.
std::unique_ptr<graph> executable_copy(const graph& g, const delegate_programs& programs) {
    auto copy = std::make_unique<graph>();
    copy->set_target(g.target());
    copy_graph(g, *copy);
    restore_calls(*copy, programs);
    for (node& input : copy->inputs()) input.annotations = nullptr;
    copy->output()->annotations = nullptr;
    return copy;
}

double largest_steps(std::span<const double> steps, std::span<const tensor> a, std::span<const tensor> b) {
    double largest = 0;
    for (std::size_t i = 0; i != std::min({a.size(), b.size(), steps.size()}); ++i) {
        if (steps[i] == 0 || a[i].shape() != b[i].shape()) continue;
        for (std::int64_t k = 0; k != a[i].size(); ++k)
            largest = std::max(largest, std::abs(a[i].real(k) - b[i].real(k)) / steps[i]);
    }
    return largest;
}

}  // namespace

lowering_observer pte_check::observer(lowering_observer next) {
    lowering_observer watching;
    watching.before_passes = [this, next](graph& g) -> result<void> {
        HEADRACE_TRY(begin(g));
        return next.begin(g);
    };
    watching.after_pass = [this, next](const pass_record& pass, graph& g) -> result<void> {
        HEADRACE_TRY(next.see(pass, g));
        return pass.nodes.rewritten == 0 ? result<void>() : check(pass.name, g);
    };
    watching.after_passes = next.after_passes;
    return watching;
}

std::vector<checked_method> pte_check::findings() const {
    std::vector<checked_method> found;
    for (const graph* g : order_) found.push_back(watched_.at(g).found);
    return found;
}

result<void> pte_check::begin(graph& exported) {
    if (order_.size() == methods_) return {};
    add_origins(exported);
    order_.push_back(&exported);
    watched& w = watched_[&exported];
    HEADRACE_TRY(inputs, inputs_of(exported, files_));
    w.inputs = std::move(inputs);
    w.steps = steps_of(exported);
    w.exported = executable_copy(exported, w.programs);
    HEADRACE_TRY(make_functional(*w.exported));
    auto expected = execute(*w.exported, w.inputs);
    if (!expected) return files_.empty() ? unfit_random_inputs(expected.error()) : expected.error();
    w.expected = std::move(expected).value();
    // First values are often zeros, from which any arithmetic makes the same.
    if (advance_states(exported, w.expected, w.inputs) != 0) {
        HEADRACE_TRY(next, execute(*w.exported, w.inputs));
        w.expected = std::move(next);
    }
    w.passes.emplace(w.inputs);
    return w.passes->begin(*w.exported);
}

result<void> pte_check::check(std::string_view stage, graph& g) {
    const auto known = watched_.find(&g);
    if (known == watched_.end()) return {};
    watched& w = known->second;
    if (stage == delegation_record(0).name) w.programs = copy_programs(g);
    const std::unique_ptr<graph> executable = executable_copy(g, w.programs);
    if (stage == kernels_record(0).name || stage == delegation_record(0).name)
        return check_layers(stage, *executable, w);
    HEADRACE_TRY(difference, w.passes->check(stage, *executable));
    w.found.passes.push_back({std::string(stage), difference});
    return {};
}

result<void> pte_check::check_layers(std::string_view stage, const graph& g, watched& w) const {
    auto compared = compare_layerwise(*w.exported, g, w.inputs);
    if (!compared) return invalid(join_text("after ", stage, ": ", compared.error().message));
    const layerwise_comparison& c = compared.value();
    const bool is_of_cortex_m = stage == kernels_record(0).name && has_integer_kernels(g);
    const std::string_view machine = is_of_cortex_m ? cortex_m_machine : std::string_view();
    const auto wrong = std::ranges::find_if(c.layers, &layerwise_difference::is_wrong);
    if (wrong != c.layers.end())
        return invalid(join_text(stage, " changes the result: ", machine, wrong_layer_text(*wrong)));
    std::vector<double> granted = w.steps;
    for (double& step : granted) step *= result_check::granted_steps;
    double off = largest_difference(c.outputs, c.other_outputs, granted);
    if (off > result_check::tolerance)
        return invalid(join_text(stage, " changes the result: ", machine,
            "the largest relative difference of an output is ", number_text(off), ", ",
            number_text(result_check::tolerance), " is tolerated"));
    w.found.layers = 0;
    w.found.layer_steps = 0;
    for (const layerwise_difference& d : c.layers) {
        if (std::isinf(d.granted)) continue;
        if (!d.in_steps) {
            off = std::max(off, d.difference);
            continue;
        }
        ++w.found.layers;
        w.found.layer_steps = std::max(w.found.layer_steps, d.difference);
    }
    w.found.passes.push_back({std::string(stage), off});
    w.found.output_steps = largest_steps(w.steps, w.expected, c.other_outputs);
    w.found.has_kernels = w.found.has_kernels || is_of_cortex_m;
    w.found.has_delegates = w.found.has_delegates || stage == delegation_record(0).name;
    // The passes after this stage must not change the results of this machine.
    w.passes.emplace(w.inputs);
    return w.passes->begin(g);
}

}  // namespace headrace
