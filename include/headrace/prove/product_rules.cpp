// SPDX-License-Identifier: MIT
// Defines the rules of TOSA's convolutions, MATMUL, AVG_POOL2D and RESIZE on integers.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <headrace/dialect/tosa.hpp>
#include <headrace/eval/element.hpp>
#include <headrace/eval/tosa/fixed_point.hpp>
#include <headrace/prove/query.hpp>

namespace headrace::prove {

namespace {

/// Sums of products. Any order of the terms is allowed, so a partial sum may be that of all positive terms.
struct sum_bounds {
    interval total = number(0);
    interval partial = number(0);

    void add(const interval& term, bound times = 1) {
        total.low += times * term.low;
        total.high += times * term.high;
        partial.low += times * std::min(term.low, bound{0});
        partial.high += times * std::max(term.high, bound{0});
    }
};

/// The sums of each output channel.
class channel_sums {
public:
    channel_sums(std::int64_t channels, const spread& bias) : sums_(static_cast<std::size_t>(channels)) {
        for (std::size_t c = 0; c != sums_.size(); ++c) sums_[c].add(bias.at(c));
    }
    [[nodiscard]] sum_bounds& operator[](std::int64_t c) { return sums_[static_cast<std::size_t>(c)]; }
    void give(query& q, std::size_t axis, dtype accumulator) const {
        std::vector<interval> totals;
        const interval limits = interval_of(accumulator);
        for (std::size_t c = 0; c != sums_.size(); ++c) {
            q.claim_within(claim_kind::accumulator, sums_[c].partial, limits, c);
            totals.push_back(sums_[c].total);
        }
        q.give({axis, std::move(totals)});
    }

private:
    std::vector<sum_bounds> sums_;
};

dtype accumulator_of(const query& q, dtype declared) {
    return declared == dtype::int48 && q.type() == dtype::int48 ? dtype::int48 : q.type();
}
bool is_padded(const int_list& pad) {
    return std::ranges::any_of(pad, [](std::int64_t p) { return p != 0; });
}

/// The operands of a convolution without their zero points. Padding is zeros.
struct conv_operands {
    spread input;
    interval weight_zp;
    std::vector<std::int64_t> weights{};  // empty: they are computed
    interval all_weights{};

    template <class Args>
    conv_operands(query& q, const Args& a, bool may_miss_terms) : weight_zp(q.all_of(a.weight_zp)) {
        const interval zp = q.all_of(a.input_zp);
        input = q(a.input).along(meta_of(a.input)->rank() - 1).mapped([&](const interval& i) {
            return may_miss_terms ? (i - zp) | number(0) : i - zp;
        });
        if (const eval::tensor* known = q.constant(a.weight)) weights = known->to<std::int64_t>();
        if (weights.empty()) all_weights = q.all_of(a.weight) - weight_zp;
    }
    [[nodiscard]] interval weight(std::int64_t at) const {
        if (weights.empty()) return all_weights;
        return number(static_cast<bound>(weights[static_cast<std::size_t>(at)])) - weight_zp;
    }
    [[nodiscard]] interval term(std::int64_t at, std::int64_t channel) const {
        return weight(at) * input.at(static_cast<std::size_t>(channel));
    }
};

// Weights [O, kernel..., I].
template <class Args>
void convolve(query& q, const Args& a, bool may_miss_terms) {
    if (!q.is_integral()) return;
    const conv_operands x(q, a, may_miss_terms);
    const int_list& shape = meta_of(a.weight)->shape;
    const std::int64_t channels = shape.back();
    const std::int64_t in_filter = shape[0] == 0 ? 0 : meta_of(a.weight)->elements() / shape[0];
    channel_sums sums(shape[0], q(a.bias));
    for (std::int64_t o = 0; o != shape[0]; ++o) {
        for (std::int64_t i = 0; i != in_filter; ++i) sums[o].add(x.term(o * in_filter + i, i % channels));
    }
    sums.give(q, q.result_meta().rank() - 1, accumulator_of(q, a.acc_type));
}
template <class Args>
void conv(query& q, const Args& a) {
    convolve(q, a, is_padded(a.pad));
}
void transpose_conv2d(query& q, const args<tosa::transpose_conv2d>& a) { convolve(q, a, true); }

// Weights [KH, KW, C, M]: each channel has M features.
void depthwise_conv2d(query& q, const args<tosa::depthwise_conv2d>& a) {
    if (!q.is_integral()) return;
    const conv_operands x(q, a, is_padded(a.pad));
    const int_list& shape = meta_of(a.weight)->shape;
    const std::int64_t features = shape[2] * shape[3];
    channel_sums sums(features, q(a.bias));
    for (std::int64_t k = 0; k != shape[0] * shape[1]; ++k) {
        for (std::int64_t f = 0; f != features; ++f) sums[f].add(x.term(k * features + f, f / shape[3]));
    }
    sums.give(q, 3, accumulator_of(q, a.acc_type));
}

// [N, H, C] times [N, C, W]: by column, with the elements of a constant factor.
void matmul(query& q, const args<tosa::matmul>& a) {
    if (!q.is_integral()) return;
    const int_list& left = meta_of(a.a)->shape;
    const std::int64_t width = meta_of(a.b)->shape[2];
    const interval b_zp = q.all_of(a.b_zp);
    const interval a_zp = q.all_of(a.a_zp);
    const spread x = q(a.a).along(2).mapped([&](const interval& i) { return i - a_zp; });
    const spread rows = q(a.b).along(1);
    const spread columns = q(a.b).along(2);
    const bool by_column = !columns.is_uniform();
    const eval::tensor* const known = q.constant(a.b);
    std::vector<std::int64_t> elements;
    if (known != nullptr && left[0] == 1) elements = known->to<std::int64_t>();
    const bool is_known = !elements.empty();
    channel_sums sums(by_column || is_known ? width : 1, number(0));
    for (std::int64_t w = 0; w != (by_column || is_known ? width : 1); ++w) {
        for (std::int64_t c = 0; c != left[2]; ++c) {
            interval y =
                by_column ? columns.at(static_cast<std::size_t>(w)) : rows.at(static_cast<std::size_t>(c));
            if (is_known) y = number(static_cast<bound>(elements[static_cast<std::size_t>(c * width + w)]));
            sums[w].add(x.at(static_cast<std::size_t>(c)) * (y - b_zp));
        }
    }
    sums.give(q, 2, q.type());
}

void avg_pool2d(query& q, const args<tosa::avg_pool2d>& a) {
    if (!q.is_integral()) return;
    const std::int64_t most = a.kernel[0] * a.kernel[1];
    const std::int64_t least = is_padded(a.pad) ? 1 : most;
    const interval out_zp = q.all_of(a.output_zp);
    const interval in_zp = q.all_of(a.input_zp);
    spread out = q(a.input).along(3);
    for (std::size_t c = 0; c != out.parts.size(); ++c) {
        const interval x = out.parts[c] - in_zp;
        sum_bounds sum;
        sum.add(x, static_cast<bound>(most));
        q.claim_within(claim_kind::accumulator, sum.partial, interval_of(dtype::int32), c);
        // A mean lies between its terms; the reciprocal and the rounding move it by less than 1.
        interval mean{x.low - 1, x.high + 1};
        constexpr std::int64_t counted = 4096;
        if (most - least < counted) {
            mean = {interval::unlimited, -interval::unlimited};
            for (std::int64_t n = std::max<std::int64_t>(least, 1); n <= most; ++n) {
                const eval::fixed_point_scale scale = eval::reciprocal_scale(n);
                const bound limit = wide::ldexp(bound{1}, static_cast<int>(scale.shift) - 1);
                const interval whole = sum_of(x, n);
                q.claim_within(claim_kind::scale_input, whole, {-limit, limit - 1}, c);
                const auto scaled = [&](bound b) {
                    return static_cast<bound>(eval::apply_scale(static_cast<std::int64_t>(b), scale, false));
                };
                mean = mean | map_bounds(whole & interval_of(dtype::int32), scaled);
            }
        }
        out.parts[c] = mean + out_zp;
    }
    q.give(out);
}

// Nearest neighbours are copied; bilinear sums have weights that add up to the product of both scales.
void resize(query& q, const args<tosa::resize>& a) {
    if (!q.is_integral()) return;
    const spread in = q(a.input).along(3);
    if (a.mode == resize_mode::nearest) return q.give(in);
    const auto* const scale = match<tosa::const_shape>(a.scale);
    if (scale == nullptr) return;
    const bound weight = static_cast<bound>(scale->values[0]) * static_cast<bound>(scale->values[2]);
    const spread sums = in.mapped([&](const interval& i) { return i * number(weight); });
    q.claim_within(claim_kind::arithmetic, sums, interval_of(q.type()));
    q.give(sums);
}

}  // namespace

std::span<const rule> product_rules() {
    static constexpr std::array rules{rule_of<tosa::conv2d, conv<args<tosa::conv2d>>>,
        rule_of<tosa::conv3d, conv<args<tosa::conv3d>>>, rule_of<tosa::depthwise_conv2d, depthwise_conv2d>,
        rule_of<tosa::transpose_conv2d, transpose_conv2d>, rule_of<tosa::matmul, matmul>,
        rule_of<tosa::avg_pool2d, avg_pool2d>, rule_of<tosa::resize, resize>};
    return rules;
}

}  // namespace headrace::prove
