// SPDX-License-Identifier: MIT
// Defines the kernels of TOSA's data layout, scatter, gather, resize, data and control flow operators.
#include <algorithm>
#include <vector>

#include <headrace/dialect/tosa.hpp>
#include <headrace/eval/aten/index.hpp>
#include <headrace/eval/aten/join.hpp>
#include <headrace/eval/builtin.hpp>
#include <headrace/eval/iterate.hpp>
#include <headrace/eval/kernels.hpp>

namespace headrace::eval {

namespace {

void evaluate(tosa::const_, const args<tosa::const_>& a, evaluation& e) {
    e.set_output(tensor_of_constant(a.data, {e.output_type(), int_list(e.output_shape())}));
}
void evaluate(tosa::const_shape, const args<tosa::const_shape>& a, evaluation& e) {
    const std::vector<std::int64_t> values(a.values.begin(), a.values.end());
    e.set_output(tensor::of(dtype::shape, {static_cast<std::int64_t>(values.size())}, values));
}
template <one_of<ops<tosa::identity, tosa::reshape>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    e.set_output(e.input(a.input1));
}
void evaluate(tosa::concat, const args<tosa::concat>& a, evaluation& e) { concatenate(e, a.input1, a.axis); }
void evaluate(tosa::pad, const args<tosa::pad>& a, evaluation& e) {
    const tensor& in = e.input(a.input1);
    const std::vector<std::int64_t> padding = e.input(a.padding).to<std::int64_t>();
    if (padding.size() != 2 * in.rank()) return e.fail("padding has the wrong length");
    e.set_output(duplicate(broadcast_to(e.input(a.pad_const).reshaped({}), e.output_shape())));
    copy_by_axis(e.output(), in, [&](std::size_t d, std::int64_t i) {
        const std::int64_t from = i - padding[2 * d];
        return from < in.dim(d) ? from : -1;
    });
}
void evaluate(tosa::reverse, const args<tosa::reverse>& a, evaluation& e) {
    const tensor& in = e.input(a.input1);
    const std::size_t axis = wrap_axis(a.axis, in.rank());
    copy_by_axis(
        e.output(), in, [&](std::size_t d, std::int64_t i) { return d == axis ? in.dim(d) - 1 - i : i; });
}
void evaluate(tosa::slice, const args<tosa::slice>& a, evaluation& e) {
    const tensor& in = e.input(a.input1);
    const std::vector<std::int64_t> start = e.input(a.start).to<std::int64_t>();
    if (start.size() != in.rank()) return e.fail("start has the wrong length");
    for (std::size_t d = 0; d != in.rank(); ++d) {
        if (start[d] < 0 || start[d] + e.output().dim(d) > in.dim(d))
            return e.fail("reads outside its operand");
    }
    copy_by_axis(e.output(), in, [&](std::size_t d, std::int64_t i) { return start[d] + i; });
}
void evaluate(tosa::tile, const args<tosa::tile>& a, evaluation& e) { repeat_into(e, a.input1); }
void evaluate(tosa::transpose, const args<tosa::transpose>& a, evaluation& e) {
    std::vector<std::size_t> order;
    for (const std::int64_t d : a.perms) order.push_back(idx(d));
    permute_into(e, a.input1, order);
}

/// values [N, K, C], indices [N, W], result [N, W, C]; scatter swaps values and result.
template <class F>
void for_each_row(evaluation& e, const tensor& at, std::int64_t rows, std::int64_t channels, F f) {
    const std::vector<std::int64_t> indices = at.to<std::int64_t>();
    const std::int64_t width = at.dim(1);
    for (std::size_t i = 0; i != indices.size(); ++i) {
        const std::int64_t k = indices[i];
        if (k < 0 || k >= rows) return e.fail("index " + std::to_string(k) + " is out of range");
        const std::size_t from = idx((static_cast<std::int64_t>(i) / width * rows + k) * channels);
        for (std::size_t c = 0; c != idx(channels); ++c) f(i * idx(channels) + c, from + c);
    }
}
void evaluate(tosa::gather, const args<tosa::gather>& a, evaluation& e) {
    const tensor& values = e.input(a.values);
    move_elements(e.output(), values,
        [&](auto move) { for_each_row(e, e.input(a.indices), values.dim(1), values.dim(2), move); });
}
void evaluate(tosa::scatter, const args<tosa::scatter>& a, evaluation& e) {
    const tensor& in = e.input(a.input);
    e.set_output(duplicate(e.input(a.values_in)));
    move_elements(e.output(), in, [&](auto move) {
        for_each_row(e, e.input(a.indices), e.output().dim(1), in.dim(2),
            [&](std::size_t i, std::size_t k) { move(k, i); });
    });
}

// --- RESIZE ----------------------------------------------------------------------------

/// The source of one result along an axis: between two elements, `rest` of `parts` past the first.
struct resize_position {
    std::int64_t first, second, rest, parts;
};
[[nodiscard]] inline resize_position position_along(std::int64_t o, std::int64_t numerator,
    std::int64_t denominator, std::int64_t offset, std::int64_t size) {
    const std::int64_t at = o * denominator + offset;
    const std::int64_t whole = quotient_floor()(at, numerator);
    return {std::clamp<std::int64_t>(whole, 0, size - 1), std::clamp<std::int64_t>(whole + 1, 0, size - 1),
        at - whole * numerator, numerator};
}
[[nodiscard]] inline std::vector<resize_position> positions_along(std::int64_t count, std::int64_t numerator,
    std::int64_t denominator, std::int64_t offset, std::int64_t size) {
    std::vector<resize_position> all;
    for (std::int64_t o = 0; o != count; ++o)
        all.push_back(position_along(o, numerator, denominator, offset, size));
    return all;
}
/// Bilinear weights add up to 1 in floats, and to parts * parts in integers.
template <class T>
[[nodiscard]] T resized(
    const std::array<T, 4>& corners, const resize_position& y, const resize_position& x, resize_mode mode) {
    if (mode == resize_mode::nearest) {
        return corners[(2 * y.rest >= y.parts ? 2U : 0U) + (2 * x.rest >= x.parts ? 1U : 0U)];
    }
    const auto weight = [](const resize_position& p, bool second) {
        const std::int64_t parts = second ? p.rest : p.parts - p.rest;
        return std::is_same_v<T, double> ? static_cast<T>(parts) / static_cast<T>(p.parts)
                                         : static_cast<T>(parts);
    };
    T sum{};
    for (std::size_t k = 0; k != 4; ++k) {
        const T by = weight(y, k / 2 != 0) * weight(x, k % 2 != 0);
        if (by != T{}) sum += corners[k] * by;
    }
    return sum;
}
void evaluate(tosa::resize, const args<tosa::resize>& a, evaluation& e) {
    const tensor& in = e.input(a.input);
    const std::vector<std::int64_t> scale = e.input(a.scale).to<std::int64_t>();
    const std::vector<std::int64_t> offset = e.input(a.offset).to<std::int64_t>();
    const bool sound = scale.size() == 4 && offset.size() == 2 && scale[0] > 0 && scale[2] > 0;
    if (!sound) return e.fail("bad scale or offset");
    const auto ys = positions_along(e.output().dim(1), scale[0], scale[1], offset[0], in.dim(1));
    const auto xs = positions_along(e.output().dim(2), scale[2], scale[3], offset[1], in.dim(2));
    visit_compute(e.output_type(), [&]<class T>(T) {
        const std::vector<T> numbers = in.to<T>();
        std::vector<T> results;
        results.reserve(idx(e.output().size()));
        const auto resize_row = [&](std::int64_t above, std::int64_t below, const resize_position& y) {
            for (const resize_position& x : xs) {
                for (std::int64_t c = 0; c != in.dim(3); ++c) {
                    const auto at = [&](std::int64_t row, std::int64_t column) {
                        return numbers[idx((row * in.dim(2) + column) * in.dim(3) + c)];
                    };
                    results.push_back(resized<T>(
                        {at(above, x.first), at(above, x.second), at(below, x.first), at(below, x.second)}, y,
                        x, a.mode));
                }
            }
        };
        for (std::int64_t n = 0; n != in.dim(0); ++n) {
            for (const resize_position& y : ys)
                resize_row(n * in.dim(1) + y.first, n * in.dim(1) + y.second, y);
        }
        e.output().assign(results);
    });
}

// --- control flow and variables --------------------------------------------------------

void evaluate(tosa::cond_if, const args<tosa::cond_if>& a, evaluation& e) {
    branch(e, a.condition, a.then_graph, a.else_graph, a.inputs);
}
void evaluate(tosa::while_loop, const args<tosa::while_loop>& a, evaluation& e) {
    loop(e, a.cond_graph, a.body_graph, a.inputs, {});
}
/// The initial value is used only until the first run.
void evaluate(tosa::variable, const args<tosa::variable>& a, evaluation& e) {
    const tensor_meta meta{a.type, a.shape};
    const extents shape(a.shape.begin(), a.shape.end());
    const bool given = a.initial_value.bytes != nullptr;
    const tensor initial = given ? tensor_of_constant(a.initial_value, meta) : tensor(a.type, shape);
    e.variables().try_emplace(std::string(a.variable_name), initial);
}
void evaluate(tosa::variable_write, const args<tosa::variable_write>& a, evaluation& e) {
    // A variable outlives the arena that may hold its value.
    const tensor& given = e.input(a.input1);
    e.variables()[std::string(a.variable_name)] = e.state().arena == nullptr ? given : duplicate(given);
}
void evaluate(tosa::variable_read, const args<tosa::variable_read>& a, evaluation& e) {
    const auto found = e.variables().find(a.variable_name);
    if (found == e.variables().end())
        return e.fail("variable " + std::string(a.variable_name) + " is not declared");
    if (found->second.shape() != e.output_shape()) return e.fail("the variable has a different shape");
    e.set_output(found->second);
}

constexpr auto kernel = [](auto op, const auto& a, evaluation& e) -> decltype(evaluate(op, a, e)) {
    evaluate(op, a, e);
};

}  // namespace

const kernel_list tosa_layout_kernels = kernels_of<tosa::dialect>(kernel);

}  // namespace headrace::eval
