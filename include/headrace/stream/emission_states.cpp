// SPDX-License-Identifier: MIT
// Defines headrace::streams::step_emission: the buffers that a step reads and writes.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/strings.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/eval/evaluator.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/ir/purity.hpp>
#include <headrace/stream/emission.hpp>

namespace headrace::streams {

value step_emission::add_buffer(
    const tensor_meta& meta, std::span<const std::byte> bytes, std::string_view of, node& before) {
    const std::string name = join_text("stream_state_", states_.size());
    const value buffer = create_constant(
        graph_, meta, &before, [&](std::span<std::byte> data) { std::ranges::copy(bytes, data.begin()); });
    graph_.set_name(buffer, name);
    states_.push_back({name, std::string(of), tensor_meta{meta.dtype, graph_.own(meta.shape), {}}});
    return buffer;
}

result<value> step_emission::full_history(value root, node& before) {
    history& kept = histories_.at(root);
    if (kept.full) return kept.full;
    const flow f = flows_.of(root);
    const value now = stepped(root);
    tensor_meta meta = *meta_of(now);
    std::vector<std::int64_t> shape(meta.shape.begin(), meta.shape.end());
    shape[f.axis] = kept.length;
    meta = {meta.dtype, graph_.own(int_list(shape)), {}};
    const std::optional<std::int64_t> count = meta.checked_elements();
    if (!count || *count > (std::int64_t{1} << 31U))
        return unsupported(join_text(message_prefix(*root.producer), "its state would be too large"));
    eval::tensor first(meta.dtype, shape);
    if (kept.fill != 0) first.assign(std::vector<std::int64_t>(static_cast<std::size_t>(*count), kept.fill));
    const value buffer = add_buffer(meta, first.bytes(), origin_name(*root.producer), before);
    const value both[]{buffer, now};
    const args<aten::cat> joined{.tensors = both, .dim = static_cast<std::int64_t>(f.axis)};
    HEADRACE_TRY(full, add(info_of<aten::cat>, &joined, before));
    kept.full = full;
    states_.back().fill = kept.fill;
    updates_.push_back({buffer, root});
    return full;
}

// A sum goes on where the step before ended.
result<void> step_emission::add_sum(node& n, node& made) {
    const flow f = flows_.of(n.result());
    const tensor_meta& m = *made.results[0].meta;
    std::vector<std::int64_t> shape(m.shape.begin(), m.shape.end());
    shape[f.axis] = 1;
    const eval::tensor zero(m.dtype, shape);
    const tensor_meta meta{m.dtype, graph_.own(int_list(shape)), {}};
    const value buffer = add_buffer(meta, zero.bytes(), origin_name(n), n);
    const args<aten::add_tensor> sum{.self = made.result(), .other = buffer};
    HEADRACE_TRY(all, add(info_of<aten::add_tensor>, &sum, n));
    const std::int64_t length = flows_.elements(f);
    HEADRACE_TRY(last, part(all, f.axis, length - 1, length, n));
    updates_.push_back({buffer, last});
    made_[n.result()] = all;
    return {};
}

// Adds what the step before computed of this one's first elements, and keeps what it adds to the next one.
result<void> step_emission::add_overlap(node& n, const node_rule& rule, value made) {
    const flow& f = rule.results[0];
    const std::int64_t length = flows_.elements(f);
    tensor_meta meta = *meta_of(made);
    std::vector<std::int64_t> shape(meta.shape.begin(), meta.shape.end());
    shape[f.axis] = rule.overlap;
    meta = {meta.dtype, graph_.own(int_list(shape)), {}};
    const value buffer = add_buffer(meta, eval::tensor(meta.dtype, shape).bytes(), origin_name(n), n);
    HEADRACE_TRY(begin, part(made, f.axis, 0, rule.overlap, n));
    HEADRACE_TRY(rest, part(made, f.axis, rule.overlap, length + rule.overlap, n));
    const args<aten::add_tensor> sum{.self = begin, .other = buffer};
    HEADRACE_TRY(both, add(info_of<aten::add_tensor>, &sum, n));
    const value parts[]{both, rest};
    const args<aten::cat> joined{.tensors = parts, .dim = static_cast<std::int64_t>(f.axis)};
    HEADRACE_TRY(all, add(info_of<aten::cat>, &joined, n));
    HEADRACE_TRY(next, part(all, f.axis, length, length + rule.overlap, n));
    updates_.push_back({buffer, next});
    HEADRACE_TRY(now, part(all, f.axis, 0, length, n));
    if (n.operand_count == 3) {
        HEADRACE_TRY(biased, add_bias(now, n.operand(2), n));
        now = biased;
    }
    made_[n.result()] = now;
    return {};
}

// Adds a number for each channel, the axis before those that the window moves along.
result<value> step_emission::add_bias(value v, value bias, node& n) {
    const std::size_t spatial_axes = meta_of(n.operand(1))->rank() - 2;
    std::vector<std::int64_t> shape(spatial_axes + 1, 1);
    shape[0] = meta_of(bias)->elements();
    const args<aten::reshape> by_channel{.self = stepped(bias), .shape = int_list(shape)};
    HEADRACE_TRY(numbers, add(info_of<aten::reshape>, &by_channel, n));
    const args<aten::add_tensor> sum{.self = v, .other = numbers};
    return add(info_of<aten::add_tensor>, &sum, n);
}

result<eval::tensor> step_emission::evaluate(value v) {
    node& n = *v.producer;
    if (const auto* constant = args_if<builtin::constant>(n))
        return eval::tensor_of_constant(constant->data, *meta_of(v));
    if (is<builtin::placeholder>(n) || !is_pure(n))
        return unsupported(join_text(message_prefix(n),
            "it is the first state of a recurrence, which must be a "
            "constant: export the model without that input"));
    std::vector<eval::tensor> operands;
    for (const edge& e : n.operand_edges()) {
        HEADRACE_TRY(operand, evaluate(*e.slot));
        operands.push_back(operand);
    }
    HEADRACE_TRY(results, eval::evaluate_node(n, operands));
    return results[v.result];
}

result<value> step_emission::first_value(value v) {
    HEADRACE_TRY(first, evaluate(v));
    const tensor_meta& meta = *meta_of(v);
    return add_buffer(meta, first.bytes(), origin_name(*v.producer), *graph_.first());
}

void step_emission::write_outputs() {
    node& old = *graph_.output();
    std::vector<value> values;
    for (const value v : args_of<builtin::output>(old).values) values.push_back(stepped(v));
    for (const update& u : updates_) {
        const std::string_view tensor = u.buffer.producer->name();
        program_.mutations.push_back(
            {mutation::kind_type::buffer, std::string(tensor), values.size(), std::string(tensor)});
        values.push_back(u.next);
    }
    node& made = graph_.create<builtin::output>({.values = list<value>(values)}, &old);
    made.annotations = old.annotations;
    graph_.erase(old);
}

}  // namespace headrace::streams
