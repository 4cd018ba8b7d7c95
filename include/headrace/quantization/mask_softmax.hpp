// SPDX-License-Identifier: MIT
// Defines headrace::mask_softmax.
#ifndef HEADRACE_QUANTIZATION_MASK_SOFTMAX_HPP
#define HEADRACE_QUANTIZATION_MASK_SOFTMAX_HPP

#include <algorithm>
#include <limits>
#include <optional>

#include <headrace/pass/arithmetic.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/decompose/reductions.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace {

/// A score of -infinity, or of -1e9, says that a softmax leaves an element out. As a number it would take all
/// of an integer's range: with -1e9 among the scores a step is 4 million. So the exponentials of what is left
/// out become 0 instead, and the scores keep their range.
struct mask_softmax : pass {
    static constexpr std::string_view summary =
        "softmax of masked scores as masked exponentials, before it is quantized";

    using targeted_ops = ops<aten::softmax_int, aten::_softmax, aten::_safe_softmax>;
    using produces = ops<aten::where_self, aten::logical_not, aten::amax, aten::sub_tensor, aten::exp,
                         aten::sum_dim_intlist, aten::reciprocal, aten::mul_tensor>;

    template <one_of<targeted_ops> Op>
    std::optional<value> operator()(Op, const args<Op>& a, emit<produces>& e) const {
        if (!a.self || e.dtype(a.self) != dtype::float32) return std::nullopt;
        const std::optional<masked> found = find_mask(e, a.self);
        if (!found) return std::nullopt;
        const auto softmax = [&](auto x, auto keep) {
            const auto scores = where(keep, x, -infinity);
            const auto largest_score = largest(scores, int_list{a.dim});
            const auto powers = exp(scores - largest_score);
            const auto kept = where(keep, powers, 0);
            return kept * reciprocal(sum(kept, int_list{a.dim}));
        };
        return evaluate(e, softmax, found->scores, found->keep);
    }

private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    struct masked {
        value scores, keep;
    };

    [[nodiscard]] static bool leaves_out(double number) {
        constexpr double never = -1e4;  // no score is as low
        return number <= never;
    }
    [[nodiscard]] static bool is_filling(value v) {
        const tensor_meta* meta = meta_of(v);
        if (meta == nullptr || meta->elements() != 1) return false;
        const auto numbers = constant_reals(v);
        return numbers && leaves_out(numbers->front());
    }

    static std::optional<masked> find_mask(emit<produces>& e, value v) {
        if (const auto* choice = match<aten::where_self>(v)) {
            if (is_filling(choice->other)) return masked{choice->self, choice->condition};
            if (!is_filling(choice->self)) return std::nullopt;
            return masked{choice->other, e.make<aten::logical_not>({.self = choice->condition})};
        }
        const auto* sum = match<aten::add_tensor>(v);
        if (sum == nullptr || sum->alpha.to_double() != 1) return std::nullopt;
        if (const value keep = kept_by(e, sum->other)) return masked{sum->self, keep};
        if (const value keep = kept_by(e, sum->self)) return masked{sum->other, keep};
        return std::nullopt;
    }

    // A constant that is added to scores as a mask: each of its numbers is 0 or leaves an element out.
    static value kept_by(emit<produces>& e, value mask) {
        const auto numbers = constant_reals(mask);
        if (!numbers || e.dtype(mask) != dtype::float32) return {};
        const bool masks = std::ranges::all_of(*numbers, [](double x) { return x == 0 || leaves_out(x); });
        if (!masks) return {};
        return e.constant_of(dtype::boolean, sizes(e.shape(mask)),
                             [&](std::size_t i) { return scalar((*numbers)[i] == 0); });
    }
};
HEADRACE_COMPILED_CODE(mask_softmax);

}  // namespace headrace

#endif
