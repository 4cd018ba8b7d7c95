// SPDX-License-Identifier: MIT
// Defines headrace::build::unroll_layers, which calls a cell for each layer, direction and step of a network.
#ifndef HEADRACE_PASSES_DECOMPOSE_UNROLLED_LAYERS_HPP
#define HEADRACE_PASSES_DECOMPOSE_UNROLLED_LAYERS_HPP

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>

#include <headrace/base/text.hpp>
#include <headrace/infer/shape_builder.hpp>
#include <headrace/ir/strided_walk.hpp>
#include <headrace/ir/time_step.hpp>
#include <headrace/passes/decompose/expressions.hpp>

namespace headrace::build {

/// The hidden state and, for LSTM only, the cell state, [1, 1, batch, width]: the shape in which targets that
/// compute linear layers as convolutions take it, so that nothing is reshaped from step to step.
struct recurrent_state {
    value h, c;
};
/// The weights of one layer in one direction.
struct recurrent_weights {
    value input, hidden;
    std::optional<value> input_bias, hidden_bias;
    std::optional<value> projection;  ///< LSTM only: multiplies the cell's output
};
/// One layer in one direction.
struct recurrent_layer {
    value input;  ///< [1, steps, batch, width], as is the output
    recurrent_state before;
    recurrent_weights weights;
    bool backward;
    std::pmr::string name;  ///< of the network and the layer, such as `gru_l0`
};
/// The results of a layer in one direction, or of a network.
struct recurrent_results {
    value outputs;
    value h, c;  ///< the last states
};

/// Returns the k-th weights, of `per_cell` operands each: 2, or 4 with biases, and one more with projections.
[[nodiscard]] inline recurrent_weights weights_of_cell(
    list<value> params, std::size_t k, std::size_t per_cell) {
    const value* const p = params.data() + k * per_cell;
    recurrent_weights w{p[0], p[1], {}, {}, {}};
    if (per_cell >= 4) w.input_bias = p[2], w.hidden_bias = p[3];
    if (per_cell % 2 == 1) w.projection = p[per_cell - 1];
    return w;
}

/// Returns `count` rows of a weight or bias from `begin` on. A constant's are a constant that shares its
/// memory, so that they are weights to quantizers as well.
inline value rows_of(emit<ops<aten::slice_tensor>> e, value v, std::int64_t begin, std::int64_t count) {
    if (e.failed()) return {};
    const auto* const whole = match<builtin::constant>(v);
    const tensor_meta& meta = e.meta(v);
    if (whole == nullptr || meta.elements() == 0 || traits_of(meta.dtype).bits % 8 != 0)
        return e.make<aten::slice_tensor>({.self = v, .start = begin, .end = begin + count});
    shape_builder shape(meta.shape);
    shape[0] = count;
    node& part = e.owner().create<builtin::constant>(
        {.data = {.bytes = element_at(whole->data, meta, begin * meta.elements() / meta.shape[0]),
             .strides = whole->data.strides}},
        v.producer->next);
    e.owner().set_meta(part.result(), {meta.dtype, int_list(shape), {}});
    e.owner().inherit_annotations(part, e.current());
    if (const std::string_view name = v.producer->name(); !name.empty())
        e.owner().set_name(part.result(), text_of({name, "_from_", begin}));
    return part.result();
}

inline value viewed_as(emit<ops<aten::view>> e, value v, const shape_builder& shape) {
    if (e.failed() || e.shape(v) == int_list(shape)) return v;
    return e.make<aten::view>({.self = v, .size = int_list(shape)});
}
/// Returns the input of a network, [steps, batch, width] or [batch, steps, width], as layers take it.
inline value steps_first(emit<ops<aten::view, aten::transpose_int>> e, value x, bool batch_first) {
    if (e.failed()) return {};
    const shape_builder shape(e.shape(x));
    const std::int64_t batch = shape[batch_first ? 0 : 1], steps = shape[batch_first ? 1 : 0];
    if (batch_first && batch != 1) x = e.make<aten::transpose_int>({.self = x, .dim0 = 0, .dim1 = 1});
    return viewed_as(e, x, shape_builder{1, steps, batch, shape[2]});
}
/// Returns the outputs of the last layer in the form that the network gives them.
inline value as_given(emit<ops<aten::view, aten::transpose_int>> e, value v, bool batch_first) {
    if (e.failed()) return {};
    const shape_builder shape(e.shape(v));
    if (!batch_first || shape[2] == 1) return viewed_as(e, v, shape_builder(e.result_meta().shape));
    const value rows = viewed_as(e, v, shape_builder{shape[1], shape[2], shape[3]});
    return e.make<aten::transpose_int>({.self = rows, .dim0 = 0, .dim1 = 1});
}
/// Returns tensors one after the other along an axis; a single one as it is.
inline value concatenated(emit<ops<aten::cat>> e, list<value> parts, std::int64_t axis) {
    return parts.size() == 1 ? parts[0] : e.make<aten::cat>({.tensors = parts, .dim = axis});
}

/// Writes down which step the nodes from `first` to `last` compute: for their names, for reports, and so
/// that quantizers treat all steps alike, except the one that `starts` from the initial state: that is often
/// zero, and tells nothing of the ranges of the others.
inline void note_step(emit<ops<>> e, const recurrent_layer& layer, value first, value last, std::int64_t step,
    std::int64_t steps, bool starts) {
    if (e.failed()) return;
    graph& g = e.owner();
    const std::string_view name = g.own(text_of({layer.name, "_t", step + 1, "of", steps}));
    const std::string_view network = name.substr(0, layer.name.size());
    const auto* const modules = e.current().find_annotation<module_stack>();
    const std::string_view frames = modules == nullptr
        ? std::string_view()
        : g.own(text_of({modules->text, ";", network, ",", network, ",layer;", name, ",", name, ",step"}));
    constexpr std::uint32_t places_at_start = max_unrolled_nodes;  // after those of any step
    std::uint32_t place = starts ? places_at_start : 0;
    for (node* n = first.producer;; n = n->next) {
        g.annotate(*n, time_step{network, name, place++});
        if (!frames.empty()) g.annotate(*n, module_stack{frames});
        if (n == last.producer) return;
    }
}

/// Calls `run(layer)` for each layer and direction of a recurrent op, which returns its recurrent_results.
template <class Op, class Run>
recurrent_results unroll_layers(emit<ops<aten::slice_tensor, aten::view, aten::transpose_int, aten::cat>> e,
    const args<Op>& a, value h0, value c0, Run&& run) {
    if (a.train && a.dropout != 0)
        return {e.unsupported("recurrent network with dropout; export it after model.eval()"), {}, {}};
    const bool projects = c0 && e.shape(c0).back() != e.shape(h0).back();
    const std::size_t per_cell = (a.has_biases ? 4 : 2) + (projects ? 1 : 0);
    const std::int64_t directions = a.bidirectional ? 2 : 1;
    if (a.num_layers < 1 || !e.may_unroll(a.num_layers) ||
        a.params.size() != per_cell * static_cast<std::size_t>(a.num_layers * directions)) {
        return {e.unsupported("recurrent network with more or fewer weights than its layers need"), {}, {}};
    }
    const std::string_view origin = origin_name(e.current());
    value outputs = steps_first(e, a.input, a.batch_first);
    value_list h, c;
    for (std::int64_t layer = 0; layer != a.num_layers && !e.failed(); ++layer) {
        value_list sides;
        for (std::int64_t direction = 0; direction != directions; ++direction) {
            const std::int64_t k = layer * directions + direction;
            const auto initial = [&](value v) {
                if (!v || e.failed()) return value{};
                const value row = e.make<aten::slice_tensor>({.self = v, .start = k, .end = k + 1});
                const std::int64_t width = e.shape(v).back();
                return viewed_as(e, row, shape_builder{1, 1, e.shape(outputs)[2], width});
            };
            const std::string_view side = directions == 1 ? "" : direction == 0 ? "_forward" : "_backward";
            const recurrent_results made = run(recurrent_layer{outputs, {initial(h0), initial(c0)},
                weights_of_cell(a.params, static_cast<std::size_t>(k), per_cell), direction == 1,
                text_of({origin.empty() ? "recurrent" : origin, "_l", layer, side})});
            sides.push_back(made.outputs);
            h.push_back(made.h);
            if (made.c) c.push_back(made.c);
        }
        outputs = concatenated(e, sides, -1);
    }
    if (e.failed()) return {};
    const auto last = [&](const value_list& states, value first) {
        return states.size() == 0 ? value{}
                                  : viewed_as(e, concatenated(e, states, 0), shape_builder(e.shape(first)));
    };
    return {as_given(e, outputs, a.batch_first), last(h, h0), last(c, c0)};
}

}  // namespace headrace::build

#endif
