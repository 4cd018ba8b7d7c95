// SPDX-License-Identifier: MIT
// Defines headrace::decompose_matmul.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_MATMUL_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_MATMUL_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Products of vectors and matrices as `bmm`, the only one that TOSA has: operands gain axes of size 1,
/// batches broadcast (torch.matmul). addmm and baddbmm are beta * self + alpha * product; a factor of 1 is
/// left out, and a beta of 0 ignores self, NaN included. linear stays, unless its weight is a vector.
struct decompose_matmul : pass {
    using phase = decomposition;
    using targets = ops<aten::mm, aten::mv, aten::dot, aten::outer, aten::matmul, aten::addmm, aten::baddbmm,
                        aten::linear>;
    using produces = ops<aten::bmm, aten::view, aten::expand, aten::mul_tensor, aten::add_tensor>;

    value operator()(const args<aten::mm>& a, emit<produces>& e) const { return product(e, a.self, a.mat2); }
    value operator()(const args<aten::mv>& a, emit<produces>& e) const { return product(e, a.self, a.vec); }
    value operator()(const args<aten::dot>& a, emit<produces>& e) const {
        return product(e, a.self, a.tensor);
    }
    value operator()(const args<aten::matmul>& a, emit<produces>& e) const {
        return product(e, a.self, a.other);
    }
    value operator()(const args<aten::outer>& a, emit<produces>& e) const {
        const value column = e.make<aten::view>({.self = a.self, .size = {-1, 1}});
        const value row = e.make<aten::view>({.self = a.vec2, .size = {1, -1}});
        return e.make<aten::mul_tensor>(column, row);
    }
    value operator()(const args<aten::addmm>& a, emit<produces>& e) const {
        return sum(e, a.self, a.beta, product(e, a.mat1, a.mat2), a.alpha);
    }
    value operator()(const args<aten::baddbmm>& a, emit<produces>& e) const {
        return sum(e, a.self, a.beta, product(e, a.batch1, a.batch2), a.alpha);
    }
    std::optional<value> operator()(const args<aten::linear>& a, emit<produces>& e) const {
        if (e.rank(a.weight) != 1) return std::nullopt;
        const value v = product(e, a.input, a.weight);
        return a.bias ? e.make<aten::add_tensor>(v, *a.bias) : v;
    }

private:
    static value scaled(emit<produces>& e, value v, scalar factor) {
        if (factor.to_double() == 1) return v;
        return e.make<aten::mul_tensor>(v, e.splat(factor, e.dtype(v), e.rank(v)));
    }
    static value sum(emit<produces>& e, value self, scalar beta, value product, scalar alpha) {
        product = scaled(e, product, alpha);
        return beta.to_double() == 0 ? product : e.make<aten::add_tensor>(scaled(e, self, beta), product);
    }

    // [batch…, rows, inner] x [batch…, inner, columns].
    static value product(emit<produces>& e, value a, value b) {
        const int_list result = e.result_meta().shape;
        if (e.rank(a) == 1) a = e.make<aten::view>({.self = a, .size = {1, -1}});
        if (e.rank(b) == 1) b = e.make<aten::view>({.self = b, .size = {-1, 1}});
        const sizes shape_a = e.shape(a);
        const sizes shape_b = e.shape(b);
        if (shape_a.size() < 2 || shape_b.size() < 2) return {};
        auto batch = broadcast(shape_a.first(shape_a.size() - 2), shape_b.first(shape_b.size() - 2));
        if (!batch) return e.fail(std::move(batch).error());
        if (shape_b.size() == 2 && shape_a.size() > 2) {  // one matrix for all batches: they are rows
            const std::int64_t inner = shape_a.back();
            const value rows = e.make<aten::view>(
                {.self = a, .size = {1, element_count(shape_a) / std::max<std::int64_t>(inner, 1), inner}});
            const value one = e.make<aten::view>({.self = b, .size = {1, shape_b[0], shape_b[1]}});
            return e.make<aten::view>({.self = e.make<aten::bmm>(rows, one), .size = result});
        }
        const value made = e.make<aten::bmm>(batched(e, a, batch.value()), batched(e, b, batch.value()));
        return e.make<aten::view>({.self = made, .size = result});
    }

    // Broadcast to the batch, and its axes as one.
    static value batched(emit<produces>& e, value v, sizes batch) {
        const sizes shape = e.shape(v);
        const sizes matrix = shape.last(2);
        shape_builder wide(batch);
        wide.append(matrix);
        if (int_list(wide) != e.shape(v)) v = e.make<aten::expand>({.self = v, .size = int_list(wide)});
        if (wide.size() == 3) return v;
        return e.make<aten::view>({.self = v, .size = {element_count(batch), matrix[0], matrix[1]}});
    }
};

}  // namespace headrace

#endif
