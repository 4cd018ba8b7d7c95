// SPDX-License-Identifier: MIT
// Defines the functions of headrace/prove/exact.hpp.

#include <headrace/prove/exact.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <headrace/dialect/tosa.hpp>
#include <headrace/eval/evaluation.hpp>
#include <headrace/eval/tosa/fixed_point.hpp>

namespace headrace::prove {

namespace {

using eval::tensor;
using integers = std::vector<std::int64_t>;

/// Collects the number that is farthest outside of its limits.
class worst_number {
public:
    explicit worst_number(claim_kind kind) : kind_(kind) {}
    void see(bound x, const interval& allowed, std::size_t element) {
        if (allowed.contains(x)) return;
        const bound excess = std::max(x - allowed.high, allowed.low - x);
        if (found_ && excess <= excess_) return;
        excess_ = excess;
        found_ = overflow{kind_, x, allowed, static_cast<std::int64_t>(element)};
    }
    void see(const integers& numbers, const interval& allowed) {
        for (std::size_t i = 0; i != numbers.size(); ++i) see(static_cast<bound>(numbers[i]), allowed, i);
    }
    [[nodiscard]] std::optional<overflow> found() const { return found_; }

private:
    claim_kind kind_;
    bound excess_ = 0;
    std::optional<overflow> found_{};
};

// Runs the kernel of a node with a result of int64.
integers wide_result(const node& n, std::span<const tensor> operands) {
    tensor_meta wide = *n.results[0].meta;
    wide.dtype = dtype::int64;
    eval::variable_store variables;
    eval::evaluation e(n, operands, {wide}, eval::run_state(variables));
    const auto kernel = eval::kernel_of_headrace(*n.op);
    if (kernel == nullptr) return {};
    kernel(n.arguments, e);
    auto done = e.take_results();
    return done ? done.value()[0].to<std::int64_t>() : integers();
}

tensor of_integers(const tensor& like, const integers& numbers) {
    return tensor::of(dtype::int64, like.shape(), numbers);
}
// Elements less the zero point, those of one sign and in magnitude.
tensor part(const tensor& t, const tensor* zero_point, bool negative) {
    integers numbers = t.to<std::int64_t>();
    const std::int64_t zp = zero_point != nullptr && zero_point->size() != 0 ? zero_point->integer(0) : 0;
    for (std::int64_t& x : numbers) x = std::max<std::int64_t>(0, negative ? zp - x : x - zp);
    return of_integers(t, numbers);
}
tensor zeros(const tensor& like) {
    return of_integers(like, integers(static_cast<std::size_t>(like.size()), 0));
}

/// The sums of all positive and of all negative terms of a convolution or a matrix product.
void see_partial_sums(
    worst_number& worst, const node& n, std::span<const tensor> operands, const interval& allowed) {
    const bool is_matmul = is<tosa::matmul>(n);
    const std::size_t zp = is_matmul ? 2 : 3;
    if (n.operand(0) == n.operand(1)) return;
    const auto sums = [&](bool negative) {
        integers all;
        for (const bool first : {false, true}) {
            std::vector<tensor> given(operands.begin(), operands.end());
            given[0] = part(operands[0], &operands[zp], first);
            given[1] = part(operands[1], &operands[zp + 1], first != negative);
            if (!is_matmul) given[2] = first ? zeros(operands[2]) : part(operands[2], nullptr, negative);
            given[zp] = zeros(operands[zp]);
            given[zp + 1] = zeros(operands[zp + 1]);
            const integers half = wide_result(n, given);
            all.resize(half.size(), 0);
            for (std::size_t i = 0; i != half.size(); ++i) all[i] += negative ? -half[i] : half[i];
        }
        return all;
    };
    worst.see(sums(false), allowed);
    worst.see(sums(true), allowed);
}

bool is_product(const node& n) {
    return is<tosa::conv2d>(n) || is<tosa::conv3d>(n) || is<tosa::depthwise_conv2d>(n) ||
        is<tosa::transpose_conv2d>(n) || is<tosa::matmul>(n);
}

std::int64_t read_as(std::int64_t x, dtype t, bool is_unsigned) {
    return is_unsigned ? x & eval::range_of_type(t, true).highest : x;
}
// Both numbers that a RESCALE's apply_scale takes and gives.
void see_scale(worst_number& worst, claim_kind kind, const node& n, std::span<const tensor> operands) {
    const auto& a = args_of<tosa::rescale>(n);
    const tensor& in = operands[0];
    const integers multipliers = operands[1].to<std::int64_t>();
    const integers shifts = operands[2].to<std::int64_t>();
    const integers numbers = in.to<std::int64_t>();
    const std::int64_t in_zp = read_as(operands[3].integer(0), in.type(), a.input_unsigned);
    const std::int64_t out_zp = read_as(operands[4].integer(0), n.results[0].meta->dtype, a.output_unsigned);
    const bool twice = a.scale32 && a.rounding_mode == rounding_mode::double_round;
    for (std::size_t i = 0; i != numbers.size(); ++i) {
        const std::size_t c = a.per_channel ? i % multipliers.size() : 0;
        const std::int64_t x = read_as(numbers[i], in.type(), a.input_unsigned) - in_zp;
        if (kind == claim_kind::scale_input) {
            const std::int64_t bits = a.scale32 ? std::clamp<std::int64_t>(shifts[c], 1, 32) : 48;
            const bound limit = wide::ldexp(bound{1}, static_cast<int>(bits) - 1);
            worst.see(static_cast<bound>(x), {-limit, limit - 1}, i);
        } else {
            const std::int64_t scaled = eval::apply_scale(x, {multipliers[c], shifts[c]}, twice);
            worst.see(static_cast<bound>(scaled), interval_of(dtype::int32), i);
            worst.see(static_cast<bound>(scaled + out_zp), interval_of(dtype::int32), i);
        }
    }
}
void see_casts(worst_number& worst, const node& n, const tensor& in) {
    const interval allowed = interval_of(n.results[0].meta->dtype);
    for (std::int64_t i = 0; i != in.size(); ++i) {
        const bound x = is_floating(in.type()) ? static_cast<bound>(std::nearbyint(in.real(i)))
                                               : static_cast<bound>(in.integer(i));
        worst.see(x, allowed, static_cast<std::size_t>(i));
    }
}
void see_slopes(worst_number& worst, std::span<const tensor> operands) {
    const integers table = operands[1].to<std::int64_t>();
    const integers numbers = operands[0].to<std::int64_t>();
    for (std::size_t i = 0; i != numbers.size() && table.size() == 513; ++i) {
        const auto line = static_cast<std::size_t>((numbers[i] >> 7) + 256);
        worst.see(static_cast<bound>(table[line + 1] - table[line]), interval_of(dtype::int16), i);
    }
}
void see_divisors(worst_number& worst, const tensor& divisors) {
    for (std::int64_t i = 0; i != divisors.size(); ++i) {
        if (divisors.integer(i) == 0) worst.see(0, {1, interval::unlimited}, static_cast<std::size_t>(i));
    }
}

}  // namespace

std::optional<overflow> find_overflow(const node& n, claim_kind kind, std::span<const tensor> operands) {
    worst_number worst(kind);
    const dtype type = n.results[0].meta->dtype;
    switch (kind) {
        case claim_kind::accumulator:
            if (is<tosa::avg_pool2d>(n)) break;
            worst.see(wide_result(n, operands), interval_of(type));
            if (!worst.found() && is_product(n)) see_partial_sums(worst, n, operands, interval_of(type));
            break;
        case claim_kind::arithmetic:
            worst.see(wide_result(n, operands), interval_of(type));
            break;
        case claim_kind::scale_input:
        case claim_kind::scale_result:
            if (is<tosa::rescale>(n)) see_scale(worst, kind, n, operands);
            break;
        case claim_kind::table_slope:
            see_slopes(worst, operands);
            break;
        case claim_kind::shift_amount:
            if (!is<tosa::mul>(n))
                worst.see(operands[1].to<std::int64_t>(), {0, static_cast<bound>(traits_of(type).bits - 1)});
            break;
        case claim_kind::divisor:
            see_divisors(worst, operands[1]);
            break;
        case claim_kind::cast:
            see_casts(worst, n, operands[0]);
            break;
        case claim_kind::index:
            worst.see(
                operands[1].to<std::int64_t>(), {0, static_cast<bound>(meta_of(n.operand(0))->shape[1] - 1)});
            break;
        case claim_kind::scale_factor:
            break;
    }
    return worst.found();
}

}  // namespace headrace::prove
