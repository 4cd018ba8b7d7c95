// SPDX-License-Identifier: MIT
// Defines headrace::outline_layers.
#ifndef HEADRACE_PASSES_DEVICE_OUTLINE_LAYERS_HPP
#define HEADRACE_PASSES_DEVICE_OUTLINE_LAYERS_HPP

#include <optional>

#include <headrace/pass/pass.hpp>
#include <headrace/passes/device/layers.hpp>

namespace headrace {

/// Makes a layer of each operator that can be part of one.
struct outline_layers : pass {
    static constexpr std::string_view summary =
        "convolutions, products, reductions and element-wise ops as layers";
    using targeted_ops = layered_ops;
    using produces = joined<device::dialect::all_ops, layered_ops>;

    template <one_of<targeted_ops> Op>
    std::optional<value> operator()(Op, const args<Op>&, emit<produces>& e) const {
        const node& n = e.current();
        if (is_in_layer(n)) return std::nullopt;
        layer_builder layer(e.owner());
        layer.end(layer.append(n));
        return e.make<layer_of<Op>>({.inputs = layer.inputs(), .body = &layer.body()});
    }

private:
    // True if the graph belongs to a layer, rather than to a branch or a loop.
    static bool is_in_layer(const node& n) {
        const graph* const parent = n.owner->parent();
        if (parent == nullptr) return false;
        bool found = false;
        const auto look = [&]<class... Ops>(ops<Ops...>) {
            const auto find = [&](auto nodes) {
                for (const node& layer : nodes) found = found || parts_of(layer).body == n.owner;
            };
            (find(parent->nodes_of(info_of<Ops>)), ...);
        };
        look(device::dialect::all_ops{});
        return found;
    }
};

}  // namespace headrace

#endif
