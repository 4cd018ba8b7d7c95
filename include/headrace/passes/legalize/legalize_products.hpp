// SPDX-License-Identifier: MIT
// Defines headrace::legalize_products.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_PRODUCTS_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_PRODUCTS_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/casting.hpp>
#include <headrace/passes/support/reducing.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Lowers products to REDUCE_PRODUCT (TOSA 1.0, 2.8.5), which takes floats alone; of integers, halves of the
/// axis are multiplied until one element is left.
struct legalize_products : pass {
    using phase = legalization;
    using targets = ops<aten::prod, aten::prod_dim_int>;
    using produces = joined<build::cast_ops, build::reshape_ops, build::slice_ops, build::concat_ops,
                            ops<tosa::reduce_product, tosa::mul>>;

    template <one_of<targets> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const dtype type = build::lowered(e.result_meta().dtype);
        const value wide = build::cast(e, build::cast(e, a.self, type), build::summing_type(type));
        const value product = build::reduce(e, wide, a, [&](value v, std::size_t axis) {
            if (!is_floating(type)) return halved(e, v, axis);
            return e.make<tosa::reduce_product>({.input = v, .axis = static_cast<std::int64_t>(axis)});
        });
        return build::cast(e, product, type);
    }

private:
    static value halved(emit<produces>& e, value v, std::size_t axis) {
        for (std::int64_t size = e.shape(v)[axis]; size > 1 && v; size = (size + 1) / 2) {
            const std::int64_t half = size / 2;
            const value product = build::binary<tosa::mul>(e, build::slice(e, v, axis, 0, half),
                                                           build::slice(e, v, axis, half, half));
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

}  // namespace headrace

#endif
