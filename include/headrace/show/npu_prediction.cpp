// SPDX-License-Identifier: MIT
// Defines the functions of headrace/show/npu_prediction.hpp.

#include <headrace/show/npu_prediction.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <headrace/base/ceil_div.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/target/npu_cycles.hpp>
#include <headrace/target/npu_layer.hpp>

namespace headrace {

namespace {

constexpr auto activations = ops_in<tosa::rescale, tosa::clamp, tosa::table>;
constexpr auto views = ops_in<tosa::reshape, tosa::slice, tosa::concat, tosa::identity>;

const tensor_meta* meta_of_result(const node& n) { return n.result_count == 0 ? nullptr : n.results[0].meta; }

value result_of(const node& n) { return {const_cast<node*>(&n), 0}; }

// True if the value is an argument of the program, or computed from constants alone.
bool is_constant(value v) {
    const node& n = *v.producer;
    if (is<builtin::constant>(n) || is<tosa::const_>(n) || is<tosa::const_shape>(n)) return true;
    return (is<tosa::reshape>(n) || is<tosa::transpose>(n)) && is_constant(n.operand(0));
}

/// An operator that an NPU computes: the TOSA operator, those fused before it, and those fused after it.
struct fused_operator {
    const node* head = nullptr;
    std::vector<const node*> before{};  ///< RESCALEs that widen operands
    std::vector<const node*> after{};   ///< RESCALE, CLAMP, TABLE, TRANSPOSE, and elementwise operators

    [[nodiscard]] const node& last() const { return after.empty() ? *head : *after.back(); }
};

/// Groups the operators of a graph as Vela does.
class fusion {
public:
    fusion(const graph& g, const npu& target) : target_(target) {
        for (const node& n : g.nodes()) {
            if (!taken_.contains(&n)) add(n);
        }
    }
    [[nodiscard]] const std::vector<fused_operator>& operators() const { return operators_; }

private:
    [[nodiscard]] static bool is_free(const node& n) {
        return n.result_count == 0 || is_constant(result_of(n)) || is<builtin::placeholder>(n) ||
            is<builtin::output>(n) || views.contains(*n.op) || n.first_use == nullptr;
    }
    static const node* sole_user(const node& n) {
        return n.result_count == 1 && has_one_use(result_of(n)) ? n.first_use->target : nullptr;
    }
    // True for a RESCALE that only widens the operand of an operator that computes with integers of any size.
    [[nodiscard]] bool widens(const node& n) const {
        if (!is<tosa::rescale>(n)) return false;
        const tensor_meta* before = meta_of(n.operand(0));
        const tensor_meta* after = meta_of_result(n);
        const node* user = sole_user(n);
        const bool grows = before != nullptr && after != nullptr && traits_of(before->dtype).bits < 32 &&
            traits_of(after->dtype).bits == 32;
        return grows && user != nullptr &&
            ((user->op->has(trait::elementwise) && !activations.contains(*user->op)) || is<tosa::reduce_sum>(*user));
    }

    void add(const node& n) {
        if (is_free(n) || widens(n)) return;
        fused_operator all{.head = &n};
        for (std::uint32_t i = 0; i != n.operand_count; ++i) {
            const node& operand = *n.operand(i).producer;
            if (widens(operand)) all.before.push_back(&operand);
        }
        const node* last = &n;
        while (const node* user = sole_user(*last)) {
            const bool fuses = activations.contains(*user->op) && user->operand(0).producer == last && !widens(*user);
            const bool moves = target_.fuses_moves && is<tosa::transpose>(*user);
            if (!fuses && !moves) break;
            all.after.push_back(user);
            taken_.insert(user);
            last = user;
        }
        operators_.push_back(std::move(all));
    }

    const npu& target_;
    std::vector<fused_operator> operators_{};
    std::unordered_set<const node*> taken_{};
};

/// Turns operators into layers.
class layer_builder {
public:
    explicit layer_builder(const npu& target) : target_(target) {}

    [[nodiscard]] double cycles(const fused_operator& all) const {
        const node& n = *all.head;
        const tensor_meta* out = meta_of_result(n);
        if (out == nullptr || out->elements() <= 0) return 0;
        if (const auto* a = args_if<tosa::conv2d>(n)) return windows(all, *a, npu_unit::convolution);
        if (const auto* a = args_if<tosa::depthwise_conv2d>(n)) return windows(all, *a, npu_unit::depthwise);
        if (const auto* a = args_if<tosa::transpose_conv2d>(n)) return upsampling(all, *a);
        if (const auto* a = args_if<tosa::avg_pool2d>(n)) return pooled(all, a->input, a->kernel, a->stride, false);
        if (const auto* a = args_if<tosa::max_pool2d>(n)) return pooled(all, a->input, a->kernel, a->stride, true);
        if (const auto* a = args_if<tosa::matmul>(n)) return product(all, *a);
        if (const auto* a = args_if<tosa::reduce_sum>(n)) return sum(all, *a);
        if (is<tosa::transpose>(n)) return moved(all);
        if (n.op->has(trait::elementwise) && !activations.contains(*n.op)) return elementwise(all);
        return copied(all);
    }

private:
    [[nodiscard]] npu_image image_of(value v) const {
        const tensor_meta* meta = meta_of(v);
        npu_image image{};
        if (meta == nullptr) return image;
        const auto rank = meta->rank();
        const auto size = [&](std::size_t from_last) {
            return from_last < rank ? meta->shape[rank - 1 - from_last] : 1;
        };
        image.size = {size(2), size(1), size(0)};
        for (std::size_t i = 3; i < rank; ++i) image.size.height *= size(i);
        image.bytes = std::max<std::int64_t>(1, traits_of(meta->dtype).bits / 8);
        return image;
    }

    // Returns the rate at which results leave, after what is fused.
    [[nodiscard]] double rate(const fused_operator& all, double own) const {
        for (const node* n : all.after) {
            if (is<tosa::table>(*n)) own = std::max(own, target_.output.table);
            if (is<tosa::clamp>(*n)) own = std::max(own, target_.output.clamp);
            if (is<tosa::transpose>(*n)) own = std::max(own, target_.output.moved);
        }
        return own;
    }

    [[nodiscard]] npu_layer layer_of(const fused_operator& all, npu_unit unit, value input) const {
        npu_layer layer{.unit = unit, .input = image_of(input), .result = image_of(result_of(*all.head))};
        const node* narrow = nullptr;
        for (const node* n : all.after) {
            if (is<tosa::rescale>(*n)) narrow = n;
        }
        if (narrow != nullptr) layer.result.bytes = image_of(result_of(*narrow)).bytes;
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
        layer.kernel = {weight->shape[is_dense ? 1 : 0], weight->shape[is_dense ? 2 : 1], 1};
        layer.stride = {a.stride[0], a.stride[1], 1};
        layer.dilation = {a.dilation[0], a.dilation[1], 1};
        constexpr double bytes_per_channel = 10;
        layer.weights = static_cast<double>(weight->elements()) * compression +
            bytes_per_channel * static_cast<double>(layer.result.size.depth);
        return npu_cycles(layer, target_);
    }

    [[nodiscard]] double upsampling(const fused_operator& all, const args<tosa::transpose_conv2d>& a) const {
        npu_layer layer = layer_of(all, npu_unit::convolution, a.input);
        const tensor_meta* weight = meta_of(a.weight);
        if (weight == nullptr || weight->rank() != 4) return 0;
        layer.kernel = {weight->shape[1], weight->shape[2], 1};
        layer.weights = static_cast<double>(weight->elements()) * compression;
        return npu_cycles(layer, target_);
    }

    [[nodiscard]] double pooled(const fused_operator& all, value input, const int_list& kernel,
        const int_list& stride, bool is_maximum) const {
        npu_layer layer = layer_of(all, npu_unit::pooling, input);
        layer.kernel = {kernel[0], kernel[1], 1};
        layer.stride = {stride[0], stride[1], 1};
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
        npu_layer each{.unit = npu_unit::elementwise, .input = left, .result = products,
            .cycles_out = target_.output.wide};
        each.second = left;
        each.second.size.width = 1;
        each.has_second = true;
        npu_layer summed = layer;
        summed.input = products;
        summed.result.size = {left.size.height, left.size.width, 1};
        summed.sums_channels = true;
        return columns * (npu_cycles(each, target_) + npu_cycles(summed, target_));
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
        if (axis + 1 != meta->rank()) moving = moves(layer.input);
        layer.input.size = {1, others, summed};
        layer.result.size = {1, others, 1};
        layer.sums_channels = true;
        return moving + npu_cycles(layer, target_);
    }

    [[nodiscard]] double moves(const npu_image& image) const {
        if (target_.fuses_moves) {
            npu_layer layer{.unit = npu_unit::pooling, .input = image, .result = image, .cycles_out = target_.output.moved};
            return npu_cycles(layer, target_);
        }
        const double bytes = detail::volume(image.size) * static_cast<double>(image.bytes);
        return 4 * bytes / target_.on_chip.bandwidth;
    }
    [[nodiscard]] double moved(const fused_operator& all) const { return moves(image_of(all.head->operand(0))); }

    [[nodiscard]] double elementwise(const fused_operator& all) const {
        const node& n = *all.head;
        npu_layer layer = layer_of(all, npu_unit::elementwise, n.operand(0));
        std::int64_t bytes = 1;
        for (std::uint32_t i = 0; i != n.operand_count; ++i) {
            value operand = n.operand(i);
            for (const node* widened : all.before) {
                if (operand.producer == widened) operand = widened->operand(0);
            }
            const npu_image image = image_of(operand);
            if (i > 1 || (i == 1 && is<tosa::mul>(n) && n.operand_count == 3 && false)) break;
            (i == 0 ? layer.input : layer.second) = image;
            if (i == 1) layer.has_second = true;
            if (detail::volume(image.size) > 1) bytes = std::max(bytes, image.bytes);
            if (is_constant(operand) && detail::volume(image.size) > 1) {
                layer.second.on_chip = false;
                layer.second.size = layer.result.size;
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

    [[nodiscard]] double copied(const fused_operator& all) const {
        npu_layer layer = layer_of(all, npu_unit::pooling, all.head->operand(0));
        if (is<tosa::table>(*all.head)) layer.cycles_out = std::max(layer.cycles_out, target_.output.table);
        return npu_cycles(layer, target_);
    }

    // Weights are compressed; learnt ones hardly.
    static constexpr double compression = 0.95;

    const npu& target_;
};

}  // namespace

std::vector<predicted_operator> predict_cycles(const graph& g, const npu& target) {
    const fusion fused(g, target);
    const layer_builder layers(target);
    std::vector<predicted_operator> all;
    for (const fused_operator& o : fused.operators()) {
        all.push_back({std::string(o.head->op->name), std::string(o.last().name()), layers.cycles(o)});
    }
    return all;
}

}  // namespace headrace
