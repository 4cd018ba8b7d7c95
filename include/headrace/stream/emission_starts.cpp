// SPDX-License-Identifier: MIT
// Defines headrace::streams::step_emission: how a stream starts, before the whole model's first element.

#include <algorithm>
#include <cstdint>
#include <vector>

#include <headrace/base/strings.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/stream/emission.hpp>

namespace headrace::streams {

value step_emission::add_constant(const tensor_meta& meta, std::span<const std::byte> bytes, node& before) {
    const value made = create_constant(
        graph_, meta, &before, [&](std::span<std::byte> data) { std::ranges::copy(bytes, data.begin()); });
    graph_.set_name(made, graph_.own(join_text("stream_start_", made.producer->id)));
    return made;
}

// Returns the first step for each element of the axis that has all of them in the whole model: element i of a
// step is number `step · length + i` of the stream.
std::vector<std::int64_t> step_emission::first_steps(const flow& f) const {
    const std::int64_t length = flows_.elements(f);
    std::vector<std::int64_t> first;
    for (std::int64_t i = 0; i != length; ++i)
        first.push_back(std::max(std::int64_t{0}, (f.delay - i + length - 1) / length));
    return first;
}

void step_emission::note_starts(const node& n) {
    const node_rule* const rule = flows_.rule_of(n);
    if (rule == nullptr) return;
    last_counted_ = std::max(last_counted_, rule->first_step);
    if (rule->clears) last_counted_ = std::max(last_counted_, first_steps(rule->results[0]).front());
}

// Integers of 8 bits if they suffice: TOSA has variables of these.
dtype step_emission::count_type() const { return last_counted_ < INT8_MAX ? dtype::int8 : dtype::int32; }

// True for elements whose first step has come.
result<value> step_emission::is_step_from(
    std::span<const std::int64_t> first, const int_list& shape, node& before) {
    if (!steps_) {
        const tensor_meta one{count_type(), graph_.own(int_list{1}), {}};
        steps_ = add_buffer(one, eval::tensor(one.dtype, {1}).bytes(), "steps", *graph_.first());
    }
    eval::tensor numbers(count_type(), {shape.begin(), shape.end()});
    numbers.assign(std::vector<std::int64_t>(first.begin(), first.end()));
    const value limits = add_constant({count_type(), graph_.own(shape), {}}, numbers.bytes(), before);
    const args<aten::ge_tensor> compared{.self = steps_, .other = limits};
    return add(info_of<aten::ge_tensor>, &compared, before);
}

result<void> step_emission::count_steps() {
    if (!steps_) return {};
    node& end = *graph_.output();
    const args<aten::add_scalar> more{.self = steps_, .other = 1};
    HEADRACE_TRY(sum, add(info_of<aten::add_scalar>, &more, end));
    const args<aten::clamp> limited{.self = sum, .max = scalar(last_counted_)};
    HEADRACE_TRY(next, add(info_of<aten::clamp>, &limited, end));
    updates_.push_back({steps_, next});
    return {};
}

// Elements before the delay become zero.
result<void> step_emission::clear(node& n, const node_rule& rule) {
    const value v = stepped(n.operand(0));
    const flow& f = rule.results[0];
    std::vector<std::int64_t> shape(meta_of(v)->rank(), 1);
    shape[f.axis] = flows_.elements(f);
    HEADRACE_TRY(is_there, is_step_from(first_steps(f), int_list(shape), n));
    const tensor_meta one{meta_of(v)->dtype, graph_.own(int_list{1}), {}};
    const value zero = add_constant(one, eval::tensor(one.dtype, {1}).bytes(), n);
    const args<aten::where_self> chosen{.condition = is_there, .self = v, .other = zero};
    HEADRACE_TRY(cleared, add(info_of<aten::where_self>, &chosen, n));
    made_[n.result()] = cleared;
    return {};
}

// A state stays as it is until the whole model's first element comes.
result<value> step_emission::next_state(node& n, const node_rule& rule, const carried& c, value made) {
    if (rule.first_step == 0) return made;
    HEADRACE_TRY(has_begun, is_step_from(std::span(&rule.first_step, 1), int_list{1}, n));
    const args<aten::where_self> chosen{
        .condition = has_begun, .self = made, .other = stepped(n.operand(c.operand))};
    return add(info_of<aten::where_self>, &chosen, n);
}

}  // namespace headrace::streams
