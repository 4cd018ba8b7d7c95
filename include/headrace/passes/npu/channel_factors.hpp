// SPDX-License-Identifier: MIT
// Defines headrace::convolve_factors, which computes factors and offsets of channels by a convolution.
#ifndef HEADRACE_PASSES_NPU_CHANNEL_FACTORS_HPP
#define HEADRACE_PASSES_NPU_CHANNEL_FACTORS_HPP

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

#include <headrace/passes/npu/preferring.hpp>
#include <headrace/passes/quantize/rescaling.hpp>
#include <headrace/passes/support/build.hpp>
#include <headrace/passes/support/convolution.hpp>

namespace headrace {

namespace detail {

/// Returns x · factor, rounded, as RESCALE computes it with a single rounding (TOSA 1.0, apply_scale_32);
/// nothing if it does not take that x.
[[nodiscard]] inline std::optional<std::int64_t> scaled(std::int64_t x, const fixed_point_factor& factor) {
    const std::int64_t limit = std::int64_t{1} << std::min<std::int64_t>(factor.shift - 1, 31);
    if (x < -limit || x >= limit) return std::nullopt;
    return (x * factor.multiplier + (std::int64_t{1} << (factor.shift - 1))) >> factor.shift;
}

/// A function of one channel on INT8: (weight · (x - zero) + bias) · factor, rounded.
struct channel_function {
    std::int64_t weight = 0, bias = 0;
    fixed_point_factor factor{};
};

/// Finds an INT8 weight for a function, so that its results, saturated to INT8, are the same for each x.
class weight_search {
public:
    // Weights have magnitudes up to `most`.
    weight_search(
        const channel_function& wanted, std::int64_t zero, std::int64_t output_zero, std::int64_t most)
        : wanted_(wanted),
          zero_(zero),
          most_(most),
          lowest_(INT8_MIN - output_zero),
          highest_(INT8_MAX - output_zero) {
        for (std::int64_t x = INT8_MIN; x <= INT8_MAX; ++x) results_.push_back(result_of(wanted, x));
    }

    [[nodiscard]] std::optional<channel_function> found() const {
        if (!std::ranges::all_of(results_, [](const result_type& y) { return y.has_value(); }))
            return std::nullopt;
        if (wanted_.weight == 0) return wanted_;
        // With a smaller weight, a whole bias is less exact, but some weight fits it by chance.
        constexpr std::int64_t least = 32;
        for (std::int64_t weight = most_; weight >= least; --weight) {
            const double bias = static_cast<double>(wanted_.bias) * static_cast<double>(weight) /
                static_cast<double>(std::abs(wanted_.weight));
            constexpr double largest = 1 << 30;
            if (!(std::abs(bias) < largest)) continue;
            const auto below = static_cast<std::int64_t>(std::floor(bias));
            for (const std::int64_t near : {below, below + 1}) {
                if (const auto function = with(wanted_.weight < 0 ? -weight : weight, near)) return function;
            }
        }
        return std::nullopt;
    }

private:
    using result_type = std::optional<std::int64_t>;

    // Returns the function with that weight and bias, if some factor gives the same results.
    [[nodiscard]] std::optional<channel_function> with(std::int64_t weight, std::int64_t bias) const {
        constexpr double infinite = std::numeric_limits<double>::infinity();
        double least = 0, most = infinite;
        for (std::int64_t x = INT8_MIN; x <= INT8_MAX; ++x) {
            const auto sum = static_cast<double>(weight * (x - zero_) + bias);
            const std::int64_t y = *results_[static_cast<std::size_t>(x - INT8_MIN)];
            const double from = y == lowest_ ? -infinite : static_cast<double>(y) - 0.5;
            const double to = y == highest_ ? infinite : static_cast<double>(y) + 0.5;
            if (sum > 0) {
                least = std::max(least, from / sum);
                most = std::min(most, to / sum);
            } else if (sum < 0) {
                least = std::max(least, to / sum);
                most = std::min(most, from / sum);
            }
            if (least > most) return std::nullopt;
        }
        const auto factor = multiplier_and_shift(std::isinf(most) ? least : (least + most) / 2, true);
        if (!factor) return std::nullopt;
        const channel_function function{weight, bias, *factor};
        for (std::int64_t x = INT8_MIN; x <= INT8_MAX; ++x) {
            if (result_of(function, x) != results_[static_cast<std::size_t>(x - INT8_MIN)])
                return std::nullopt;
        }
        return function;
    }
    [[nodiscard]] result_type result_of(const channel_function& f, std::int64_t x) const {
        const auto sum = scaled(f.weight * (x - zero_) + f.bias, f.factor);
        return sum ? result_type(std::clamp(*sum, lowest_, highest_)) : std::nullopt;
    }

    const channel_function& wanted_;
    std::int64_t zero_, most_, lowest_, highest_;
    pmr_vector<result_type> results_{};
};

}  // namespace detail

/// Multiplies channels by constant factors, and adds constants to them, by a DEPTHWISE_CONV2D of one element
/// and a RESCALE of channels. Examples: a batch norm that is not next to a convolution, as in a DenseNet, the
/// factors of a layer norm, layer scale. An Ethos-U55 reads the constants of elementwise operators from flash
/// again for each element, and both NPUs compute INT32 slowly. The weights are INT8, and the factors and
/// offsets are not, but the results are equal: for each channel, they are compared for each of the 256
/// values.
struct convolve_factors : tuned_for<&target_preferences::factor_bits> {
    static constexpr std::string_view summary =
        "lowers constant factors and offsets of channels to a DEPTHWISE_CONV2D of one element";
    static constexpr bool in_execution_order = true;

    static auto rewrites() { return rules(on<tosa::rescale> = code<convolved>()); }

private:
    using made = joined<build::reshape_ops, ops<tosa::depthwise_conv2d, tosa::rescale>>;
    using numbers = pmr_vector<std::int64_t>;

    // The operators from INT8 to INT32: the input, its zero point, and what each channel is multiplied by and
    // increased by.
    struct affine {
        value input{};
        value input_zp{};
        numbers factors{}, offsets{};
    };

    static std::optional<value> convolved(emit<made> e, args<tosa::rescale> a) {
        const bool is_narrowing = e.dtype(a.input) == dtype::int32 && e.result_meta().dtype == dtype::int8 &&
            !a.per_channel && a.scale32 && a.rounding_mode == rounding_mode::single_round &&
            !a.output_unsigned && constant_integer(a.input_zp) == 0;
        const auto sum = is_narrowing ? affine_before(a.input, e) : std::nullopt;
        const auto functions = sum ? functions_of(*sum, a) : std::nullopt;
        if (!functions) return std::nullopt;
        const shape_builder shape(e.shape(sum->input));
        const auto channels = static_cast<std::int64_t>(functions->size());
        const std::array factor_shape{channels};
        const value image = shape.size() == 4
            ? sum->input
            : build::reshape(
                  e, sum->input, shape_builder{1, 1, e.meta(sum->input).elements() / channels, channels});
        const auto of_channels = [&](dtype type, sizes as, auto member) {
            return e.constant_of(type, as, [&](std::size_t i) { return scalar(member((*functions)[i])); });
        };
        const std::int64_t zero = weight_zero(sum->factors);
        const value weights = of_channels(dtype::int8, shape_builder{1, 1, channels, 1},
            [&](const detail::channel_function& f) { return f.weight + zero; });
        const value biases =
            of_channels(dtype::int32, factor_shape, [](const detail::channel_function& f) { return f.bias; });
        args<tosa::depthwise_conv2d> layer =
            build::unpadded<tosa::depthwise_conv2d>(e, image, weights, biases, 0, zero);
        layer.input_zp = sum->input_zp;
        a.input = e.make<tosa::depthwise_conv2d>(layer);
        a.multiplier =
            of_channels(dtype::int32, factor_shape, [](const auto& f) { return f.factor.multiplier; });
        a.shift = of_channels(dtype::int8, factor_shape, [](const auto& f) { return f.factor.shift; });
        a.per_channel = channels > 1;
        return build::reshape(e, e.make<tosa::rescale>(a), shape);
    }

    // Returns what is multiplied and added between a RESCALE that widens INT8 and `v`, if it differs by
    // channel.
    static std::optional<affine> affine_before(value v, emit<made> e) {
        const shape_builder whole(e.shape(v));
        const sizes shape = whole;
        if (shape.size() < 2 || shape.back() < 2 || e.meta(v).elements() < min_pixels * shape.back())
            return std::nullopt;
        affine found{.factors = numbers(static_cast<std::size_t>(shape.back()), 1),
            .offsets = numbers(static_cast<std::size_t>(shape.back()), 0)};
        std::int64_t bits = 0;
        bool differs = false;
        if (const auto* sum = match<tosa::add>(v); sum != nullptr && has_one_use(v)) {
            const auto term = split(sum->input1, sum->input2, shape, e);
            if (!term) return std::nullopt;
            found.offsets = term->constants;
            v = term->computed;
            bits = term->bits;
            differs = term->differs;
        }
        if (const auto* product = match<tosa::mul>(v); product != nullptr && has_one_use(v)) {
            const auto term = split(product->input1, product->input2, shape, e);
            if (!term || constant_integer(product->shift) != 0) return std::nullopt;
            found.factors = term->constants;
            v = term->computed;
            bits = std::max(bits, term->bits);
            differs = differs || term->differs;
        }
        const auto* widened = match<tosa::rescale>(v);
        constexpr std::int64_t none = -1;
        const std::int64_t power = widened == nullptr ? none : widening_shift(*widened).value_or(none);
        if (!differs || bits <= preferences_of(e.target()).factor_bits || power == none ||
            power > max_power || e.dtype(widened->input) != dtype::int8 ||
            shape_builder(e.shape(v)) != whole) {
            return std::nullopt;
        }
        for (std::int64_t& factor : found.factors) factor *= std::int64_t{1} << power;
        found.input = widened->input;
        found.input_zp = widened->input_zp;
        return found;
    }

    struct term {
        value computed{};
        numbers constants{};
        std::int64_t bits = 0;  // of the constants as they are stored
        bool differs = false;   // by channel
    };
    // Returns the operand that is computed, and the constants of the other, one for each channel.
    static std::optional<term> split(value x, value y, sizes shape, emit<made> e) {
        for (const auto& [computed, given] : {std::pair{x, y}, std::pair{y, x}}) {
            auto constants = constants_of(given, e);
            const auto count = static_cast<std::int64_t>(constants ? constants->size() : 0);
            if (count == 0 || e.rank(given) != shape.size() || e.shape(given).back() != count ||
                (count != 1 && count != shape.back())) {
                continue;
            }
            constants->resize(static_cast<std::size_t>(shape.back()), constants->front());
            const auto* widened = match<tosa::rescale>(before_moves(given));
            const dtype stored = e.dtype(widened == nullptr ? given : widened->input);
            return term{computed, std::move(*constants), traits_of(stored).bits, count != 1};
        }
        return std::nullopt;
    }
    // Constants of channels keep their order when they are reshaped or transposed, which is folded later.
    static value before_moves(value v) {
        while (is<tosa::reshape>(*v.producer) || is<tosa::transpose>(*v.producer)) v = v.producer->operand(0);
        return v;
    }
    // Returns the numbers of a constant, or of one that a RESCALE widens.
    static std::optional<numbers> constants_of(value v, emit<made> e) {
        v = before_moves(v);
        const auto* widened = match<tosa::rescale>(v);
        if (widened == nullptr) return constant_integers(v);
        auto constants = constant_integers(before_moves(widened->input));
        const auto multiplier = constant_integer(widened->multiplier),
                   shift = constant_integer(widened->shift);
        const auto zero = constant_integer(widened->input_zp);
        const bool is_plain = constants && multiplier && shift && *shift >= 2 && zero &&
            e.dtype(v) == dtype::int32 && !widened->input_unsigned &&
            widened->rounding_mode == rounding_mode::single_round &&
            constant_integer(widened->output_zp) == 0;
        if (!is_plain) return std::nullopt;
        for (std::int64_t& n : *constants) {
            const auto wide = detail::scaled(n - *zero, {*multiplier, *shift});
            if (!wide) return std::nullopt;
            n = *wide;
        }
        return constants;
    }

    // Returns the zero point of weights: factors of one sign then have a bit more.
    static std::int64_t weight_zero(const numbers& factors) {
        const auto [least, most] = std::ranges::minmax(factors);
        return least >= 0 ? INT8_MIN : most <= 0 ? INT8_MAX : 0;
    }

    static std::optional<pmr_vector<detail::channel_function>> functions_of(
        const affine& sum, const args<tosa::rescale>& narrowed) {
        const auto multiplier = constant_integer(narrowed.multiplier),
                   shift = constant_integer(narrowed.shift);
        const auto zero = constant_integer(sum.input_zp), output_zero = constant_integer(narrowed.output_zp);
        if (!multiplier || !shift || *shift < 2 || !zero || !output_zero) return std::nullopt;
        const std::int64_t most = weight_zero(sum.factors) == 0 ? INT8_MAX : UINT8_MAX;
        pmr_vector<detail::channel_function> functions;
        for (std::size_t i = 0; i != sum.factors.size(); ++i) {
            const detail::channel_function wanted{sum.factors[i], sum.offsets[i], {*multiplier, *shift}};
            const bool fits = std::abs(wanted.weight) < largest && std::abs(wanted.bias) < largest;
            const auto found =
                fits ? detail::weight_search(wanted, *zero, *output_zero, most).found() : std::nullopt;
            if (!found) return std::nullopt;
            functions.push_back(*found);
        }
        return functions;
    }

    static constexpr std::int64_t min_pixels = 16;  // fewer are not worth a convolution
    static constexpr std::int64_t max_power = 20;
    static constexpr std::int64_t largest = std::int64_t{1} << 31;
};
HEADRACE_COMPILED_PASS(convolve_factors);

}  // namespace headrace

#endif
