// SPDX-License-Identifier: MIT
// Defines headrace::decompose_gradients.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_GRADIENTS_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_GRADIENTS_HPP

#include <headrace/infer/aten/quantile.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/decompose/shapes.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// torch.gradient is the slope of the parabola through an element and its neighbours: for slopes s₁ and s₂
/// over distances d₁ and d₂, it is s₁ + (s₂ - s₁) · d₁ / (d₁ + d₂). At the ends it is the slope to the only
/// neighbour, or that of the parabola through the last three elements.
struct decompose_gradients : pass {
    using phase = decomposition;
    static constexpr std::string_view summary = "gradient by the slopes between neighbours";
    using by_number = ops<aten::gradient_scalarint, aten::gradient_scalararray, aten::gradient_array,
        aten::gradient_scalarrayint, aten::gradient_scalarrayarray>;
    using by_coordinates = ops<aten::gradient_tensorarrayint, aten::gradient_tensorarray>;
    using targeted_ops = joined<by_number, by_coordinates>;
    using produces = ops<aten::add_tensor, aten::cat, aten::mul_tensor, aten::narrow, aten::reciprocal,
        aten::sub_tensor, aten::view, aten::_to_copy>;

    template <one_of<targeted_ops> Op>
    value_list operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const shape_builder axes = gradient_axes(a, e.rank(a.self));
        value_list results;
        for (std::uint32_t i = 0; i != e.current().result_count && !e.failed(); ++i) {
            const std::int64_t axis = axes[i];
            if constexpr (one_of<Op, by_coordinates>) {
                const auto along = [&](auto x, auto coordinates) {
                    const auto d = in_line(differences(as(coordinates, dtype::float32), 0), axis, x.rank());
                    return in_result_type(slopes(x, d, axis, a.edge_order), i);
                };
                results.push_back(e.build(along, a.self, a.spacing[i]));
            } else {
                const auto along = [&](auto x) {
                    const auto d = x.constant(distance(a, i), dtype::float32);
                    return in_result_type(slopes(x, d, axis, a.edge_order), i);
                };
                results.push_back(e.build(along, a.self));
            }
        }
        return results;
    }

private:
    static double distance(const auto& a, std::size_t i) {
        if constexpr (requires { a.spacing.size(); }) {
            return a.spacing[i];
        } else if constexpr (requires { a.spacing.has_value(); }) {
            return a.spacing ? a.spacing->to_double() : 1;
        } else if constexpr (requires { a.spacing; }) {
            return a.spacing.to_double();
        } else {
            return 1;
        }
    }
    // Reshapes a vector to lie along an axis of a tensor of that rank.
    static auto in_line(const auto& v, std::int64_t axis, std::size_t rank) {
        shape_builder shape = shape_builder::filled(rank, 1);
        if (const auto at = normalized_axis(axis, rank); at && rank != 0) shape[*at] = v.meta().elements();
        return viewed(v, int_list(shape));
    }
    // A distance that is the same everywhere has size 1.
    static auto part(const auto& v, std::int64_t axis, std::int64_t start, std::int64_t count) {
        return choose(v.size(axis) == 1, v, [&] { return call<aten::narrow>(v, axis, start, count); });
    }
    static auto differences(const auto& v, std::int64_t axis) {
        const std::int64_t count = v.size(axis) - 1;
        return call<aten::narrow>(v, axis, 1, count) - call<aten::narrow>(v, axis, 0, count);
    }
    static auto slopes(const auto& x, const auto& distances, std::int64_t axis, std::int64_t edge_order) {
        const auto s = differences(as(x, dtype::float32), axis) / distances;
        const std::int64_t count = s.size(axis) - 1;  // number of pairs of neighbouring slopes
        const auto first = part(s, axis, 0, 1);
        const auto last = part(s, axis, count, 1);
        const auto all = [&] {
            const auto before = part(distances, axis, 0, count);
            const auto share = before / (before + part(distances, axis, 1, count));
            const auto s1 = call<aten::narrow>(s, axis, 0, count);
            const auto turn = call<aten::narrow>(s, axis, 1, count) - s1;
            const auto inside = s1 + turn * share;
            const auto curved = [&] {
                const auto begin = first - part(turn, axis, 0, 1) * part(share, axis, 0, 1);
                const auto end =
                    last + part(turn, axis, count - 1, 1) * (1 - part(share, axis, count - 1, 1));
                return call<aten::cat>(tensors(begin, inside, end), axis);
            };
            return choose(
                edge_order == 2, curved, [&] { return call<aten::cat>(tensors(first, inside, last), axis); });
        };
        return choose(
            count == 0, [&] { return call<aten::cat>(tensors(first, last), axis); }, all);
    }
};
HEADRACE_COMPILED_PASS(decompose_gradients);

}  // namespace headrace

#endif
