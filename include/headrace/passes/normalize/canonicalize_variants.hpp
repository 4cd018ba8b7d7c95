// SPDX-License-Identifier: MIT
// Defines headrace::canonicalize_variants.
#ifndef HEADRACE_PASSES_NORMALIZE_CANONICALIZE_VARIANTS_HPP
#define HEADRACE_PASSES_NORMALIZE_CANONICALIZE_VARIANTS_HPP

#include <headrace/infer/aten.hpp>
#include <headrace/op/aten.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/support/op_map.hpp>

namespace headrace {

/// Replaces in-place ops and `_copy` variants of views by their functional forms, so that later passes know each op
/// under one name. Values are immutable, which makes them the same once `functionalize` has redirected the readers of
/// what an in-place op changes.
struct canonicalize_variants : pass {
    using table = op_map<
        becomes<aten::abs_inplace, aten::abs>,
        becomes<aten::add_inplace_scalar, aten::add_scalar>,
        becomes<aten::add_inplace_tensor, aten::add_tensor>,
        becomes<aten::ceil_inplace, aten::ceil>,
        becomes<aten::celu_inplace, aten::celu>,
        becomes<aten::clamp_inplace, aten::clamp>,
        becomes<aten::div_inplace_scalar, aten::div_scalar>,
        becomes<aten::div_inplace_tensor, aten::div_tensor>,
        becomes<aten::elu_inplace, aten::elu>,
        becomes<aten::relu_inplace, aten::relu>>;
    using targets = table::keys;
    using produces = table::values;

    template <one_of<targets> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        using to = table::at<Op>;
        return e.make<to>(std::bit_cast<args<to>>(a));
    }
};

}  // namespace headrace

#endif
