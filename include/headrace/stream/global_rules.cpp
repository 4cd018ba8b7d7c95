// SPDX-License-Identifier: MIT
// Defines the rules of ops that need all elements of the stream axis, and of recurrences and sums.

#include <algorithm>
#include <utility>

#include <headrace/base/printable.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/stream/arguments.hpp>
#include <headrace/stream/rules.hpp>

namespace headrace::streams {

namespace {

// True if the op computes the same of any number of elements, and its result has one.
bool takes_any_size(const node& n, std::size_t axis) {
    if (n.op->has(trait::reduction)) return true;
    if (!n.op->has(trait::pooling)) return false;
    const std::vector bins = integers_argument(n, "output_size");
    const std::size_t first = meta_of(n.operand(0))->rank() - spatial_rank_in(n.op->traits);
    if (bins.empty() || axis < first) return false;
    return bins[bins.size() == 1 ? 0 : std::min(axis - first, bins.size() - 1)] == 1;
}

}  // namespace

result<node_rule> flow_analysis::global(node& n, std::string_view what) {
    std::int64_t size = 0;
    bool equal = true;
    std::size_t axis = 0;
    for (const edge& e : n.operand_edges()) {
        const flow f = of(*e.slot);
        if (f.kind != flow_kind::flowing) continue;
        equal = equal && (size == 0 || size == f.size);
        size = f.size;
        axis = f.axis;
    }
    if (window_ == 0) {
        return unsupported(join_text(message_prefix(n), what,
            "; or keep a window of its last elements, of which the "
            "exported model has ",
            size, ": --window ", size));
    }
    if (equal && window_ == size) return gathered(n, size);
    if (takes_any_size(n, axis)) return gathered(n, window_);
    return unsupported(join_text(message_prefix(n), what, "; its window cannot have ", window_,
        " elements, as the exported model computes it of ", size,
        ": export it with an input whose axis gives it ", window_));
}

// Keeps the last elements, of which the node makes a new result in each step.
result<node_rule> flow_analysis::gathered(node& n, std::int64_t elements_kept) {
    node_rule made;
    made.readings.resize(n.operand_count);
    flow made_flow{.kind = flow_kind::latest};
    std::int64_t delay = INT64_MIN;
    for (const edge& e : n.operand_edges()) {
        const flow f = of(*e.slot);
        if (f.kind == flow_kind::flowing) delay = std::max(delay, f.delay);
    }
    for (std::uint32_t i = 0; i != n.operand_count; ++i) {
        const flow f = of(n.operand(i));
        if (f.kind != flow_kind::flowing) {
            made_flow.exact = std::max(made_flow.exact, f.exact);
            continue;
        }
        const std::int64_t made_in_step = elements(f);
        if (made_in_step <= 0) continue;  // the step is refused for that
        const std::int64_t wait = delay - f.delay;
        made.readings[i] = reading{made_in_step - elements_kept - wait, elements_kept};
        const std::int64_t needed =
            std::max(f.exact, std::max(std::int64_t{0}, f.delay)) + elements_kept + wait;
        made_flow.exact = std::max(made_flow.exact, (needed + made_in_step - 1) / made_in_step - 1);
        made_flow.remembers = made_flow.remembers || f.remembers;
        // The whole model's last element is made by the last step, and nothing is there of edges.
        made_flow.comparable = made_flow.comparable && f.comparable &&
            f.exact <= std::max(std::int64_t{0}, f.delay) && elements_kept == f.size &&
            f.size + delay == whole_elements(f) && f.end == f.size + f.delay;
    }
    made.results.assign(n.result_count, made_flow);
    return made;
}

result<node_rule> flow_analysis::newest(node& n, std::int64_t from_end) {
    const flow f = of(n.operand(0));
    flow made_flow{.kind = flow_kind::latest, .remembers = f.remembers, .comparable = f.comparable};
    const std::int64_t made_in_step = elements(f);
    node_rule made;
    made.spatial = 0;
    made.readings.push_back(reading{made_in_step - 1 - from_end, 1});
    if (made_in_step > 0) {
        const std::int64_t needed = std::max(f.exact, std::max(std::int64_t{0}, f.delay)) + 1 + from_end;
        made_flow.exact = (needed + made_in_step - 1) / made_in_step - 1;
    }
    made_flow.comparable = f.comparable && f.exact <= std::max(std::int64_t{0}, f.delay) &&
        f.size + f.delay == whole_elements(f) && f.end + from_end >= f.size + f.delay;
    made.results.assign(n.result_count, made_flow);
    return made;
}

// Refuses a node that remembers what the whole model does not have.
result<node_rule> flow_analysis::begins_with_others(const node& n, const flow& f) {
    return unsupported(join_text(message_prefix(n), "what it remembers would begin with ",
        std::max(f.delay, f.exact),
        " elements that the exported model does not have, as a layer before it pads with other numbers than "
        "zeros, or is quantized; pad that layer on the left alone, by its dilation · (kernel - 1)"));
}

result<node_rule> flow_analysis::recurrence(node& n) {
    const flow f = of(n.operand(0));
    if (boolean_argument(n, "bidirectional"))
        return global(
            n, "one of its directions begins at the end, which a stream never has; train it with one");
    const std::size_t time = meta(n, 0).rank() == 3 && boolean_argument(n, "batch_first") ? 1 : 0;
    if (f.axis != time) return global(n, "the stream is not its time axis");
    if (f.exact > std::max(std::int64_t{0}, f.delay)) return begins_with_others(n, f);
    if (f.delay < 0 && !f.zero_before) return global(n, "the padding before it is not zero");
    node_rule made;
    flow r = f;
    r.remembers = true;
    r.zero_before = f.delay == 0;
    r.delay = std::max(std::int64_t{0}, f.delay);
    if (f.delay < 0) made.readings.push_back(reading{f.delay, elements(f)});
    // The first element must be the first one of a step, before which the states are kept as they are.
    if (const std::int64_t in_step = elements(f); f.delay > 0 && in_step > 0) {
        const std::int64_t wait = (in_step - f.delay % in_step) % in_step;
        if (wait != 0) made.readings.push_back(reading{-wait, in_step});
        r.delay += wait;
        r.exact = r.delay;
        r.interior += wait;
        r.end += wait;
        made.first_step = r.delay / in_step;
    }
    made.results.assign(n.result_count, r);
    const std::uint32_t states = n.result_count - 1;
    for (std::uint32_t i = 1; i <= states; ++i) {
        if (of(n.operand(i)).kind != flow_kind::independent)
            return global(n, "its first state is of the stream");
        made.states.push_back({i, i});
        made.results[i] = flow{.kind = flow_kind::latest, .exact = made.first_step, .remembers = true};
        made.results[i].comparable = made.first_step == 0 && ratio(f.size) == f.rate * size_;
    }
    return made;
}

result<node_rule> flow_analysis::cumulative_sum(node& n) {
    const flow f = of(n.operand(0));
    if (f.delay == 0 ? f.exact > 0 : !f.zero_before) return begins_with_others(n, f);
    flow r = f;
    r.remembers = true;
    node_rule made{.sums_up = true};
    made.results.assign(1, r);
    return made;
}

}  // namespace headrace::streams
