// SPDX-License-Identifier: MIT
// Defines the functions of headrace/prove/error_bound.hpp.

#include <headrace/prove/error_bound.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>

#include <headrace/base/printable.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/eval/evaluator.hpp>
#include <headrace/infer/ranges/held_interval.hpp>
#include <headrace/ir/source_location.hpp>

namespace headrace::prove {

namespace {

namespace qd = quantized_decomposed;

constexpr double infinite = std::numeric_limits<double>::infinity();

/// A tensor: the numbers without rounding, and how far rounding moves them.
struct rounded {
    interval range{};
    double error = infinite;
};

double largest(const interval& i) { return static_cast<double>(std::max(wide::abs(i.low), wide::abs(i.high))); }
double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

// True for functions whose results are no farther apart than their operands.
template <op_tag... Ops>
bool is_any_of(const op_info& op) {
    return ((&op == &info_of<Ops>) || ...);
}
bool contracts(const op_info& op) {
    return is_any_of<aten::relu, aten::relu6, aten::hardtanh, aten::clamp, aten::neg, aten::amax, aten::amin,
        aten::mean_dim, aten::avg_pool2d, aten::adaptive_avg_pool2d, aten::max_pool2d,
        aten::upsample_bilinear2d>(op);
}

/// A function and its Lipschitz constant, rounded up, and its range.
struct smooth_function {
    const op_info* op;
    double slope;
    interval range;
};
constexpr interval everything{};
const smooth_function smooth_functions[] = {{&info_of<aten::sigmoid>, 0.25, {0, 1}},
    {&info_of<aten::tanh>, 1, {-1, 1}}, {&info_of<aten::hardsigmoid>, 1.0 / 6, {0, 1}},
    {&info_of<aten::gelu>, 1.13, everything}, {&info_of<aten::silu>, 1.1, everything},
    {&info_of<aten::hardswish>, 1.5, everything}};

class error_analysis {
public:
    [[nodiscard]] error_bounds run(const graph& g) {
        error_bounds bounds;
        for (const node& n : g.nodes()) {
            if (n.result_count == 0) continue;
            const rounded r = known_[&n] = bound_of(n);
            if (const auto* a = args_if<qd::quantize_per_tensor>(n))
                bounds.layers.push_back({&n, r.error, a->scale});
        }
        for (const value v : g.outputs()) bounds.outputs.push_back({v.producer, of(v).error, 0});
        return bounds;
    }

private:
    [[nodiscard]] const rounded& of(value v) const { return known_.at(v.producer); }
    [[nodiscard]] std::optional<eval::tensor> constant(value v) const {
        const node& n = *v.producer;
        if (is<builtin::constant>(n)) return first(evaluate_node(n, {}));
        const bool dequantizes = is<qd::dequantize_per_tensor>(n) || is<qd::dequantize_per_channel>(n);
        if (!dequantizes) return std::nullopt;
        std::vector<eval::tensor> operands;
        for (const edge& e : n.operand_edges()) {
            if (!is<builtin::constant>(*e.source)) return std::nullopt;
            auto known = first(evaluate_node(*e.source, {}));
            if (!known) return std::nullopt;
            operands.push_back(*std::move(known));
        }
        return first(evaluate_node(n, operands));
    }
    static std::optional<eval::tensor> first(result<std::vector<eval::tensor>> done) {
        if (!done || done.value().empty()) return std::nullopt;
        return std::move(done).value()[0];
    }

    [[nodiscard]] rounded bound_of(const node& n) const {
        if (is<builtin::placeholder>(n)) return {{}, 0};
        if (is<builtin::constant>(n)) {
            const auto& data = args_of<builtin::constant>(n).data;
            const tensor_meta* const meta = n.results[0].meta;
            return {meta == nullptr ? interval() : headrace::detail::interval_of_constant(data, *meta), 0};
        }
        if (const auto* a = args_if<qd::quantize_per_tensor>(n)) {
            const auto end = [&](std::int64_t q) {
                return static_cast<bound>(a->scale) *
                    (static_cast<bound>(q) - static_cast<bound>(a->zero_point));
            };
            const interval held{end(a->quant_min), end(a->quant_max)};
            const auto width = static_cast<double>(held.high - held.low);
            return {held, std::min(of(a->input).error + a->scale / 2, width)};
        }
        if (is<qd::dequantize_per_tensor>(n) || is<qd::dequantize_per_channel>(n)) return dequantized(n);
        if (const auto* a = args_if<aten::conv2d>(n)) return weighted(a->input, a->weight, a->bias);
        if (const auto* a = args_if<aten::conv1d>(n)) return weighted(a->input, a->weight, a->bias);
        if (const auto* a = args_if<aten::linear>(n)) return weighted(a->input, a->weight, a->bias);
        if (const auto* a = args_if<aten::add_tensor>(n)) return sum(a->self, a->other, a->alpha.to_double());
        if (const auto* a = args_if<aten::sub_tensor>(n))
            return sum(a->self, a->other, -a->alpha.to_double());
        if (const auto* a = args_if<aten::mul_tensor>(n)) return product(of(a->self), of(a->other), 1);
        if (const auto* a = args_if<aten::bmm>(n)) return matrix_product(a->self, a->mat2);
        if (const auto* a = args_if<aten::matmul>(n)) return matrix_product(a->self, a->other);
        if (const auto* a = args_if<aten::exp>(n)) return exponential(of(a->self));
        if (const auto* a = args_if<aten::sum_dim_intlist>(n)) return summed(n, a->self);
        if (const auto* a = args_if<aten::reciprocal>(n)) return reciprocal(of(a->self));
        return by_traits(n);
    }
    // Integers that are constants are weights, whose dequantized numbers are the reference.
    [[nodiscard]] rounded dequantized(const node& n) const {
        if (!is<builtin::constant>(*n.operand(0).producer)) return of(n.operand(0));
        const auto known = constant(value{const_cast<node*>(&n), 0});
        if (!known || known->size() == 0) return {{}, 0};
        const std::vector<double> numbers = known->to<double>();
        const auto [low, high] = std::ranges::minmax(numbers);
        return {{static_cast<bound>(low), static_cast<bound>(high)}, 0};
    }
    // Weights [O, …]: each row's L1 norm times the largest input.
    [[nodiscard]] rounded weighted(value input, value weight, const std::optional<value>& bias) const {
        const auto known = constant(weight);
        if (!known || known->rank() == 0 || known->dim(0) == 0) return {};
        const std::vector<double> weights = known->to<double>();
        const std::size_t row = weights.size() / static_cast<std::size_t>(known->dim(0));
        double norm = 0;
        for (std::size_t first_of_row = 0; first_of_row < weights.size(); first_of_row += row) {
            double sum_of_row = 0;
            for (std::size_t i = 0; i != row; ++i) sum_of_row += std::abs(weights[first_of_row + i]);
            norm = std::max(norm, sum_of_row);
        }
        const auto reach = static_cast<bound>(times(norm, largest(of(input).range)));
        const interval offset = bias ? of(*bias).range : interval{0, 0};
        return {interval{-reach, reach} + offset, times(norm, of(input).error)};
    }
    [[nodiscard]] rounded sum(value a, value b, double alpha) const {
        return {of(a).range + of(b).range * headrace::number(static_cast<bound>(alpha)),
            of(a).error + times(std::abs(alpha), of(b).error)};
    }
    [[nodiscard]] static rounded product(const rounded& a, const rounded& b, double count) {
        const double error =
            times(largest(a.range), b.error) + times(largest(b.range), a.error) + times(a.error, b.error);
        return {a.range * b.range * headrace::number(static_cast<bound>(count)), times(count, error)};
    }
    [[nodiscard]] rounded matrix_product(value a, value b) const {
        const tensor_meta* const meta = meta_of(a);
        if (meta == nullptr || meta->rank() == 0) return {};
        return product(of(a), of(b), static_cast<double>(meta->shape.back()));
    }
    [[nodiscard]] static rounded exponential(const rounded& x) {
        const auto e = [](bound b) { return wide::exp(b); };
        return {map_bounds(x.range, e), times(static_cast<double>(e(x.range.high)), std::expm1(x.error))};
    }
    [[nodiscard]] static rounded reciprocal(const rounded& x) {
        const auto low = static_cast<double>(x.range.low);
        if (low <= 0 || low - x.error <= 0) return {};
        return {{1 / x.range.high, 1 / x.range.low}, x.error / ((low - x.error) * low)};
    }
    [[nodiscard]] rounded summed(const node& n, value v) const {
        const tensor_meta* const in = meta_of(v);
        const tensor_meta* const out = n.results[0].meta;
        if (in == nullptr || out == nullptr || out->elements() == 0) return {};
        const std::int64_t count = in->elements() / out->elements();
        return {sum_of(of(v).range, count), times(static_cast<double>(count), of(v).error)};
    }
    // The numbers that a limit replaces.
    [[nodiscard]] static interval limited(const node& n, interval range) {
        const auto limit = [&](const std::optional<scalar>& low, const std::optional<scalar>& high) {
            if (low) range = maximum(range, headrace::number(static_cast<bound>(low->to_double())));
            if (high) range = minimum(range, headrace::number(static_cast<bound>(high->to_double())));
        };
        if (is<aten::relu>(n)) limit(scalar(0), std::nullopt);
        if (is<aten::relu6>(n)) limit(scalar(0), scalar(6));
        if (const auto* a = args_if<aten::hardtanh>(n)) limit(a->min_val, a->max_val);
        if (const auto* a = args_if<aten::clamp>(n)) limit(a->min, a->max);
        return range;
    }
    [[nodiscard]] rounded by_traits(const node& n) const {
        using enum trait;
        if (n.operand_count == 0 || !is_of_dialect<aten::dialect>(n)) return {};
        const rounded& x = of(n.operand(0));
        for (const smooth_function& f : smooth_functions) {
            if (f.op != &n.op->functional()) continue;
            const bound end = std::max(x.range.high, bound{0});
            return {f.range == everything ? interval{-1, end} : f.range, times(f.slope, x.error)};
        }
        const op_info& op = n.op->functional();
        if (const auto* a = args_if<aten::avg_pool2d>(n); a != nullptr && a->divisor_override) return {};
        const bool keeps =
            contracts(op) || op.has(rearranging | copying | splitting | aliasing | reshaping | joining);
        if (!keeps) return {};
        rounded all = x;
        for (std::size_t i = 1; i != n.operand_count && op.has(joining); ++i) {
            const rounded& other = of(n.operand(i));
            all = {all.range | other.range, std::max(all.error, other.error)};
        }
        if (&op == &info_of<aten::neg>) all.range = -all.range;
        all.range = limited(n, all.range);
        return all;
    }

    std::unordered_map<const node*, rounded> known_{};
};

std::string format_error(double x) {
    if (std::isinf(x)) return "unlimited";
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), x, std::chars_format::general, 4);
    return {text.data(), end.ptr};
}

}  // namespace

result<error_bounds> rounding_errors(const graph& g) {
    if (g.nodes_of(info_of<qd::quantize_per_tensor>).empty())
        return unsupported(
            "rounding errors are bounded for quantized models as exported: a .pt2 file with "
            "quantize and dequantize nodes");
    return error_analysis().run(g);
}

std::string error_text(const error_bounds& bounds) {
    std::string text;
    for (const layer_error& l : bounds.layers) {
        const auto line = source_line(*l.where);
        text += join_text("error of ", printable(origin_name(*l.where)), line.empty() ? "" : " (",
            printable(std::string_view(line)), line.empty() ? "" : ")", ": at most ", format_error(l.error));
        if (!std::isinf(l.error)) text += join_text(", ", format_error(l.error / l.scale), " steps");
        text += '\n';
    }
    std::size_t i = 0;
    for (const layer_error& l : bounds.outputs)
        text += join_text("error of output ", i++, ": at most ", format_error(l.error), '\n');
    return text;
}

}  // namespace headrace::prove
