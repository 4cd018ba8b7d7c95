// SPDX-License-Identifier: MIT
// Defines headrace::maps::number_computer, which computes the weights of merged maps in float64.
#ifndef HEADRACE_PASSES_MERGE_MAP_NUMBERS_HPP
#define HEADRACE_PASSES_MERGE_MAP_NUMBERS_HPP

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/sizes.hpp>
#include <headrace/passes/merge/linear_maps.hpp>

namespace headrace::maps {

/// The weights [out, in / groups, taps] and the constants [out] of a map.
struct map_numbers {
    map_shape shape;
    pmr_vector<double> weights, shifts;

    explicit map_numbers(const map_shape& s)
        : shape(s),
          weights(static_cast<std::size_t>(s.out * s.inputs() * s.taps())),
          shifts(static_cast<std::size_t>(s.out)) {}

    /// The weights of an output channel.
    [[nodiscard]] std::span<double> row(std::int64_t out) {
        const auto size = static_cast<std::size_t>(shape.inputs() * shape.taps());
        return std::span(weights).subspan(static_cast<std::size_t>(out) * size, size);
    }
    /// The first input channel of the group of an output channel.
    [[nodiscard]] std::int64_t first_input(std::int64_t out) const {
        return out / shape.outputs() * shape.inputs();
    }
};

/// Computes the numbers of maps. Adds up how many products that took, and ends above a limit: a file may
/// repeat its weights without having them.
class number_computer {
public:
    explicit number_computer(const map_list& maps) : maps_(maps) {}

    /// Returns the numbers of a map with a layer; nothing if that is too much work.
    [[nodiscard]] std::optional<map_numbers> compute(map_id i) { return compute_as(i, maps_[i]); }

    /// Returns the numbers of a map, also of factors alone, in the form of a layer of the same root.
    [[nodiscard]] std::optional<map_numbers> compute_as(map_id i, const linear_map& layer) {
        const int_list& root = meta_of(layer.root)->shape;
        made_ = 0;
        return numbers(i, layer.channels.last ? root.back() : root[1], layer.shape.axes);
    }

private:
    static constexpr double most_work = 0x1p32;     // products, for all maps
    static constexpr double most_numbers = 0x1p28;  // of the parts of one map
    static constexpr std::int64_t most_pairs = std::int64_t{1} << 20;

    std::optional<map_numbers> numbers(map_id i, std::int64_t channels, std::size_t axes) {
        const linear_map& m = maps_[i];
        const map_shape shape = map_list::shape_of(m, channels, axes);
        made_ += shape.weights();
        if (made_ > most_numbers) return std::nullopt;
        if (m.kind == map_kind::step) return of_step(m, shape);
        auto first = numbers(m.first, channels, axes);
        if (!first) return std::nullopt;
        const bool is_chain = m.kind == map_kind::chain;
        auto second = numbers(m.second, is_chain ? first->shape.out : channels, axes);
        if (!second) return std::nullopt;
        if (!is_chain) return sum_of(shape, *std::move(first), m.sign, *second, m.second_sign);
        if (!maps_[m.second].has_layer && first->shape == shape) return scaled(*std::move(first), *second);
        std::optional<map_numbers> made(shape);
        return add_product(*made, *first, *second) ? std::move(made) : std::nullopt;
    }

    // --- steps --------------------------------------------------------------------------------

    static std::optional<map_numbers> of_step(const linear_map& m, const map_shape& shape) {
        map_numbers made(shape);
        if (m.weighted == 1) {
            const bool has_bias = m.of->operand_count > 2;
            auto weights = constant_reals(m.of->operand(1));
            auto bias = has_bias ? constant_reals(m.of->operand(2)) : pmr_vector<double>();
            if (!weights || weights->size() != made.weights.size() || !bias) return std::nullopt;
            made.weights = *std::move(weights);
            if (has_bias) made.shifts = *std::move(bias);
        } else if (const auto* pool = m.of == nullptr ? nullptr : args_if<aten::avg_pool2d>(*m.of)) {
            const double count = static_cast<double>(pool->divisor_override.value_or(shape.taps()));
            std::ranges::fill(made.weights, 1 / count);
        } else {
            std::ranges::fill(made.weights, 1);
            if (m.of != nullptr && !scale(*m.of, made)) return std::nullopt;
        }
        return made;
    }

    // Sets one factor and one constant for each channel, from constants with one number for each, or for all.
    static bool set(const std::optional<value>& v, double otherwise, map_numbers& to, auto&& use) {
        auto numbers = v ? numbers_behind(*v, most_channels) : pmr_vector<double>(1, otherwise);
        if (!numbers || (numbers->size() != 1 && numbers->size() != to.shifts.size())) return false;
        const bool is_one = numbers->size() == 1;
        for (std::size_t c = 0; c != to.shifts.size(); ++c)
            use(to.weights[c], to.shifts[c], (*numbers)[is_one ? 0 : c]);
        return true;
    }
    static bool scale_by(value factors, double times, map_numbers& to) {
        return set(factors, 1, to, [&](double& w, double&, double f) { w *= f * times; });
    }
    static bool shift_by(value summands, double times, map_numbers& to) {
        return set(summands, 0, to, [&](double&, double& b, double s) { b += s * times; });
    }
    static bool change_all(double factor, double summand, map_numbers& to) {
        return set({}, factor, to, [&](double& w, double& b, double f) {
            w *= f;
            b += summand;
        });
    }
    static bool scale(const node& n, map_numbers& to) {
        if (const auto* a = args_if<aten::mul_tensor>(n))
            return scale_by(is_number(a->self) ? a->self : a->other, 1, to);
        if (const auto* a = args_if<aten::div_tensor>(n))
            return set(a->other, 1, to, [](double& w, double&, double f) { w /= f; });
        if (const auto* a = args_if<aten::add_tensor>(n)) return sum(*a, 1, to);
        if (const auto* a = args_if<aten::sub_tensor>(n)) return sum(*a, -1, to);
        if (const auto* a = args_if<aten::addcmul>(n))
            return scale_by(is_number(a->tensor1) ? a->tensor1 : a->tensor2, a->value.to_double(), to) &&
                shift_by(a->self, 1, to);
        if (const auto* a = args_if<aten::mul_scalar>(n)) return change_all(a->other.to_double(), 0, to);
        if (const auto* a = args_if<aten::div_scalar>(n)) return change_all(1 / a->other.to_double(), 0, to);
        if (const auto* a = args_if<aten::add_scalar>(n))
            return change_all(1, a->other.to_double() * a->alpha.to_double(), to);
        if (const auto* a = args_if<aten::sub_scalar>(n))
            return change_all(1, -a->other.to_double() * a->alpha.to_double(), to);
        if (is<aten::neg>(n)) return change_all(-1, 0, to);
        if (const auto* a = args_if<aten::batch_norm>(n))
            return normalize(a->weight, a->bias, *a->running_mean, *a->running_var, a->eps, to);
        if (const auto* a = args_if<aten::_native_batch_norm_legit_no_training>(n))
            return normalize(a->weight, a->bias, a->running_mean, a->running_var, a->eps, to);
        return true;  // the value itself
    }
    // The number of a sum is either operand; `sign` is that of the second.
    template <class Args>
    static bool sum(const Args& a, double sign, map_numbers& to) {
        const double times = sign * a.alpha.to_double();
        if (is_number(a.other)) return shift_by(a.other, times, to);
        return change_all(times, 0, to) && shift_by(a.self, 1, to);
    }
    static bool normalize(const std::optional<value>& weight, const std::optional<value>& bias, value mean,
        value variance, double eps, map_numbers& to) {
        return shift_by(mean, -1, to) &&
            set(variance, 1, to,
                [&](double& w, double& b, double v) {
                    const double factor = 1 / std::sqrt(v + eps);
                    w *= factor;
                    b *= factor;
                }) &&
            set(weight, 1, to,
                [](double& w, double& b, double f) {
                    w *= f;
                    b *= f;
                }) &&
            set(bias, 0, to, [](double&, double& b, double s) { b += s; });
    }

    // --- chains and sums ----------------------------------------------------------------------

    // Calls `use(element, low + j·step along each axis)` for each element of the windows.
    template <class Use>
    static void for_each_tap(const map_shape& s, Use&& use) {
        std::array<std::int64_t, map_shape::most_axes> at{};
        for (std::int64_t i = 0; i != s.taps(); ++i) {
            std::int64_t rest = i;
            for (std::size_t axis = s.axes; axis-- != 0; rest /= s.windows[axis].count)
                at[axis] = s.windows[axis].low + rest % s.windows[axis].count * s.windows[axis].step;
            use(static_cast<std::size_t>(i), at);
        }
    }
    // Returns the element of the windows that reads at these offsets.
    static std::size_t tap_at(const map_shape& s, const std::array<std::int64_t, map_shape::most_axes>& at) {
        std::int64_t tap = 0;
        for (std::size_t i = 0; i != s.axes; ++i)
            tap = tap * s.windows[i].count + (at[i] - s.windows[i].low) / s.windows[i].step;
        return static_cast<std::size_t>(tap);
    }

    // Multiplies each output channel by the factor of a map of factors alone.
    static map_numbers scaled(map_numbers first, const map_numbers& factors) {
        for (std::size_t o = 0; o != first.shifts.size(); ++o) {
            for (double& w : first.row(static_cast<std::int64_t>(o))) w *= factors.weights[o];
            first.shifts[o] = first.shifts[o] * factors.weights[o] + factors.shifts[o];
        }
        return first;
    }
    static map_numbers sum_of(
        const map_shape& shape, map_numbers first, double sign, map_numbers& second, double second_sign) {
        if (first.shape == shape && sign == 1) {
            add_part(first, second, second_sign);
            return first;
        }
        map_numbers sum(shape);
        add_part(sum, first, sign);
        add_part(sum, second, second_sign);
        return sum;
    }
    static void add_part(map_numbers& to, map_numbers& part, double sign) {
        pmr_vector<std::size_t> taps;
        for_each_tap(part.shape, [&](std::size_t, const auto& at) { taps.push_back(tap_at(to.shape, at)); });
        const auto wide = static_cast<std::size_t>(to.shape.taps());
        for (std::int64_t o = 0; o != to.shape.out; ++o) {
            to.shifts[static_cast<std::size_t>(o)] += sign * part.shifts[static_cast<std::size_t>(o)];
            const auto offset = static_cast<std::size_t>(part.first_input(o) - to.first_input(o)) * wide;
            double* sum = &to.row(o)[offset];
            const std::span<const double> row = part.row(o);
            for (std::size_t i = 0; i != row.size(); i += taps.size(), sum += wide) {
                for (std::size_t t = 0; t != taps.size(); ++t) sum[taps[t]] += sign * row[i + t];
            }
        }
    }

    bool add_product(map_numbers& to, map_numbers& first, map_numbers& second) {
        work_ += second.shape.weights() * static_cast<double>(first.shape.inputs()) *
            static_cast<double>(first.shape.taps());
        const std::int64_t pairs = saturating_mul(first.shape.taps(), second.shape.taps());
        if (work_ > most_work || pairs > most_pairs) return false;
        const pmr_vector<std::size_t> taps = taps_of_pairs(to.shape, first.shape, second.shape);
        to.shifts = second.shifts;
        const auto outer_taps = static_cast<std::size_t>(second.shape.taps());
        for (std::int64_t o = 0; o != to.shape.out; ++o) {
            const std::span<const double> row = second.row(o);
            const std::int64_t begin = second.first_input(o);
            for (std::int64_t m = begin; m != begin + second.shape.inputs(); ++m) {
                const auto outer = row.subspan(static_cast<std::size_t>(m - begin) * outer_taps, outer_taps);
                for (const double w : outer)
                    to.shifts[static_cast<std::size_t>(o)] += w * first.shifts[static_cast<std::size_t>(m)];
                add_row(to, o, first, m, outer, taps);
            }
        }
        return true;
    }
    // Returns, for each tap of the second map, for each tap of the first, the tap of both.
    static pmr_vector<std::size_t> taps_of_pairs(
        const map_shape& both, const map_shape& first, const map_shape& second) {
        pmr_vector<std::size_t> taps;
        for_each_tap(second, [&](std::size_t, const auto& outer) {
            for_each_tap(first, [&](std::size_t, const auto& inner) {
                auto at = inner;
                for (std::size_t i = 0; i != both.axes; ++i) at[i] += outer[i] * first.windows[i].stride;
                taps.push_back(tap_at(both, at));
            });
        });
        return taps;
    }
    // Adds the weights of channel m of the first map, by which channel o of the second multiplies.
    static void add_row(map_numbers& to, std::int64_t o, map_numbers& first, std::int64_t m,
        std::span<const double> outer, const pmr_vector<std::size_t>& taps) {
        const auto inner_taps = static_cast<std::size_t>(first.shape.taps());
        const auto wide = static_cast<std::size_t>(to.shape.taps());
        double* sum = &to.row(o)[static_cast<std::size_t>(first.first_input(m) - to.first_input(o)) * wide];
        const std::span<const double> row = first.row(m);
        for (std::size_t i = 0; i != row.size(); i += inner_taps, sum += wide) {
            const std::size_t* place = taps.data();
            for (const double w : outer) {
                for (std::size_t t = 0; t != inner_taps; ++t) sum[*place++] += w * row[i + t];
            }
        }
    }

    const map_list& maps_;
    double work_ = 0, made_ = 0;
};

}  // namespace headrace::maps

#endif
