// SPDX-License-Identifier: MIT
// Defines the functions of headrace/stream/stream.hpp.

#include <headrace/stream/stream.hpp>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string_view>
#include <utility>

#include <headrace/base/printable.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/infer/multiply_accumulates.hpp>
#include <headrace/io/unread_nodes.hpp>
#include <headrace/ir/dead_code.hpp>
#include <headrace/lowering/state.hpp>
#include <headrace/pass/pipeline.hpp>
#include <headrace/passes/normalize/variants.hpp>
#include <headrace/passes/normalize/windows.hpp>
#include <headrace/run/execution.hpp>
#include <headrace/run/make_real.hpp>
#include <headrace/stream/additions.hpp>
#include <headrace/stream/rules.hpp>

namespace headrace {

namespace {

using streams::flow;
using streams::flow_analysis;
using streams::flow_kind;

// Gives each op the one form that the rules know.
result<void> normalize(graph& g) {
    HEADRACE_TRY(make_functional(g));
    HEADRACE_TRY(make_real(g));
    pass_context context(standard_functions);
    HEADRACE_TRY(apply_pass(canonicalize_variants{}, g, context));
    const bool pads_by_name = g.census().count(info_of<aten::conv1d_padding>) != 0 ||
        g.census().count(info_of<aten::conv2d_padding>) != 0;
    if (pads_by_name) {
        HEADRACE_TRY(apply_pass(canonicalize_convolutions{}, g, context));
    }
    if (!context.diagnostics().empty()) {
        const diagnostic& d = context.diagnostics().front();
        return error{d.kind, diagnostic_text(d)};
    }
    eliminate_dead_code(g);
    return complete_metadata(g);
}

// Returns the input of that name; null if there is none.
node* input_of(const graph& g, std::string_view name) {
    const auto inputs = g.inputs();
    const auto found =
        std::ranges::find_if(inputs, [&](const node& n) { return name.empty() || n.name() == name; });
    return found == inputs.end() ? nullptr : &*found;
}

result<stream_input> find_stream(const graph& g, const stream_axis& wanted) {
    const node* const input = input_of(g, wanted.input);
    if (wanted.input.empty() && std::ranges::distance(g.inputs()) > 1)
        return malformed("the model has several inputs; say which one is a stream: --axis NAME:AXIS");
    if (input == nullptr) {
        std::string names;
        for (const node& n : g.inputs()) names += join_text(names.empty() ? "" : ", ", printable(n.name()));
        return malformed(
            join_text("the model has no input ", printable(wanted.input), "; its inputs are ", names));
    }
    const tensor_meta& meta = *input->results[0].meta;
    const auto axis = normalized_axis(wanted.axis, meta.rank());
    if (!axis || meta.rank() == 0) {
        return malformed(join_text("input ", printable(input->name()), " has shape ", shape_text(meta.shape),
            ", which has no axis ", wanted.axis));
    }
    const std::int64_t size = meta.shape[*axis];
    if (size < 2)
        return malformed(join_text("axis ", *axis, " of input ", printable(input->name()), " has ", size,
            " elements; export the model with a window of several steps"));
    return stream_input{.name = std::string(input->name()), .axis = *axis, .window = size};
}

// Returns the inputs that are streams, with their steps: all windows have the same number of these.
result<std::vector<stream_input>> find_streams(const graph& g, const stream_options& options) {
    constexpr std::int64_t largest = std::int64_t{1} << 30U;
    if (options.axes.empty()) return malformed("a stream needs an axis of an input");
    if (options.step < 1 || options.step > largest || options.window < 0 || options.window > largest)
        return malformed("a step and a window have at least 1 element, and at most 2^30");
    std::vector<stream_input> made;
    for (const stream_axis& wanted : options.axes) {
        HEADRACE_TRY(found, find_stream(g, wanted));
        if (std::ranges::find(made, found.name, &stream_input::name) != made.end())
            return malformed(join_text("input ", printable(found.name), " is named twice"));
        const std::int64_t window = made.empty() ? found.window : made.front().window;
        if (window >= largest || found.window >= largest)
            return malformed(join_text("input ", printable(found.name), " has too many elements"));
        if (options.step * found.window % window != 0) {
            return unsupported(join_text("a step of ", options.step, " elements of ", window,
                " takes no whole number of the ", found.window, " elements of input ", printable(found.name),
                "; choose a step that is a multiple of ", window / std::gcd(window, found.window)));
        }
        found.step = options.step * found.window / window;
        made.push_back(std::move(found));
    }
    return made;
}

// Gives the input its step's shape.
void set_step(graph& g, const stream_input& input) {
    node& n = *input_of(g, input.name);
    const tensor_meta whole = *n.results[0].meta;
    std::vector<std::int64_t> shape(whole.shape.begin(), whole.shape.end());
    shape[input.axis] = input.step;
    g.set_meta(n.result(), {whole.dtype, g.own(int_list(shape)), {}});
}

std::uint64_t all_macs(const graph& g) {
    std::uint64_t sum = 0;
    for (const node& n : g.nodes()) sum += multiply_accumulates(n);
    return sum;
}

// Returns the multiply-accumulates of the elements that a step makes, each computed once.
std::uint64_t least_macs(const graph& g, const flow_analysis& flows) {
    std::uint64_t sum = 0;
    for (node& n : g.nodes()) {
        const std::uint64_t macs = multiply_accumulates(n);
        if (macs == 0) continue;
        const flow f = flows.of(n.result());
        const bool flows_on = f.kind == flow_kind::flowing && f.size > 0;
        const auto size = static_cast<std::uint64_t>(flows_on ? f.size : 1);
        sum += flows_on ? macs / size * static_cast<std::uint64_t>(flows.elements(f)) : macs;
    }
    return sum;
}

result<void> check_step(const stream_options& options, const flow_analysis& flows) {
    const std::int64_t multiple = flows.step_multiple();
    if (options.step % multiple == 0) return {};
    return unsupported(join_text("a step of ", options.step,
        " elements does not give every layer a whole number of them, as strides divide the rate; choose a step that is a "
        "multiple of ",
        multiple));
}

result<void> check_mutations(const program& p, const flow_analysis& flows) {
    for (const mutation& m : p.mutations) {
        if (flows.of(p.graph->outputs()[m.position]).kind == flow_kind::independent) continue;
        return unsupported(join_text(printable(m.name),
            ": the model keeps a state of the stream itself, as models that are "
            "computed in steps already do"));
    }
    return {};
}

}  // namespace

std::int64_t stream_summary::first_exact_step() const {
    std::int64_t first = 0;
    for (const stream_output& o : outputs) {
        const std::int64_t element = std::max({o.flow.exact, o.flow.delay, std::int64_t{0}});
        if (o.flow.kind == flow_kind::flowing && o.elements > 0)
            first = std::max(first, (element + o.elements - 1) / o.elements);
        if (o.flow.kind == flow_kind::latest) first = std::max(first, o.flow.exact);
    }
    return first;
}

namespace {

// Returns what the program's file says of its stream.
stream_signature signature_of(const stream_summary& s) {
    stream_signature made{.first_step = s.first_exact_step()};
    for (const stream_input& i : s.inputs)
        made.inputs.push_back({i.name, static_cast<std::int64_t>(i.axis), i.step});
    for (const stream_output& o : s.outputs)
        made.outputs.push_back(
            {static_cast<std::int64_t>(o.flow.axis), o.elements, o.elements == 0 ? 0 : o.flow.delay});
    return made;
}

}  // namespace

result<stream_summary> make_stream(program& p, const stream_options& options) {
    graph& g = *p.graph;
    declare_writes(p);
    eliminate_dead_code(g);
    HEADRACE_TRY(refuse_unread(g));
    HEADRACE_TRY(normalize(g));
    HEADRACE_TRY(inputs, find_streams(g, options));
    const stream_input& first = inputs.front();
    flow_analysis flows(options.step, first.window, options.window);
    for (const stream_input& i : inputs) {
        flows.define(input_of(g, i.name)->result(),
            flow{.kind = flow_kind::flowing,
                .axis = i.axis,
                .size = i.window,
                .rate = {i.window, first.window},
                .end = i.window,
                .zero_before = true});
    }
    std::vector<node*> nodes;
    const auto remembered = streams::remembered_nodes(g);
    for (node& n : g.nodes()) {
        HEADRACE_TRY(reduction, streams::reduce_others_first(n, flows));
        if (reduction != nullptr) {
            nodes.push_back(reduction);
            HEADRACE_TRY(flows.visit(*reduction));
        }
        node* const cleared = remembered.contains(&n) ? streams::clear_before(n, flows) : nullptr;
        if (cleared != nullptr) nodes.push_back(cleared);
        nodes.push_back(&n);
        HEADRACE_TRY(flows.visit(n));
    }
    HEADRACE_TRY(check_step(options, flows));
    HEADRACE_TRY(check_mutations(p, flows));

    stream_summary made{.inputs = std::move(inputs)};
    for (std::size_t i = 0; i != p.user_outputs; ++i) {
        const value v = g.outputs()[i];
        const flow f = flows.of(v);
        made.outputs.push_back({std::string(v.producer->results[v.result].name), f,
            f.kind == flow_kind::flowing ? flows.elements(f) : 0});
    }
    made.window_macs = all_macs(g);
    made.least_macs = least_macs(g, flows);

    for (const stream_input& i : made.inputs) set_step(g, i);
    streams::step_emission emission(p, flows);
    HEADRACE_TRY(states, emission.run(nodes));
    made.states = std::move(states);
    eliminate_dead_code(g);
    p.sizes.clear();
    for (const streams::state& s : made.states) made.state_bytes += packed_bytes(s.meta);
    made.step_macs = all_macs(g);
    p.stream = signature_of(made);
    return made;
}

}  // namespace headrace
