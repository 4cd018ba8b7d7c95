// SPDX-License-Identifier: MIT
// Defines the functions of lowering/model_summary.hpp.
#ifndef HEADRACE_LOWERING_MODEL_SUMMARY_DEFINITION_HPP
#define HEADRACE_LOWERING_MODEL_SUMMARY_DEFINITION_HPP

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include <headrace/base/compiled.hpp>
#include <headrace/base/printable.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/io/graph_interface.hpp>
#include <headrace/ir/meta_text.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/lowering/literals.hpp>
#include <headrace/lowering/model_summary.hpp>
#include <headrace/memory/memory_plan.hpp>

namespace headrace {

namespace detail {

/// How the MACs of an op follow from the shapes of its operands.
enum class mac_rule : unsigned char {
    none,
    convolution,               ///< weight [O, …]: each result element takes one filter
    transposed,                ///< weight [I, …]: each input element takes one filter
    transposed_channels_last,  ///< the same, weight [O, …, I]
    depthwise,                 ///< weight [H, W, C, M]
    product,                   ///< rows of the first matrix: its last axis is summed up
    attention,
    unknown
};
struct counted_op {
    mac_rule rule = mac_rule::none;
    std::size_t first = 0;  ///< operand that is the first factor
};

template <class... Ops>
[[nodiscard]] bool is_one_of(const op_info& op) {
    return ((&op == &info_of<Ops>) || ...);
}

[[nodiscard]] inline counted_op counted_as(const node& n) {
    const op_info& op = n.op->functional();
    if (const auto* c = args_if<aten::convolution>(n); c != nullptr && c->transposed)
        return {mac_rule::transposed};
    if (is_one_of<aten::conv1d, aten::conv1d_padding, aten::conv2d, aten::conv2d_padding, aten::conv3d,
                  aten::conv3d_padding, aten::convolution, tosa::conv2d, tosa::conv3d>(op))
        return {mac_rule::convolution};
    if (is_one_of<aten::conv_transpose1d, aten::conv_transpose2d_input, aten::conv_transpose3d_input>(op))
        return {mac_rule::transposed};
    if (is_one_of<tosa::transpose_conv2d>(op)) return {mac_rule::transposed_channels_last};
    if (is_one_of<tosa::depthwise_conv2d>(op)) return {mac_rule::depthwise};
    if (is_one_of<aten::addmm, aten::baddbmm>(op)) return {mac_rule::product, 1};
    if (is_one_of<aten::linear, aten::mm, aten::bmm, aten::matmul, aten::mv, aten::dot, tosa::matmul>(op))
        return {mac_rule::product};
    if (is_one_of<aten::scaled_dot_product_attention, aten::_scaled_dot_product_flash_attention_for_cpu>(op))
        return {mac_rule::attention};
    if (is_one_of<aten::einsum, aten::lstm_input, aten::lstm_cell, aten::gru_input, aten::gru_cell>(op))
        return {mac_rule::unknown};
    return {};
}

[[nodiscard]] inline std::uint64_t elements_of(value v) {
    const tensor_meta* meta = meta_of(v);
    return meta == nullptr ? 0 : static_cast<std::uint64_t>(std::max<std::int64_t>(meta->elements(), 0));
}
/// The size of an axis, counted from the last one where it is negative; 0 where it has none.
[[nodiscard]] inline std::uint64_t extent_of(value v, int axis) {
    const tensor_meta* meta = meta_of(v);
    const int rank = meta == nullptr ? 0 : static_cast<int>(meta->rank());
    const int at = axis < 0 ? axis + rank : axis;
    if (at < 0 || at >= rank) return 0;
    return static_cast<std::uint64_t>(std::max<std::int64_t>(meta->shape[static_cast<std::size_t>(at)], 0));
}
[[nodiscard]] inline std::uint64_t per_index(value v, int axis) {
    const std::uint64_t extent = extent_of(v, axis);
    return extent == 0 ? 0 : elements_of(v) / extent;
}

[[nodiscard]] inline std::uint64_t macs_of(const node& n, const counted_op& as) {
    if (as.rule == mac_rule::none || as.rule == mac_rule::unknown || n.operand_count < as.first + 2) return 0;
    const value first = n.operand(as.first);
    const value second = n.operand(as.first + 1);
    const std::uint64_t results = elements_of({const_cast<node*>(&n), 0});
    switch (as.rule) {
        case mac_rule::convolution:
            return results * per_index(second, 0);
        case mac_rule::transposed:
            return elements_of(first) * per_index(second, 0);
        case mac_rule::transposed_channels_last:
            return elements_of(first) * per_index(second, -1);
        case mac_rule::depthwise:
            return results * extent_of(second, 0) * extent_of(second, 1);
        case mac_rule::product:
            return results * extent_of(first, -1);
        case mac_rule::attention:  // query by key, and what that gives by value
            return (elements_of(first) + results) * extent_of(second, -2);
        case mac_rule::none:
        case mac_rule::unknown:
            break;
    }
    return 0;
}

/// Is a constant there to say a scale, a zero point or a function, not what a model has learnt?
[[nodiscard]] inline bool is_quantization_parameter(const node& constant) {
    const tensor_meta& meta = *constant.results[0].meta;
    if (is<tosa::const_>(constant) && meta.elements() == 1 && !is_floating(meta.dtype)) return true;
    const auto uses = constant.uses();
    return constant.first_use != nullptr && std::all_of(uses.begin(), uses.end(), [](const edge& e) {
               const node& user = *e.target;
               const bool converts = is_of_dialect<quantized_decomposed::dialect>(user) ||
                                     is<tosa::rescale>(user) || is<tosa::table>(user);
               return converts && e.operand != 0;
           });
}

class summary_maker {
public:
    void add(const graph& g) {
        for (const node& n : g.nodes()) {
            add_node(n);
            for_each_region(n, [&](const field_info&, const graph* region) {
                if (region != nullptr && region->parent() == &g) add(*region);
            });
        }
    }
    [[nodiscard]] model_summary made() && {
        for (auto& [name, op] : ops_) made_.ops.push_back(std::move(op));
        std::ranges::stable_sort(made_.ops, [](const op_summary& a, const op_summary& b) {
            return std::pair(a.macs, a.count) > std::pair(b.macs, b.count);
        });
        return std::move(made_);
    }

private:
    void add_node(const node& n) {
        ++made_.nodes;
        if (is<builtin::placeholder>(n) || is<builtin::output>(n) || is<tosa::const_shape>(n)) return;
        if (is<builtin::constant>(n) || is<tosa::const_>(n)) return add_constant(n);
        const counted_op as = counted_as(n);
        op_summary& op = ops_[n.op->name];
        op.op = n.op->name;
        ++op.count;
        op.macs += macs_of(n, as);
        made_.macs += macs_of(n, as);
        made_.uncounted += as.rule == mac_rule::unknown ? 1 : 0;
    }
    void add_constant(const node& n) {
        if (!n.results[0].meta || is_quantization_parameter(n)) return;
        made_.parameters += elements_of({const_cast<node*>(&n), 0});
        made_.parameter_bytes += packed_bytes(*n.results[0].meta);
    }

    model_summary made_;
    std::map<std::string_view, op_summary> ops_;
};

[[nodiscard]] inline std::string described(const interface_tensor& t, const quantization* quantized_by,
                                           dtype quantized_to) {
    const std::string plain(meta_text(t.meta));
    std::string text = join_text(printable(t.name), ": ");
    if (t.quantization != nullptr) {
        const auto& q = *t.quantization;
        const std::string parameters =
            parameters_text(quantization::per_tensor(q.scale, q.zero_point, q.lowest, q.highest));
        text += join_text(name_of(t.meta.dtype), parameters, plain.substr(plain.find('[')));
    } else {
        text += plain;
    }
    if (quantized_by != nullptr)
        text += join_text(", in the model ", name_of(quantized_to), parameters_text(*quantized_by));
    return text + (t.channels_last ? ", NHWC" : "");
}

[[nodiscard]] inline std::vector<std::string> described_inputs(const graph& g) {
    std::vector<std::string> all;
    const std::vector<interface_tensor> tensors = interface_inputs(g);
    for (const node& n : g.inputs()) {
        std::optional<quantization> q;
        dtype to = dtype::unknown;
        for (const edge& e : n.uses()) {
            const auto* a = args_if<quantized_decomposed::quantize_per_tensor>(*e.target);
            if (a == nullptr) continue;
            q = quantization_of(*a);
            to = a->dtype;
        }
        all.push_back(described(tensors[all.size()], q ? &*q : nullptr, to));
    }
    return all;
}

[[nodiscard]] inline std::vector<std::string> described_outputs(const graph& g) {
    std::vector<std::string> all;
    if (g.output() == nullptr) return all;
    const std::vector<interface_tensor> tensors = interface_outputs(g);
    for (const value v : g.outputs()) {
        const auto read = match_dequantize(v);
        const tensor_meta* integers = read ? meta_of(read->integers) : nullptr;
        all.push_back(described(tensors[all.size()], integers == nullptr ? nullptr : &read->parameters,
                                integers == nullptr ? dtype::unknown : integers->dtype));
    }
    return all;
}

}  // namespace detail

HEADRACE_INLINE model_summary summary_of(const graph& g) {
    detail::summary_maker maker;
    maker.add(g);
    model_summary made = std::move(maker).made();
    if (const auto plan = make_memory_plan(g, {})) {
        std::uint64_t bytes = 0;
        for (const planned_memory& m : plan.value().memories) bytes += m.bytes;
        made.peak_bytes = bytes;
    }
    made.inputs = detail::described_inputs(g);
    made.outputs = detail::described_outputs(g);
    return made;
}

}  // namespace headrace

#endif
