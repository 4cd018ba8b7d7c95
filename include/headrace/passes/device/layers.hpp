// SPDX-License-Identifier: MIT
// Defines headrace::layer_of, the layer of the device dialect that computes a TOSA operator.
#ifndef HEADRACE_PASSES_DEVICE_LAYERS_HPP
#define HEADRACE_PASSES_DEVICE_LAYERS_HPP

#include <algorithm>
#include <type_traits>

#include <boost/mp11/algorithm.hpp>

#include <headrace/infer/device.hpp>
#include <headrace/infer/tosa.hpp>
#include <headrace/op/op_query.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/support/inlining.hpp>

namespace headrace {

/// Operators that compute each element of the result from one element of each operand. IDENTITY only moves,
/// and is left out.
template <class Op>
concept device_elementwise =
    op_where<Op, tosa::dialect, trait::elementwise> && !std::is_same_v<Op, tosa::identity>;

namespace detail {

template <class Op>
constexpr auto find_layer() {
    if constexpr (one_of<Op, ops<tosa::conv2d, tosa::depthwise_conv2d>>) {
        return std::type_identity<device::convolution>{};
    } else if constexpr (std::is_same_v<Op, tosa::matmul>) {
        return std::type_identity<device::product>{};
    } else if constexpr (one_of<Op, ops<tosa::avg_pool2d, tosa::max_pool2d>>) {
        return std::type_identity<device::pooling>{};
    } else if constexpr (op_where<Op, tosa::dialect, trait::reduction> && !std::is_same_v<Op, tosa::argmax>) {
        return std::type_identity<device::reduction>{};
    } else if constexpr (device_elementwise<Op>) {
        return std::type_identity<device::elementwise>{};
    } else {
        return std::type_identity<void>{};
    }
}

template <class Op>
using is_layered = std::bool_constant<!std::is_void_v<typename decltype(find_layer<Op>())::type>>;

}  // namespace detail

template <class Op>
using layer_of = typename decltype(detail::find_layer<Op>())::type;

/// Operators that become parts of layers. The others remain single operators: they move elements, or are
/// rare.
using layered_ops = boost::mp11::mp_copy_if<tosa::dialect::all_ops, detail::is_layered>;

/// The arguments of any layer; all layers have these members.
struct layer_parts {
    list<value> inputs;
    graph* body = nullptr;
};
[[nodiscard]] inline layer_parts parts_of(const node& n) {
    layer_parts parts;
    visit_args(device::dialect::all_ops{}, n, [&](auto, const auto& a) { parts = {a.inputs, a.body}; });
    return parts;
}

/// Returns how many tensors a layer reads besides the results of `except`: constants of one element and
/// tables are part of its code, and do not count.
[[nodiscard]] inline std::size_t count_tensors(const layer_parts& layer, const node* except = nullptr) {
    std::size_t count = 0, i = 0;
    for (const node& stand_in : layer.body->inputs()) {
        const value v = layer.inputs[i++];
        if (v.producer == except) continue;
        const bool is_constant = match<builtin::constant>(v) != nullptr;
        const edge* const use = stand_in.first_use;
        const bool is_table = use != nullptr && is<tosa::table>(*use->target) &&
            use->target->operand(1) == value{const_cast<node*>(&stand_in), 0};
        if (!is_constant || (meta_of(v)->elements() != 1 && !is_table)) ++count;
    }
    return count;
}

/// Concatenates graphs into the graph of one layer, in which each input occurs once.
class layer_builder {
public:
    explicit layer_builder(graph& g) : body_(g.create_region()), output_(body_.create<builtin::output>({})) {}

    /// Returns the input that represents a value in the layer; creates it if it is new.
    value input(value v) {
        const auto known = std::find(inputs_.begin(), inputs_.end(), v);
        if (known != inputs_.end()) return stand_ins_[static_cast<std::size_t>(known - inputs_.begin())];
        const value made = body_.create<builtin::placeholder>({}, &output_).result();
        if (meta_of(v) != nullptr) body_.set_meta(made, *meta_of(v));
        inputs_.push_back(v);
        stand_ins_.push_back(made);
        return made;
    }
    /// Inlines a graph, with operands inside the layer, and returns its result.
    value append(const graph& other, std::span<const value> operands) {
        return inline_region(other, output_, operands)[0];
    }
    /// Copies a node; its operands become inputs.
    value append(const node& n) {
        pmr_vector<value> operands;
        for (std::size_t i = 0; i != n.operand_count; ++i) operands.push_back(input(n.operand(i)));
        node& made = body_.create(*n.op, n.arguments, n.result_count, &output_);
        for (std::size_t i = 0; i != operands.size(); ++i) body_.set_operand(made.operands[i], operands[i]);
        body_.set_meta(made.result(), *meta_of({const_cast<node*>(&n), 0}));
        body_.inherit_annotations(made, n);
        return made.result();
    }
    void end(value result) {
        body_.erase(output_);
        body_.create<builtin::output>({.values = list<value>(std::span(&result, 1))});
    }
    [[nodiscard]] list<value> inputs() const { return list<value>(inputs_); }
    [[nodiscard]] graph& body() { return body_; }

private:
    graph& body_;
    node& output_;
    pmr_vector<value> inputs_;
    pmr_vector<value> stand_ins_;
};

}  // namespace headrace

#endif
