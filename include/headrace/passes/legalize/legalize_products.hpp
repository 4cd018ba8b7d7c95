// SPDX-License-Identifier: MIT
// Defines headrace::legalize_products.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_PRODUCTS_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_PRODUCTS_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/legalize/promoting.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/reducing.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Lowers products to REDUCE_PRODUCT (TOSA 1.0, 2.8.5), which takes floats only; for integers, the halves of
/// the axis are multiplied until one element is left.
struct legalize_products : pass {
    using phase = legalization;
    static constexpr std::string_view summary = "prod to REDUCE_PRODUCT, or to products of halves";
    using targeted_ops = ops<aten::prod, aten::prod_dim_int>;
    using halving_ops = joined<build::slice_ops, build::concat_ops, ops<tosa::mul>>;
    using produces = joined<build::widen_ops, build::reshape_ops, halving_ops, ops<tosa::reduce_product>>;

    template <one_of<targeted_ops> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const dtype type = narrowed(e.result_meta().dtype);
        const value wide = build::widen(e, build::widen(e, a.self, type), build::summing_type(type));
        const value product = build::reduce(e, wide, a, [&](value v, std::size_t axis) {
            return is_floating(type) ? build::along<tosa::reduce_product>(e, v, axis) : halved(e, v, axis);
        });
        return build::cast_directly(e, product, type);
    }

private:
    static value halved(emit<halving_ops> e, value v, std::size_t axis) {
        for (std::int64_t size = e.shape(v)[axis]; size > 1 && v; size = (size + 1) / 2) {
            const std::int64_t half = size / 2;
            const value product =
                build::multiply(e, build::slice(e, v, axis, 0, half), build::slice(e, v, axis, half, half));
            if (size % 2 == 0) {
                v = product;
            } else {
                const value parts[] = {product, build::slice(e, v, axis, size - 1, 1)};
                v = build::concat(e, parts, axis);
            }
        }
        return v;
    }
};
HEADRACE_COMPILED_PASS(legalize_products);

}  // namespace headrace

#endif
