// SPDX-License-Identifier: MIT
// Defines headrace::canonicalize_casts.
#ifndef HEADRACE_PASSES_NORMALIZE_CANONICALIZE_CASTS_HPP
#define HEADRACE_PASSES_NORMALIZE_CANONICALIZE_CASTS_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/dim_order_ops.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/infer/dim_order_ops.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Makes every way to cast the one op aten._to_copy, with nothing but a dtype: devices, memory formats and
/// orders of dimensions do not change values. copy(self, src) is src, in the type and the shape of self.
/// Where the target has no floats, booleans become those as the integers 0 and 1, which can be quantized.
struct canonicalize_casts : pass {
    using runs_after = pass_list<canonical_variants>;
    using ensures = pass_list<canonical_casts>;
    using targets = ops<aten::to_dtype, aten::to_device, aten::to_dtype_layout, aten::to_other, aten::type_as,
                        dim_order_ops::_to_dim_order_copy, aten::copy>;
    using produces = ops<aten::_to_copy, aten::expand>;

    template <one_of<targets> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        value v = a.self;
        const dtype type = e.result_meta().dtype;
        if (is_boolean(e.dtype(v)) && is_floating(type) && !e.target().has(target_feature::profile_fp))
            v = e.make<aten::_to_copy>({.self = v, .dtype = dtype::int8});
        return e.make<aten::_to_copy>({.self = v, .dtype = type});
    }
    value operator()(aten::copy, const args<aten::copy>& a, emit<produces>& e) const {
        value v = a.src;
        const dtype type = e.dtype(a.self);
        if (e.dtype(v) != type) v = e.make<aten::_to_copy>({.self = v, .dtype = type});
        const int_list& shape = e.shape(a.self);
        return e.shape(v) == shape ? v : e.make<aten::expand>({.self = v, .size = shape});
    }
};

}  // namespace headrace

#endif
