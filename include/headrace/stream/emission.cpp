// SPDX-License-Identifier: MIT
// Defines headrace::streams::step_emission: the nodes of a step.

#include <headrace/stream/emission.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

#include <headrace/base/strings.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/run/execution.hpp>

namespace headrace::streams {

namespace {

using argument_bytes = std::vector<std::max_align_t>;

argument_bytes copy_arguments(const node& n) {
    argument_bytes copy(n.op->args_size / sizeof(std::max_align_t) + 1);
    std::memcpy(copy.data(), n.arguments, n.op->args_size);
    return copy;
}

// Sets one entry of a list of integers, which may have a single one for all axes.
void set_entry(const node& n, argument_bytes& arguments, std::string_view name, std::size_t at,
    std::size_t count, std::int64_t to) {
    const field_info* const field = n.op->find(name);
    if (field == nullptr || field->kind != field_kind::integers || field->optional) return;
    auto& items = headrace::detail::member_at<int_list>(arguments.data(), *field);
    std::vector<std::int64_t> changed(items.begin(), items.end());
    if (changed.empty()) return;
    if (changed.size() < count) changed.resize(count, changed.front());
    if (at < changed.size()) changed[at] = to;
    items = n.owner->own(int_list(changed));
}

void set_integer(const node& n, argument_bytes& arguments, std::string_view name, std::int64_t to) {
    headrace::detail::member_at<std::int64_t>(arguments.data(), *n.op->find(name)) = to;
}

void clear_bias(const node& n, argument_bytes& arguments) {
    if (const field_info* const field = n.op->find("bias"))
        headrace::detail::member_at<std::optional<value>>(arguments.data(), *field).reset();
}

// Sets the spatial sizes of a resampling's result, which may be cut afterwards.
void set_sizes(const node& n, argument_bytes& arguments, std::vector<std::int64_t> shape,
    const node_rule& rule, value operand) {
    const flow& to = rule.results[0];
    if (to.kind == flow_kind::flowing) shape[to.axis] = meta_of(operand)->shape[to.axis] * rule.factor;
    const field_info* const field = n.op->find("output_size");
    const std::span<const std::int64_t> all(shape);
    const int_list sizes(all.last(spatial_rank_in(n.op->traits)));
    if (!field->optional) {
        headrace::detail::member_at<int_list>(arguments.data(), *field) = n.owner->own(sizes);
    } else if (auto& items = headrace::detail::member_at<std::optional<int_list>>(arguments.data(), *field)) {
        items = n.owner->own(sizes);
    }
}

// Returns the operand that a node forwards: the only stream among operands that are joined.
std::uint32_t forwarded(const node_rule& rule) {
    return rule.spatial == SIZE_MAX ? 0 : static_cast<std::uint32_t>(rule.spatial);
}

}  // namespace

result<std::vector<state>> step_emission::run(std::span<node* const> nodes) {
    for (node* n : nodes) {
        note_histories(*n);
        note_starts(*n);
    }
    for (node* n : nodes) {
        HEADRACE_TRY(replace(*n));
    }
    for (update& u : updates_) {
        const auto kept = histories_.find(u.next);
        if (kept == histories_.end()) continue;
        const flow f = flows_.of(u.next);
        const std::int64_t made = flows_.elements(f);
        HEADRACE_TRY(
            next, part(kept->second.full, f.axis, made, made + kept->second.length, *graph_.output()));
        u.next = next;
    }
    HEADRACE_TRY(count_steps());
    write_outputs();
    return std::move(states_);
}

value step_emission::stepped(value v) const {
    const auto found = made_.find(v);
    return found == made_.end() ? v : found->second;
}

std::pair<value, std::int64_t> step_emission::root_of(value v) const {
    value kept = v;
    bool moved = false;
    for (value at = v; flows_.rule_of(*at.producer) != nullptr;) {
        const node& n = *at.producer;
        const node_rule& rule = *flows_.rule_of(n);
        if (const auto* dq = args_if<quantized_decomposed::dequantize_per_tensor>(n))
            return {dq->input, dq->zero_point};
        const auto* q = args_if<quantized_decomposed::quantize_per_tensor>(n);
        if (q != nullptr && !moved) return {at, q->zero_point};
        const bool moves = n.op->has(trait::permuting | trait::reshaping) && !rule.readings[0] &&
            flows_.of(at).rate == flows_.of(n.operand(0)).rate &&
            flows_.of(n.operand(0)).kind == flow_kind::flowing;
        if (!rule.forwards && !moves) break;
        at = n.operand(forwarded(rule));
        moved = moved || moves;
        if (!moved) kept = at;
    }
    return {kept, 0};
}

void step_emission::note_histories(node& n) {
    const node_rule* const rule = flows_.rule_of(n);
    if (rule == nullptr) return;
    for (std::uint32_t i = 0; i != n.operand_count; ++i) {
        if (!rule->readings[i] || rule->readings[i]->begin >= 0) continue;
        const auto [root, fill] = root_of(n.operand(i));
        history& kept = histories_[root];
        kept.length = std::max(kept.length, -rule->readings[i]->begin);
        kept.fill = fill;
    }
}

result<value> step_emission::add(const op_info& op, const void* arguments, node& before) {
    node& n = graph_.create(op, arguments, 1, &before);
    inference inferred(graph_.arena());
    HEADRACE_TRY(infer_node(n, inferred));
    graph_.set_meta(n.result(), inferred.results()[0]);
    graph_.inherit_annotations(n, before);
    return n.result();
}

result<value> step_emission::part(
    value v, std::size_t axis, std::int64_t begin, std::int64_t end, node& before) {
    if (begin == 0 && end == meta_of(v)->shape[axis]) return v;
    const args<aten::slice_tensor> a{
        .self = v, .dim = static_cast<std::int64_t>(axis), .start = begin, .end = end};
    return add(info_of<aten::slice_tensor>, &a, before);
}

// Computes `v` again from more elements of the value that is kept.
result<value> step_emission::at_length(value v, value root, value made, std::int64_t length, node& before) {
    if (v == root) return made;
    node& n = *v.producer;
    const node_rule& rule = *flows_.rule_of(n);
    if (rule.forwards) return at_length(n.operand(forwarded(rule)), root, made, length, before);
    HEADRACE_TRY(from, at_length(n.operand(0), root, made, length, before));
    std::vector<value> operands;
    for (const edge& e : n.operand_edges()) operands.push_back(stepped(*e.slot));
    operands[0] = from;
    HEADRACE_TRY(copy, emit(n, operands, rule, length));
    graph_.move_before(*copy, &before);
    return copy->result(v.result);
}

result<value> step_emission::read(node& n, std::uint32_t operand, const node_rule& rule) {
    const value v = n.operand(operand);
    const flow f = flows_.of(v);
    if (!rule.readings[operand] || f.kind != flow_kind::flowing) return stepped(v);
    const auto [begin, length] = *rule.readings[operand];
    if (begin >= 0) return part(stepped(v), f.axis, begin, begin + length, n);
    const value root = root_of(v).first;
    HEADRACE_TRY(full, full_history(root, n));
    const std::int64_t start = histories_.at(root).length + begin;
    HEADRACE_TRY(window, part(full, flows_.of(root).axis, start, start + length, n));
    return at_length(v, root, window, length, n);
}

// `length` is that of the results' stream axis.
result<node*> step_emission::emit(
    node& n, std::span<const value> operands, const node_rule& rule, std::int64_t length) {
    const flow& to = rule.results[0];
    std::vector<std::int64_t> shape(n.results[0].meta->shape.begin(), n.results[0].meta->shape.end());
    if (to.kind == flow_kind::flowing) shape[to.axis] = length;
    node* made = nullptr;
    if (n.op->has(trait::reshaping)) {
        made = &graph_.create<aten::reshape>({.self = operands[0], .shape = int_list(shape)}, &n);
    } else {
        argument_bytes arguments = copy_arguments(n);
        if (rule.spatial != SIZE_MAX && n.op->has(trait::convolving | trait::pooling)) {
            const std::size_t axes = meta_of(n.operand(n.op->has(trait::convolving) ? 1 : 0))->rank() - 2;
            set_entry(n, arguments, "padding", rule.spatial, axes, 0);
            set_entry(n, arguments, "output_padding", rule.spatial, axes, rule.extra);
        }
        if (rule.padded != SIZE_MAX) {
            set_entry(n, arguments, "pad", rule.padded, 0, 0);
            set_entry(n, arguments, "pad", rule.padded + 1, 0, 0);
        }
        if (is<aten::expand>(n) && to.kind == flow_kind::flowing)
            set_entry(n, arguments, "size", to.axis, shape.size(), length);
        if (rule.overlap != 0) clear_bias(n, arguments);
        if (n.op->has(trait::resampling)) set_sizes(n, arguments, shape, rule, operands[0]);
        if (is<aten::select_int>(n) && rule.readings[0]) set_integer(n, arguments, "index", 0);
        made = &graph_.create(*n.op, arguments.data(), n.result_count, &n);
        for (std::uint32_t i = 0; i != made->operand_count; ++i)
            graph_.set_operand(made->operands[i], operands[i]);
    }
    inference inferred(graph_.arena());
    HEADRACE_TRY(infer_node(*made, inferred));
    if (inferred.results().size() != made->result_count)
        return unsupported(join_text(message_prefix(n), "a step of it has another number of results"));
    for (std::uint32_t i = 0; i != made->result_count; ++i) {
        graph_.set_meta(made->result(i), inferred.results()[i]);
        graph_.set_name(made->result(i), n.results[i].name);
    }
    made->annotations = n.annotations;
    const sizes found = made->results[0].meta->shape;
    if (!rule.crop && rule.overlap == 0 && !std::ranges::equal(found, shape)) {
        return unsupported(join_text(message_prefix(n), "a step of it gives ", shape_text(found),
            " instead of ", shape_text(shape), ", so it cannot be computed in steps"));
    }
    return made;
}

result<void> step_emission::replace(node& n) {
    const node_rule* const rule = flows_.rule_of(n);
    if (rule == nullptr) return {};
    if (rule->forwards) {
        made_[n.result()] = stepped(n.operand(forwarded(*rule)));
        return {};
    }
    if (rule->clears) return clear(n, *rule);
    std::vector<value> operands;
    for (std::uint32_t i = 0; i != n.operand_count; ++i) {
        HEADRACE_TRY(operand, read(n, i, *rule));
        operands.push_back(operand);
    }
    for (const carried& c : rule->states) {
        HEADRACE_TRY(first, first_value(n.operand(c.operand)));
        operands[c.operand] = first;
    }
    const flow& to = rule->results[0];
    HEADRACE_TRY(made, emit(n, operands, *rule, to.kind == flow_kind::flowing ? flows_.elements(to) : 0));
    for (const carried& c : rule->states) {
        HEADRACE_TRY(next, next_state(n, *rule, c, made->result(c.result)));
        updates_.push_back({operands[c.operand], next});
    }
    for (std::uint32_t i = 0; i != n.result_count; ++i) made_[n.result(i)] = made->result(i);
    if (rule->overlap != 0) return add_overlap(n, *rule, made->result());
    if (rule->crop) {
        const std::int64_t end = rule->crop->begin + rule->crop->length;
        HEADRACE_TRY(cut, part(made->result(), to.axis, rule->crop->begin, end, n));
        made_[n.result()] = cut;
    }
    if (rule->sums_up) return add_sum(n, *made);
    return {};
}

}  // namespace headrace::streams
