// SPDX-License-Identifier: MIT
// Defines headrace::decompose_searches.
#ifndef HEADRACE_PASSES_DECOMPOSE_SEARCHES_HPP
#define HEADRACE_PASSES_DECOMPOSE_SEARCHES_HPP

#include <headrace/infer/aten/search.hpp>
#include <headrace/passes/decompose/expressions.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace {

/// Decomposes searches by comparing each element with each boundary: the number of boundaries that it exceeds
/// is its place. All comparisons are in memory at once, so there is a limit.
struct decompose_searches : pass_in<decomposition> {
    static constexpr std::string_view summary =
        "bucketize, searchsorted by how many boundaries are exceeded; isin; take as gather";

    static auto rewrites() {
        return rules(
            on_each<ops<aten::hsplit_int, aten::vsplit_int, aten::dsplit_int>> =
                code<made>([](auto op, emit<made> e, const auto& a) -> value_list {
                    const std::int64_t axis = axis_of(op, e.rank(a.self));
                    return results_of(e.make_node<aten::tensor_split_sections>({a.self, a.sections, axis}));
                }),
            on_each<ops<aten::hsplit_array, aten::vsplit_array, aten::dsplit_array>> =
                code<made>([](auto op, emit<made> e, const auto& a) -> value_list {
                    const std::int64_t axis = axis_of(op, e.rank(a.self));
                    return results_of(e.make_node<aten::tensor_split_indices>({a.self, a.indices, axis}));
                }),
            on<aten::isin_tensor_tensor> =
                [](auto x, auto test, const auto& a) {
                    const std::int64_t count = test.meta().elements();
                    const auto listed = [&] {
                        const auto equal = unsqueezed(x, -1) == flat(test);
                        return inverted(call<aten::any_dim>(equal, -1), a.invert);
                    };
                    return choose(
                        count == 0, [&] { return x.filled(a.invert, dtype::boolean); }, is_large(x, count),
                        [&] { return too_large(x, count); }, listed);
                },
            on<aten::isin_tensor_scalar> =
                [](auto x, const auto& a) { return inverted(equals(x, a.test_element), a.invert); },
            on<aten::isin_scalar_tensor> =
                [](auto test, const auto& a) {
                    return inverted(call<aten::any>(equals(test, a.element)), a.invert);
                },
            on<aten::bucketize_tensor> = [](auto x, auto boundaries,
                                             const auto& a) { return place(x, boundaries, a.right); },
            on<aten::bucketize_scalar> =
                [](auto boundaries, const auto& a) {
                    return place(number(boundaries, a.self), boundaries, a.right);
                },
            on<aten::searchsorted_tensor> =
                [](auto sequence, auto x, const auto& a) {
                    return place(x, in_order(sequence, a.sorter), is_right(a));
                },
            on<aten::searchsorted_scalar> =
                [](auto sequence, const auto& a) {
                    return place(number(sequence, a.self), in_order(sequence, a.sorter), is_right(a));
                },
            // Negative indices count from the end.
            on<aten::take> =
                [](auto x, auto index, const auto&) {
                    const std::int64_t count = x.meta().elements();
                    const auto wide = as(index, dtype::int64);
                    const auto position = where(wide < 0, wide + wide.constant(scalar(count)), wide);
                    return refuse_if(count == 0, x, "elements of nothing: TOSA has no empty tensors", [&] {
                        return viewed(call<aten::index_select>(flat(x), 0, flat(position)), index.shape());
                    });
                },
            on<aten::take_along_dim> =
                [](auto x, auto index, const auto& a) {
                    const auto along = [&] {
                        const std::size_t axis = x.axis(*a.dim);
                        const int_list result = x.result_meta().shape;
                        shape_builder wide(result);
                        if (axis < wide.size()) wide[axis] = x.shape()[axis];
                        return call<aten::gather>(
                            expanded(x, wide), static_cast<std::int64_t>(axis), expanded(index, result));
                    };
                    return choose(a.dim.has_value() && x.rank() != 0, along, [&] {
                        return viewed(call<aten::gather>(flat(x), 0, flat(index)), x.result_meta().shape);
                    });
                },
            // The i-th element that the mask selects is element i of the source.
            on<aten::masked_scatter> =
                [](auto x, auto mask, auto source, const auto&) {
                    const int_list shape = x.result_meta().shape;
                    const auto selected = expanded(as(mask, dtype::boolean), shape);
                    const auto counted = call<aten::cumsum>(as(flat(selected), dtype::int64), 0);
                    const std::int64_t last = source.meta().elements() - 1;
                    const auto position = clamp(counted - counted.constant(scalar(std::int64_t{1})),
                        scalar(std::int64_t{0}), scalar(last));
                    return choose(
                        last < 0, [&] { return expanded(x, shape); },
                        [&] {
                            const auto taken = call<aten::index_select>(flat(source), 0, position);
                            return where(selected, viewed(taken, shape), expanded(x, shape));
                        });
                },
            on<aten::max_unpool2d> =
                [](auto x, auto indices, const auto& a) {
                    const int_list& size = a.output_size;
                    const auto planes = [](const auto& v, std::int64_t area) {
                        shape_builder shape(sizes(v.shape()).first(v.rank() - 2));
                        shape.push_back(area);
                        return int_list(shape);
                    };
                    const auto zeros = code<ops<>>(
                        [&](emit<ops<>> e, value) {
                            return e.splat(0, x.dtype(), planes(x, saturating_mul(size[0], size[1])));
                        },
                        x);
                    const int_list all = planes(x, x.size(-2) * x.size(-1));
                    const auto placed =
                        call<aten::scatter_src>(zeros, -1, viewed(indices, all), viewed(x, all));
                    return viewed(placed, x.result_meta().shape);
                },
            on<aten::repeat_interleave_self_tensor> =
                [](auto x, auto repeats, const auto& a) {
                    const auto along = [&](const auto& v, std::int64_t axis) {
                        const auto each = expanded(repeats, int_list{v.size(axis)});
                        const auto position = call<aten::repeat_interleave_tensor>(each, *a.output_size);
                        return call<aten::index_select>(v, axis, position);
                    };
                    return choose(
                        a.dim && x.rank() != 0, [&] { return along(x, *a.dim); },
                        [&] { return along(flat(x), 0); });
                });
    }

private:
    using made = ops<aten::tensor_split_sections, aten::tensor_split_indices>;
    // The axis of columns, of rows, or of depth.
    template <class Split>
    static std::int64_t axis_of(Split, std::size_t rank) {
        if (one_of<Split, ops<aten::dsplit_int, aten::dsplit_array>>) return 2;
        return one_of<Split, ops<aten::vsplit_int, aten::vsplit_array>> || rank == 1 ? 0 : 1;
    }

    static bool is_large(const auto& x, std::int64_t count) {
        return saturating_mul(x.meta().elements(), count) > max_comparisons;
    }
    static auto too_large(const auto& x, std::int64_t count) {
        return x.unsupported({"comparing ", x.meta().elements(), " elements with ", count,
            " takes more than 2^24 comparisons, all in memory at once; search in parts"});
    }
    static auto inverted(const auto& found, bool invert) {
        return choose(!invert, found, [&] { return !found; });
    }
    // Compares x with a Python number, in the dtype to which PyTorch promotes both.
    static auto equals(const auto& x, const scalar& value) {
        const dtype type = result_type(x.meta(), value);
        return as(x, type) == x.constant(value, type);
    }
    static auto number(const auto& sequence, const scalar& value) {
        const dtype type = result_type(sequence.meta(), value);
        return viewed(sequence.constant(value, type), int_list());
    }
    static bool is_right(const auto& a) { return a.side ? *a.side == "right" : a.right; }
    static auto in_order(const auto& sequence, const std::optional<value>& sorter) {
        return with_operand(
            sequence, sorter, [](auto v, auto order) { return call<aten::gather>(v, -1, order); });
    }
    // Returns the number of boundaries that precede each element; NaN comes after all of them.
    static auto place(const auto& x, const auto& boundaries, bool right) {
        const dtype type = result_type(x.meta(), boundaries.meta());
        const dtype counted = counting_type(type);
        const std::int64_t count = boundaries.size(-1);
        const auto placed = [&] {
            const auto each = unsqueezed(as(x, type), -1);
            const auto limits = as(
                choose(boundaries.rank() == 1, boundaries, [&] { return unsqueezed(boundaries, -2); }), type);
            const auto reached = choose(
                right, [&] { return limits > each; }, [&] { return limits >= each; });
            const auto ones = where(!reached, limits.constant(1, counted), limits.constant(0, counted));
            return in_result_type(sum_along(ones, -1));
        };
        return choose(
            count == 0, [&] { return x.filled(0, x.result_meta().dtype); }, is_large(x, count),
            [&] { return too_large(x, count); }, placed);
    }
};
HEADRACE_COMPILED_PASS(decompose_searches);

}  // namespace headrace

#endif
