// SPDX-License-Identifier: MIT
// Defines headrace::streams::flow_analysis: the choice of a rule, and the rules of ops that are pointwise along
// the axis or compute on other axes.

#include <headrace/stream/rules.hpp>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include <headrace/base/strings.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/ir/purity.hpp>
#include <headrace/stream/arguments.hpp>

namespace headrace::streams {

namespace {

// Delays and rates beyond this are refused, so that sums and products of a few do not overflow.
constexpr std::int64_t largest = std::int64_t{1} << 31U;

// True for ops that map zero to zero, so that a state of zeros stands for the padding before them.
bool keeps_zero(const node& n) {
    return n.op->has(trait::quantizing | trait::dequantizing | trait::rearranging | trait::copying) ||
        is<aten::relu>(n) || is<aten::relu6>(n) || is<aten::tanh>(n) || is<aten::silu>(n) ||
        is<aten::gelu>(n) || is<aten::leaky_relu>(n) || is<aten::hardswish>(n) || is<aten::dropout>(n);
}

}  // namespace

const tensor_meta& flow_analysis::meta(const node& n, std::uint32_t operand) const {
    return *meta_of(n.operand(operand));
}

flow flow_analysis::of(value v) const {
    const auto found = flows_.find(v);
    return found == flows_.end() ? flow{} : found->second;
}

const node_rule* flow_analysis::rule_of(const node& n) const {
    const auto found = rules_.find(&n);
    return found == rules_.end() ? nullptr : &found->second;
}

result<void> flow_analysis::check_flow(const node& n, const flow& f) {
    const bool in_range = std::max({std::abs(f.delay), f.exact, f.interior, f.rate.numerator(),
                              f.rate.denominator(), f.size}) < largest;
    if (!in_range)
        return unsupported(join_text(message_prefix(n), "its delay along the stream is too large"));
    if (f.kind == flow_kind::flowing) {
        multiple_ = std::lcm(multiple_, f.rate.denominator());
        if (multiple_ >= largest)
            return unsupported(join_text(message_prefix(n), "strides before it divide the rate too often"));
    }
    return {};
}

result<void> flow_analysis::visit(node& n) {
    if (is<builtin::placeholder>(n) || is<builtin::constant>(n) || is<builtin::output>(n)) return {};
    bool flows = false;
    bool varies = false;
    for (const edge& e : n.operand_edges()) {
        flows = flows || of(*e.slot).kind == flow_kind::flowing;
        varies = varies || of(*e.slot).kind == flow_kind::latest;
    }
    if (!flows && !varies) return {};
    if (has_effects(*n.op))
        return unsupported(join_text(message_prefix(n), "it has an effect, which steps would repeat"));
    node_rule made;
    if (flows) {
        HEADRACE_TRY(found, rule(n));
        made = std::move(found);
    } else {
        flow f{.kind = flow_kind::latest};
        for (const edge& e : n.operand_edges()) {
            const flow from = of(*e.slot);
            f.exact = std::max(f.exact, from.exact);
            f.comparable = f.comparable && from.comparable;
            f.remembers = f.remembers || from.remembers;
        }
        made.results.assign(n.result_count, f);
    }
    made.readings.resize(n.operand_count);
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        flow& f = made.results[i];
        if (f.kind == flow_kind::flowing && n.results[i].meta != nullptr) {
            f.size = n.results[i].meta->shape[f.axis];
            f.end = std::min(f.end, f.size + f.delay);
        }
        HEADRACE_TRY(check_flow(n, f));
        flows_[n.result(i)] = f;
    }
    rules_[&n] = std::move(made);
    return {};
}

result<node_rule> flow_analysis::rule(node& n) {
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        const tensor_meta* made = n.results[i].meta;
        if (made == nullptr) return unsupported(join_text(message_prefix(n), "its shape is not known"));
        if (std::ranges::find(made->shape, 0) != made->shape.end())
            return unsupported(join_text(message_prefix(n), "its result has no elements"));
    }
    // A window that has shrunk to one element is an element of the stream.
    if (n.operand_count != 0 && of(n.operand(0)).kind == flow_kind::flowing && of(n.operand(0)).size == 1 &&
        n.op->has(trait::reshaping | trait::reduction))
        return gathered(n, 1);
    return named_rule(n);
}

result<node_rule> flow_analysis::named_rule(node& n) {
    const auto axis_of = [&](std::uint32_t i) { return static_cast<std::int64_t>(of(n.operand(i)).axis); };
    if (n.op->has(trait::quantizing | trait::dequantizing)) {
        const auto axis = integer_argument(n, "axis");
        const bool by_token = is<quantized_decomposed::quantize_per_token>(n);
        if ((axis && *axis == axis_of(0)) || by_token) return global(n, "its scales vary along the axis");
        return like_operand(n, 0);
    }
    if (is<aten::layer_norm>(n) || is<aten::native_layer_norm>(n) || is<aten::rms_norm>(n)) {
        const std::size_t normalized = integers_argument(n, "normalized_shape").size();
        if (of(n.operand(0)).axis + normalized >= meta(n, 0).rank())
            return global(n, "it normalizes over all of the axis; normalize over channels");
        return like_operand(n, 0);
    }
    if (is<aten::batch_norm>(n) || is<aten::_native_batch_norm_legit_no_training>(n)) {
        if (boolean_argument(n, "training") || axis_of(0) == 1)
            return global(n, "it computes statistics of the input; export the model after eval()");
        return like_operand(n, 0);
    }
    if (is<aten::prelu>(n) || is<aten::_prelu_kernel>(n))
        return axis_of(0) == 1 ? global(n, "its weights vary along the axis") : like_operand(n, 0);
    if (is<aten::dropout>(n))
        return boolean_argument(n, "train") ? global(n, "it draws random numbers") : like_operand(n, 0);
    if (is<aten::softmax_int>(n) || is<aten::_softmax>(n) || is<aten::log_softmax_int>(n) ||
        is<aten::_log_softmax>(n) || is<aten::_safe_softmax>(n) || is<aten::glu>(n) || is<aten::cumsum>(n)) {
        const auto dim = normalized_axis(*integer_argument(n, "dim"), meta(n, 0).rank());
        if (dim != of(n.operand(0)).axis) return like_operand(n, 0);
        if (is<aten::cumsum>(n)) return cumulative_sum(n);
        return global(n, "it needs all elements of the axis at once");
    }
    return rule_by_traits(n);
}

result<node_rule> flow_analysis::rule_by_traits(node& n) {
    if (n.op->has(trait::convolving)) return convolution(n);
    if (n.op->has(trait::pooling)) return pooling(n);
    if (n.op->has(trait::resampling)) return resampling(n);
    if (n.op->has(trait::matrix_product)) return product(n);
    if (n.op->has(trait::recurrent_network)) return recurrence(n);
    if (n.op->has(trait::reduction)) return reduction(n);
    if (n.op->has(trait::permuting)) return permutation(n);
    if (n.op->has(trait::reshaping)) return reshape(n);
    if (n.op->has(trait::slicing) || n.op->has(trait::splitting)) return slice(n);
    if (n.op->has(trait::padding)) return pad(n);
    if (is<aten::cat>(n)) return join(n);
    if (is<aten::expand>(n)) return pointwise(n);
    if (is<aten::unfold>(n)) return pooling(n);
    if (n.op->has(trait::elementwise | trait::copying | trait::casting | trait::forwarding) ||
        is<aten::_to_copy>(n))
        return pointwise(n);
    if (n.op->has(trait::attention)) return global(n, "attention reads all of the axis");
    if (n.op->has(trait::reversing)) return global(n, "it reverses the axis, whose end a stream never has");
    return global(n, "no rule says how a step computes it");
}

result<node_rule> flow_analysis::like_operand(node& n, std::uint32_t operand, std::int64_t axis_shift) {
    for (std::uint32_t i = 0; i != n.operand_count; ++i) {
        if (i != operand && of(n.operand(i)).kind == flow_kind::flowing)
            return global(n, "another operand than the first one is of the stream");
    }
    flow f = of(n.operand(operand));
    f.axis = static_cast<std::size_t>(static_cast<std::int64_t>(f.axis) + axis_shift);
    f.zero_before = f.zero_before && (f.delay == 0 || keeps_zero(n));
    node_rule made;
    made.results.assign(n.result_count, f);
    return made;
}

result<node_rule> flow_analysis::pointwise(node& n) {
    std::optional<std::size_t> from_right;
    for (std::uint32_t i = 0; i != n.operand_count; ++i) {
        const flow f = of(n.operand(i));
        if (f.kind != flow_kind::flowing) continue;
        const std::size_t place = meta(n, i).rank() - f.axis;
        if (from_right && place != *from_right)
            return global(n, "it combines each element of the axis with all others");
        from_right = place;
    }
    return aligned(n, *from_right);
}

// Lets operands that are ahead wait. `from_right` is the place of the axis in the operands and the results.
result<node_rule> flow_analysis::aligned(node& n, std::size_t from_right) {
    node_rule made;
    made.readings.resize(n.operand_count);
    flow all{.end = INT64_MAX};
    bool zeros = true;
    for (std::uint32_t i = 0; i != n.operand_count; ++i) {
        const flow f = of(n.operand(i));
        const tensor_meta& m = meta(n, i);
        if (f.kind != flow_kind::flowing) {
            const bool varies = m.rank() >= from_right && m.shape[m.rank() - from_right] != 1;
            if (varies) return global(n, "another operand has a number for each element of the axis");
            all.comparable = all.comparable && f.kind == flow_kind::independent;
            continue;
        }
        if (all.kind == flow_kind::flowing && f.rate != all.rate)
            return global(n, "its operands have different rates");
        all.delay = all.kind == flow_kind::flowing ? std::max(all.delay, f.delay) : f.delay;
        all.kind = flow_kind::flowing;
        all.rate = f.rate;
        all.remembers = all.remembers || f.remembers;
        all.comparable = all.comparable && f.comparable;
    }
    for (std::uint32_t i = 0; i != n.operand_count; ++i) {
        const flow f = of(n.operand(i));
        if (f.kind == flow_kind::latest) all.exact = std::max(all.exact, f.exact * elements(all));
        if (f.kind != flow_kind::flowing) continue;
        const std::int64_t wait = all.delay - f.delay;
        if (wait != 0) made.readings[i] = reading{-wait, elements(f)};
        const bool exact_from_start = f.zero_before && (wait == 0 || all.delay <= 0);
        all.exact =
            std::max(all.exact, exact_from_start ? std::max(std::int64_t{0}, all.delay) : f.exact + wait);
        all.interior = std::max(all.interior, f.interior + wait);
        all.end = std::min(all.end, f.end + wait);
        zeros = zeros && exact_from_start;
    }
    all.zero_before = zeros && all.delay <= 0 && (all.delay == 0 || keeps_zero(n));
    const std::size_t rank = n.results[0].meta->rank();
    all.axis = rank - from_right;
    made.results.assign(n.result_count, all);
    return made;
}

}  // namespace headrace::streams
