// SPDX-License-Identifier: MIT
// Defines headrace::decompose_matmul.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_MATMUL_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_MATMUL_HPP

#include <algorithm>

#include <headrace/infer/shape_builder.hpp>
#include <headrace/pass/arithmetic.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// `bmm` is TOSA's only product: operands gain axes of size 1, and batches are broadcast (torch.matmul). A
/// beta of 0 ignores self, including NaN. linear is kept, unless its weight is a vector or it takes integers.
struct decompose_matmul : pass {
    using phase = decomposition;
    static constexpr std::string_view summary =
        "mm, mv, dot, matmul as bmm; addmm as beta·self + alpha·product";

    static auto rewrites() {
        return rules(
            on<aten::mm, aten::mv, aten::dot, aten::matmul> = [](auto x, auto y) { return product(x, y); },
            on<aten::outer> =
                [](auto x, auto y) {
                    return call<aten::view>(x, int_list{-1, 1}) * call<aten::view>(y, int_list{1, -1});
                },
            on<aten::addmm, aten::baddbmm> =
                [](auto self, auto x, auto y, const auto& a) {
                    const auto xy = scaled(product(x, y), a.alpha);
                    return choose(a.beta.to_double() == 0, xy, [&] { return scaled(self, a.beta) + xy; });
                },
            on<aten::linear> =
                [](auto x, auto weight, const auto& a) {
                    const auto with_bias = [](auto v, auto bias) { return v + bias; };
                    return choose(
                        weight.rank() == 1,
                        [&] { return with_operand(product(x, weight), a.bias, with_bias); },
                        is_integral(x.dtype()),
                        [&] {
                            const auto columns = call<aten::permute>(weight, int_list{1, 0});
                            return with_operand(product(x, columns), a.bias, with_bias);
                        },
                        unchanged);
                });
    }

private:
    static auto product(const auto& x, const auto& y) {
        using made = ops<aten::bmm, aten::view, aten::expand>;
        return code<made>([](emit<made> e, value a, value b) { return product_of(e, a, b); }, x, y);
    }
    // [batch…, rows, inner] x [batch…, inner, columns].
    static value product_of(emit<ops<aten::bmm, aten::view, aten::expand>> e, value a, value b) {
        const int_list result = e.result_meta().shape;
        if (e.rank(a) == 1) a = e.make<aten::view>({.self = a, .size = {1, -1}});
        if (e.rank(b) == 1) b = e.make<aten::view>({.self = b, .size = {-1, 1}});
        const sizes shape_a = e.shape(a);
        const sizes shape_b = e.shape(b);
        if (shape_a.size() < 2 || shape_b.size() < 2) return {};
        auto batch = broadcast(shape_a.first(shape_a.size() - 2), shape_b.first(shape_b.size() - 2));
        if (!batch) return e.fail(std::move(batch).error());
        if (shape_b.size() == 2 && shape_a.size() > 2) {  // one matrix for all batches: these become rows
            const std::int64_t inner = shape_a.back();
            const std::int64_t rows = element_count(shape_a) / std::max<std::int64_t>(inner, 1);
            a = e.make<aten::view>({.self = a, .size = {1, rows, inner}});
            b = e.make<aten::view>({.self = b, .size = {1, shape_b[0], shape_b[1]}});
        } else {
            a = batched(e, a, batch.value());
            b = batched(e, b, batch.value());
        }
        return e.make<aten::view>({.self = e.make<aten::bmm>(a, b), .size = result});
    }
    // Broadcasts to the batch, and joins its axes into one.
    static value batched(emit<ops<aten::view, aten::expand>> e, value v, sizes batch) {
        const sizes shape = e.shape(v);
        const sizes matrix = shape.last(2);
        shape_builder wide(batch);
        wide.append(matrix);
        if (int_list(wide) != e.shape(v)) v = e.make<aten::expand>({.self = v, .size = int_list(wide)});
        if (wide.size() == 3) return v;
        return e.make<aten::view>({.self = v, .size = {element_count(batch), matrix[0], matrix[1]}});
    }
};
HEADRACE_COMPILED_PASS(decompose_matmul);

}  // namespace headrace

#endif
