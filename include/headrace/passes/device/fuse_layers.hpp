// SPDX-License-Identifier: MIT
// Defines headrace::fold_padding, headrace::outline_layers and headrace::fuse_layers, which make layers of
// TOSA's operators.
#ifndef HEADRACE_PASSES_DEVICE_FUSE_LAYERS_HPP
#define HEADRACE_PASSES_DEVICE_FUSE_LAYERS_HPP

#include <algorithm>

#include <headrace/match/node_pattern.hpp>
#include <headrace/passes/device/layers.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace {

/// Folds the PAD of an image with its zero point into the convolution: kernels need no padded copy.
struct fold_padding : pass {
    static constexpr std::string_view summary = "PAD of an image with its zero point as a convolution's pad";

    static auto rewrites() {
        return rules(on_match([](auto image, auto number) {
            const auto border = node_of<"border", tosa::const_shape>();
            const auto padded = node_of<"pad", tosa::pad>(image, border, number);
            return node_of<"convolution", tosa::conv2d, tosa::depthwise_conv2d>(padded);
        }) = code<made>([](emit<made> e, value image, value number, const auto& m) {
            return folded(e, image, number, get<"border">(m).values, *find<"convolution">(m));
        }));
    }

private:
    using made = ops<tosa::conv2d, tosa::depthwise_conv2d>;
    // `border` has the numbers of elements before and after the image, for each axis.
    static std::optional<value> folded(
        emit<made> e, value image, value number, sizes border, const node& convolution) {
        const bool is_of_image =
            border.size() == 8 && border[0] == 0 && border[1] == 0 && border[6] == 0 && border[7] == 0;
        std::optional<value> without_pad;
        visit_args(made{}, convolution, [&]<class Op>(Op, args<Op> a) {
            if (!is_of_image || !is_zero_point(number, a.input_zp)) return;
            a.input = image;
            a.pad = {a.pad[0] + border[2], a.pad[1] + border[3], a.pad[2] + border[4], a.pad[3] + border[5]};
            without_pad = e.make<Op>(a);
        });
        return without_pad;
    }
    static bool is_zero_point(value number, value zero) {
        const auto real = constant_reals(number), zero_point = constant_reals(zero);
        return real && zero_point && !real->empty() && !zero_point->empty() && (*real)[0] == (*zero_point)[0];
    }
};

/// Makes a layer of each operator that can be part of one.
struct outline_layers : pass {
    static constexpr std::string_view summary =
        "convolutions, products, reductions and element-wise ops as layers";

    static auto rewrites() {
        return rules(on_each<layered_ops> = code<made>([]<class Op>(Op, emit<made> e, const args<Op>&) {
            if (is_in_layer(e.current())) return std::optional<value>();
            layer_builder layer(e.owner());
            layer.end(layer.append(e.current()));
            return std::optional(e.make<layer_of<Op>>({.inputs = layer.inputs(), .body = &layer.body()}));
        }));
    }

private:
    using made = joined<device::dialect::all_ops, layered_ops>;

    // True if the graph belongs to a layer, rather than to a branch or a loop.
    static bool is_in_layer(const node& n) {
        const graph* const parent = n.owner->parent();
        const auto is_its_layer = [&](const node& layer) { return parts_of(layer).body == n.owner; };
        const auto look = [&]<class... Ops>(ops<Ops...>) {
            return (std::ranges::any_of(parent->nodes_of(info_of<Ops>), is_its_layer) || ...);
        };
        return parent != nullptr && look(device::dialect::all_ops{});
    }
};

/// Fuses an elementwise layer into the layer whose only reader it is, so that the tensor between them is
/// never stored. A sum of two branches becomes part of the branch that is computed last. A layer that only
/// widens a stored result is computed where it is read, so that memory holds the narrow tensor. A reduction
/// also absorbs an elementwise layer before it. Reductions and pools read a single tensor.
struct fuse_layers : pass {
    static constexpr std::string_view summary = "element-wise layers as part of the layer before them";
    static constexpr bool in_execution_order = true;

    static auto rewrites() {
        return rules(
            on<device::elementwise> = code<into_neighbors>(), on<device::reduction> = code<absorbing>());
    }

private:
    using made = joined<device::dialect::all_ops, layered_ops>;
    using parts = pmr_vector<const node*>;
    static std::optional<value> into_neighbors(emit<made> e, const args<device::elementwise>& a) {
        const node& n = e.current();
        parts taken = operands_of(a.inputs, e);
        const node* const before = host_of(a.inputs, taken, e);
        if (before != nullptr && !(widens(n, *before) && is_taken_by_reader(n))) {
            taken.push_back(before);
            return fused(taken, *before->op, e);
        }
        return taken.empty() ? std::nullopt : fused(taken, info_of<device::elementwise>, e);
    }
    static std::optional<value> absorbing(emit<made> e, const args<device::reduction>& a) {
        for (const value v : a.inputs) {
            const node& n = *v.producer;
            if (is<device::elementwise>(n) && is_read_alone(n) && count_tensors(parts_of(n)) == 1)
                return fused({&n}, info_of<device::reduction>, e);
        }
        return std::nullopt;
    }

    // True if the layer's result has exactly one reader.
    static bool is_read_alone(const node& n) {
        return n.first_use != nullptr && n.first_use->next_use == nullptr;
    }
    static bool has_shape(const node& n, sizes shape) {
        return std::ranges::equal(n.results[0].meta->shape, shape);
    }
    static unsigned bits_of(const node& n) { return traits_of(n.results[0].meta->dtype).bits; }

    static bool widens(const node& n, const node& before) { return bits_of(n) > bits_of(before); }
    static bool is_taken_by_reader(const node& n) {
        if (!is_read_alone(n)) return false;
        const node& reader = *n.first_use->target;
        if (is<device::reduction>(reader)) return count_tensors(parts_of(n)) == 1;
        return is<device::elementwise>(reader) && has_shape(reader, n.results[0].meta->shape);
    }

    // Returns the elementwise layers that only this layer reads, index by index. Any of them except the last
    // is taken only if its inputs, which then stay in memory until now, need no more than its result.
    static parts operands_of(list<value> inputs, const emitter& e) {
        parts found;
        for (const value v : inputs) {
            const node& n = *v.producer;
            const bool is_one = is<device::elementwise>(n) && is_read_alone(n) &&
                has_shape(n, e.result_meta().shape) &&
                std::find(found.begin(), found.end(), &n) == found.end();
            if (is_one) found.push_back(&n);
        }
        const auto is_earlier = [](const node* a, const node* b) { return a->position < b->position; };
        const auto last = std::max_element(found.begin(), found.end(), is_earlier);
        const node* const newest = last == found.end() ? nullptr : *last;
        const auto is_left = [&](const node* n) { return n != newest && !keeps_memory(*n); };
        found.erase(std::remove_if(found.begin(), found.end(), is_left), found.end());
        return found;
    }
    static bool keeps_memory(const node& n) {
        const layer_parts layer = parts_of(n);
        return count_tensors(layer) <= 1 && std::ranges::all_of(layer.inputs, [&](value v) {
            return meta_of(v)->elements() == 1 || traits_of(meta_of(v)->dtype).bits <= bits_of(n);
        });
    }

    // Returns a layer of another kind that only this layer or its operands read, and whose result has the
    // same shape; or null. It will be computed here, so its inputs stay in memory until now: takes the layer
    // with the smallest inputs, and the last one among equals.
    static const node* host_of(list<value> inputs, const parts& operands, const emitter& e) {
        const node* best = nullptr;
        const auto look = [&](const node& reader, list<value> values) {
            for (const value v : values) {
                const node& n = *v.producer;
                const bool is_layer = n.op->dialect == &info_of_dialect<device::dialect> &&
                    !is<device::elementwise>(n) && is_read_alone(n);
                if (!is_layer || !has_shape(n, e.result_meta().shape)) continue;
                const bool reads_one = is<device::reduction>(n) || is<device::pooling>(n);
                if (reads_one && !is_chain(reader, n, e.current(), operands)) continue;
                const auto order = [](const node& m) { return std::pair(-input_bits(m), m.position); };
                if (best == nullptr || order(*best) < order(n)) best = &n;
            }
        };
        look(e.current(), inputs);
        for (const node* n : operands) look(*n, parts_of(*n).inputs);
        return best;
    }
    static std::int64_t input_bits(const node& n) {
        std::int64_t bits = 0;
        for (const value v : parts_of(n).inputs)
            if (match<builtin::constant>(v) == nullptr)
                bits += meta_of(v)->elements() * static_cast<std::int64_t>(traits_of(meta_of(v)->dtype).bits);
        return bits;
    }
    // True if no layer from `before` to `end` reads another tensor.
    static bool is_chain(const node& reader, const node& before, const node& end, const parts& operands) {
        if (count_tensors(parts_of(reader), &before) != 0) return false;
        if (&reader == &end) return true;
        return operands.size() == 1 && count_tensors(parts_of(end), &reader) == 0;
    }

    // Fuses this layer and `taken` into one layer of kind `op`.
    static std::optional<value> fused(const parts& taken, const op_info& op, emit<made> e) {
        layer_builder layer(e.owner());
        const auto append = [&](auto&& self, const node& n) -> value {
            pmr_vector<value> operands;
            const layer_parts parts = parts_of(n);
            for (const value v : parts.inputs) {
                const bool is_taken = std::find(taken.begin(), taken.end(), v.producer) != taken.end();
                operands.push_back(is_taken ? self(self, *v.producer) : layer.input(v));
            }
            return layer.append(*parts.body, operands);
        };
        layer.end(append(append, e.current()));
        const args<device::elementwise> all{.inputs = layer.inputs(), .body = &layer.body()};
        std::optional<value> whole;
        const auto make = [&]<class... Ops>(ops<Ops...>) {
            ((op.index == info_of<Ops>.index ? void(whole = e.make<Ops>({all.inputs, all.body})) : void()),
                ...);
        };
        make(device::dialect::all_ops{});
        return whole;
    }
};

}  // namespace headrace

#endif
