// SPDX-License-Identifier: MIT
// Defines the functions of headrace/show/npu_prediction.hpp.

#include <headrace/show/npu_prediction.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/show/npu_fusion.hpp>
#include <headrace/show/npu_placement.hpp>
#include <headrace/target/npu_cycles.hpp>
#include <headrace/target/npu_layer.hpp>

namespace headrace {

namespace {

using namespace detail;

/// Turns operators into layers.
class layer_builder {
public:
    layer_builder(const npu& target, const npu_placement& places) : target_(target), places_(places) {}

    [[nodiscard]] double cycles(const fused_operator& all) const {
        const node& n = *all.head;
        const tensor_meta* out = meta_of_result(n);
        if (out == nullptr || out->elements() <= 0) return 0;
        if (all.copied != nullptr) return copy(image_of(result_of(*all.copied)));
        if (const auto* a = args_if<tosa::conv2d>(n)) return windows(all, *a, npu_unit::convolution);
        if (const auto* a = args_if<tosa::depthwise_conv2d>(n)) return windows(all, *a, npu_unit::depthwise);
        if (const auto* a = args_if<tosa::transpose_conv2d>(n)) return transposed_windows(all, *a);
        if (const auto* a = args_if<tosa::avg_pool2d>(n))
            return pooled(all, a->input, a->kernel, a->stride, false);
        if (const auto* a = args_if<tosa::max_pool2d>(n))
            return pooled(all, a->input, a->kernel, a->stride, true);
        if (const auto* a = args_if<tosa::matmul>(n)) return product(all, *a);
        if (const auto* a = args_if<tosa::reduce_sum>(n)) return sum(all, *a);
        if (is<tosa::transpose>(n)) return moved(all);
        if (is<tosa::reduce_max>(n) || is<tosa::reduce_min>(n)) return extremum(n);
        if (is_computed_elementwise(n)) return elementwise(all);
        return copied(all);
    }

private:
    // No NPU has longer axes, whose products would overflow.
    static constexpr std::int64_t largest = 1 << 20;
    static npu_extent extent_of(std::int64_t height, std::int64_t width) {
        return {std::clamp<std::int64_t>(height, 1, largest), std::clamp<std::int64_t>(width, 1, largest), 1};
    }

    [[nodiscard]] npu_image image_of(value v) const {
        const tensor_meta* meta = meta_of(v);
        npu_image image{};
        if (meta == nullptr) return image;
        const auto rank = meta->rank();
        const auto size = [&](std::size_t from_last) {
            return from_last < rank ? std::min(meta->shape[rank - 1 - from_last], largest) : 1;
        };
        image.size = {size(2), size(1), size(0)};
        for (std::size_t i = 3; i < rank; ++i)
            image.size.height = std::min(image.size.height * size(i), largest);
        image.bytes = std::max<std::int64_t>(1, traits_of(meta->dtype).bits / 8);
        places_.apply(image, v);
        return image;
    }

    // Returns the cycles per element of the result, after what is fused: operators that follow each other add up,
    // and what is applied to the result of one costs as much as the slowest.
    [[nodiscard]] double rate(const fused_operator& all, double own) const {
        double before = 0;
        const npu_output& out = target_.output;
        for (const node* n : all.after) {
            if (is<tosa::table>(*n)) own = std::max(own, out.table);
            if (is<tosa::clamp>(*n)) own = std::max(own, out.clamp);
            if (is<tosa::transpose>(*n)) own = std::max(own, out.moved);
            if (is_computed_elementwise(*n)) {
                before += own;
                own = image_of(result_of(*n)).bytes == 4 ? out.binary : out.sum;
            }
        }
        return before + own;
    }

    [[nodiscard]] npu_layer layer_of(const fused_operator& all, npu_unit unit, value input) const {
        npu_layer layer{.unit = unit, .input = image_of(input), .result = image_of(result_of(*all.head))};
        const npu_image last = image_of(result_of(all.last()));
        layer.result.bytes = last.bytes;
        layer.result.on_chip = last.on_chip;
        layer.result.in_groups = last.in_groups;
        layer.cycles_out = rate(all, layer.input.bytes == 1 ? target_.output.narrow : target_.output.wide);
        if (layer.result.bytes == 4) layer.cycles_out = std::max(layer.cycles_out, target_.output.unary);
        return layer;
    }

    template <class Args>
    [[nodiscard]] double windows(const fused_operator& all, const Args& a, npu_unit unit) const {
        npu_layer layer = layer_of(all, unit, a.input);
        const tensor_meta* weight = meta_of(a.weight);
        if (weight == nullptr || weight->rank() != 4) return 0;
        const bool is_dense = unit == npu_unit::convolution;
        layer.kernel = extent_of(weight->shape[is_dense ? 1 : 0], weight->shape[is_dense ? 2 : 1]);
        layer.stride = extent_of(a.stride[0], a.stride[1]);
        layer.dilation = extent_of(a.dilation[0], a.dilation[1]);
        constexpr double bytes_per_channel = 10;
        layer.weights = static_cast<double>(weight->elements()) * compression +
            bytes_per_channel * static_cast<double>(layer.result.size.depth);
        return npu_cycles(layer, target_) + writing_planes(all, layer);
    }

    [[nodiscard]] double transposed_windows(
        const fused_operator& all, const args<tosa::transpose_conv2d>& a) const {
        npu_layer layer = layer_of(all, npu_unit::convolution, a.input);
        const tensor_meta* weight = meta_of(a.weight);
        if (weight == nullptr || weight->rank() != 4) return 0;
        layer.kernel = extent_of(weight->shape[1], weight->shape[2]);
        layer.weights = static_cast<double>(weight->elements()) * compression;
        return npu_cycles(layer, target_);
    }

    [[nodiscard]] double pooled(const fused_operator& all, value input, const int_list& kernel,
        const int_list& stride, bool is_maximum) const {
        npu_layer layer = layer_of(all, npu_unit::pooling, input);
        layer.kernel = extent_of(kernel[0], kernel[1]);
        layer.stride = extent_of(stride[0], stride[1]);
        if (is_maximum) layer.cycles_out = rate(all, target_.output.maximum);
        return npu_cycles(layer, target_);
    }

    [[nodiscard]] double product(const fused_operator& all, const args<tosa::matmul>& a) const {
        npu_image left = image_of(a.a), right = image_of(a.b);
        const auto batches = static_cast<double>(left.size.height);
        npu_layer layer = layer_of(all, npu_unit::convolution, a.a);
        layer.input.size = {1, left.size.width, left.size.depth};
        layer.result.size = {1, left.size.width, right.size.depth};
        if (target_.multiplies_matrices) {
            layer.second = right;
            layer.second.size.height = 1;
            layer.has_second = true;
            return batches * npu_cycles(layer, target_);
        }
        const double columns = static_cast<double>(right.size.depth);
        const npu_image products{.size = left.size, .bytes = 4, .in_groups = false};
        npu_layer each{.unit = npu_unit::elementwise,
            .input = left,
            .result = products,
            .cycles_out = target_.output.wide};
        each.second = left;
        each.second.size.width = 1;
        each.has_second = true;
        npu_layer summed = layer;
        summed.input = products;
        summed.result.size = {left.size.height, left.size.width, 1};
        summed.sums_channels = true;
        return columns *
            (detail::elementwise_cycles(each) +
                detail::computing_cycles(summed, block_of(summed, target_), target_));
    }

    [[nodiscard]] double sum(const fused_operator& all, const args<tosa::reduce_sum>& a) const {
        value input = a.input;
        if (!all.before.empty()) input = all.before.front()->operand(0);
        npu_layer layer = layer_of(all, npu_unit::convolution, input);
        const tensor_meta* meta = meta_of(a.input);
        if (meta == nullptr) return 0;
        // The axis that is summed becomes the last one.
        const auto axis = static_cast<std::size_t>(a.axis);
        const std::int64_t summed = meta->shape[axis];
        const std::int64_t others = summed == 0 ? 0 : meta->elements() / summed;
        double moving = 0;
        if (axis + 1 != meta->rank()) moving = moves(layer.input) + moves(layer.result);
        layer.input.size = {1, others, summed};
        layer.result.size = {1, others, 1};
        layer.sums_channels = true;
        return moving + npu_cycles(layer, target_);
    }

    [[nodiscard]] double extremum(const node& n) const {
        constexpr double cycles_per_element = 5;
        return cycles_per_element * detail::volume(image_of(n.operand(0)).size);
    }

    // Returns the cycles by which a convolution takes longer that writes its result channel by channel.
    [[nodiscard]] double writing_planes(const fused_operator& all, const npu_layer& layer) const {
        constexpr double cycles = 0.055;
        const bool splits = std::any_of(all.after.begin(), all.after.end(), [](const node* n) {
            const auto* moved = args_if<tosa::transpose>(*n);
            return moved != nullptr &&
                moved->perms.back() + 1 != static_cast<std::int64_t>(moved->perms.size());
        });
        const auto planes = static_cast<double>(layer.result.size.depth);
        return splits ? cycles * planes * planes * planes : 0;
    }

    [[nodiscard]] double moves(const npu_image& image) const {
        if (target_.fuses_moves) {
            npu_layer layer{.unit = npu_unit::pooling,
                .input = image,
                .result = image,
                .cycles_out = target_.output.moved};
            return npu_cycles(layer, target_);
        }
        // Rows of channels are read and written, each in transfers of its own.
        const double bytes_per_element = image.size.depth >= 16 ? 3 : 12;
        return bytes_per_element * detail::volume(image.size) * static_cast<double>(image.bytes) /
            target_.on_chip.bandwidth;
    }
    [[nodiscard]] double moved(const fused_operator& all) const {
        const double once = moves(image_of(all.head->operand(0)));
        return target_.fuses_moves ? once : once * exchanges(args_of<tosa::transpose>(*all.head));
    }
    // Returns how often two axes are exchanged, one pair after the other, as Vela does for Ethos-U55: once less
    // than each cycle of the permutation has axes.
    static double exchanges(const args<tosa::transpose>& a) {
        const tensor_meta* meta = meta_of(a.input1);
        if (meta == nullptr) return 1;
        const auto is_moved = [&](std::int64_t axis) {
            return meta->shape[static_cast<std::size_t>(axis)] != 1;
        };
        pmr_vector<std::int64_t> order;
        std::ranges::copy_if(a.perms, std::back_inserter(order), is_moved);
        pmr_vector<std::int64_t> sorted = order;
        std::ranges::sort(sorted);
        int count = 0;
        for (std::size_t i = 0; i != order.size(); ++i) {
            while (order[i] != sorted[i]) {
                const auto home = std::ranges::lower_bound(sorted, order[i]) - sorted.begin();
                std::swap(order[i], order[static_cast<std::size_t>(home)]);
                ++count;
            }
        }
        return std::max(count, 1);
    }

    [[nodiscard]] double elementwise(const fused_operator& all) const {
        const node& n = *all.head;
        npu_layer layer = layer_of(all, npu_unit::elementwise, n.operand(0));
        std::int64_t bytes = 1;
        for (std::uint32_t i = 0; i != n.operand_count; ++i) {
            value operand = n.operand(i);
            npu_image image = image_of(operand);
            for (const node* widened : all.before) {
                if (&source_of(operand) == widened) image.bytes = image_of(widened->operand(0)).bytes;
            }
            if (i > 1) break;
            (i == 0 ? layer.input : layer.second) = image;
            if (i == 1) layer.has_second = true;
            if (detail::volume(image.size) > 1) bytes = std::max(bytes, image.bytes);
            if (is_constant(operand) && detail::volume(image.size) > 1) {
                layer.second.on_chip = layer.second.in_groups = false;
                if (!target_.chains) layer.second.size = layer.result.size;
                layer.second.size.depth = detail::round_up(layer.result.size.depth, 16);
            }
        }
        const npu_output& out = target_.output;
        double own = out.narrow;
        if (bytes == 4) {
            own = n.operand_count > 1 ? out.binary : out.unary;
        } else if (is<tosa::mul>(n)) {
            own = out.wide;
        } else if (is<tosa::add>(n) || is<tosa::sub>(n)) {
            own = out.sum;
        }
        layer.cycles_out = rate(all, own);
        return npu_cycles(layer, target_);
    }

    // A TABLE or CLAMP of its own is a pooling of single elements; a RESCALE is an elementwise operator on
    // NPUs without chains.
    [[nodiscard]] double copied(const fused_operator& all) const {
        const node& n = *all.head;
        if (is<tosa::rescale>(n) && !target_.chains) {
            npu_layer layer = layer_of(all, npu_unit::elementwise, n.operand(0));
            layer.cycles_out = rate(all, target_.output.binary);
            return npu_cycles(layer, target_);
        }
        npu_layer layer = layer_of(all, npu_unit::pooling, n.operand(0));
        const bool is_wide = image_of(result_of(n)).bytes == 4;
        layer.cycles_out = rate(all, is_wide ? target_.output.binary : target_.output.narrow);
        if (is<tosa::table>(n)) layer.cycles_out = std::max(layer.cycles_out, target_.output.table);
        return npu_cycles(layer, target_);
    }
    [[nodiscard]] double copy(const npu_image& image) const {
        const npu_layer layer{
            .unit = npu_unit::pooling, .input = image, .result = image, .cycles_out = target_.output.narrow};
        return npu_cycles(layer, target_);
    }

    // Weights are compressed; learnt ones hardly.
    static constexpr double compression = 0.95;

    const npu& target_;
    const npu_placement& places_;
};

}  // namespace

std::vector<predicted_operator> predict_cycles(const graph& g, const npu& target) {
    const npu_fusion fused(g, target);
    const npu_placement places(g, fused.operators(), target);
    const layer_builder layers(target, places);
    std::vector<predicted_operator> all;
    for (const fused_operator& o : fused.operators()) {
        all.push_back({std::string(o.head->op->name), std::string(o.last().name()), layers.cycles(o)});
    }
    return all;
}

}  // namespace headrace
