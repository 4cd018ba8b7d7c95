// SPDX-License-Identifier: MIT
// Defines headrace::fuse_layers.
#ifndef HEADRACE_PASSES_DEVICE_FUSE_LAYERS_HPP
#define HEADRACE_PASSES_DEVICE_FUSE_LAYERS_HPP

#include <optional>

#include <headrace/pass/pass.hpp>
#include <headrace/passes/device/layers.hpp>

namespace headrace {

/// Computes an element-wise layer in the layer whose result it alone reads, so that the tensor between them
/// is never in memory. A sum of two branches becomes part of the one that ends later. A reduction takes in
/// what is element-wise before it as well. Reductions and pools read one tensor.
struct fuse_layers : pass {
    static constexpr std::string_view summary = "element-wise layers as part of the layer before them";
    static constexpr bool in_execution_order = true;
    using targeted_ops = ops<device::elementwise, device::reduction>;
    using produces = joined<device::dialect::all_ops, layered_ops>;

    std::optional<value> operator()(const args<device::elementwise>& a, emit<produces>& e) const {
        const auto is_taken = [&](const node& n) {
            const bool takes_tensors = !is<device::reduction>(n) && !is<device::pooling>(n);
            return takes_tensors || count_tensors({a.inputs, a.body}, &n) == 0;
        };
        const node* const before = last_of(a.inputs, e, is_taken);
        return before == nullptr ? std::nullopt : fused(*before, *before->op, e);
    }
    std::optional<value> operator()(const args<device::reduction>& a, emit<produces>& e) const {
        const auto is_taken = [](const node& n) {
            return is<device::elementwise>(n) && count_tensors(parts_of(n)) == 1;
        };
        const node* const before = last_of(a.inputs, e, is_taken);
        return before == nullptr ? std::nullopt : fused(*before, info_of<device::reduction>, e);
    }

private:
    // The last layer that is read here alone and has a result for each element of this one, or null.
    template <class IsTaken>
    static const node* last_of(list<value> inputs, const emitter& e, IsTaken&& is_taken) {
        const node* last = nullptr;
        const bool reduces = is<device::reduction>(e.current());
        for (const value v : inputs) {
            const node& n = *v.producer;
            if (n.op->dialect != &info_of_dialect<device::dialect> || !is_taken(n)) continue;
            if (!is_read_alone(n)) continue;
            if (!reduces && e.shape(v) != e.result_meta().shape) continue;
            if (last == nullptr || last->position < n.position) last = &n;
        }
        return last;
    }

    // A layer whose result is read here alone.
    static bool is_read_alone(const node& n) {
        return n.first_use != nullptr && n.first_use->next_use == nullptr;
    }

    // `before` and this layer as one of kind `op`, with the element-wise layers that give the latter other
    // operands.
    static std::optional<value> fused(const node& before, const op_info& op, emit<produces>& e) {
        const node& n = e.current();
        const layer_parts second = parts_of(n);
        layer_builder layer(e.owner());
        const auto append = [&](const node& first) {
            pmr_vector<value> operands;
            const layer_parts parts = parts_of(first);
            for (const value v : parts.inputs) operands.push_back(layer.input(v));
            return layer.append(*parts.body, operands);
        };
        pmr_vector<value> operands;
        for (const value v : second.inputs) {
            const bool is_operand = is<device::elementwise>(*v.producer) && is_read_alone(*v.producer) &&
                                    is<device::elementwise>(n) && e.shape(v) == e.result_meta().shape;
            operands.push_back(v.producer == &before || is_operand ? append(*v.producer) : layer.input(v));
        }
        layer.end(layer.append(*second.body, operands));
        const args<device::elementwise> all{.inputs = layer.inputs(), .body = &layer.body()};
        std::optional<value> made;
        const auto make = [&]<class... Ops>(ops<Ops...>) {
            ((op.index == info_of<Ops>.index ? void(made = e.make<Ops>({all.inputs, all.body})) : void()),
             ...);
        };
        make(device::dialect::all_ops{});
        return made;
    }
};

}  // namespace headrace

#endif
