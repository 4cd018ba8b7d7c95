// SPDX-License-Identifier: MIT
// Defines headrace::canonicalize_arithmetic.
#ifndef HEADRACE_PASSES_NORMALIZE_CANONICALIZE_ARITHMETIC_HPP
#define HEADRACE_PASSES_NORMALIZE_CANONICALIZE_ARITHMETIC_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Ops that are another one with its arguments in other places: rsub(a, b) = b - α·a, square(x) = x², and the
/// number on the left of remainder, which becomes a tensor.
struct canonicalize_arithmetic : pass {
    using runs_after = pass_list<canonical_variants>;
    using ensures = pass_list<canonical_arithmetic>;
    using targets = ops<aten::rsub_tensor, aten::rsub_scalar, aten::square, aten::remainder_scalar_tensor>;
    using produces = ops<aten::sub_tensor, aten::pow_tensor_scalar, aten::remainder_tensor>;

    value operator()(const args<aten::rsub_tensor>& a, emit<produces>& e) const {
        return e.make<aten::sub_tensor>({.self = a.other, .other = a.self, .alpha = a.alpha});
    }
    value operator()(const args<aten::rsub_scalar>& a, emit<produces>& e) const {
        const value number = e.splat(a.other, result_type(e.meta(a.self), a.other), e.rank(a.self));
        return e.make<aten::sub_tensor>({.self = number, .other = a.self, .alpha = a.alpha});
    }
    value operator()(const args<aten::square>& a, emit<produces>& e) const {
        return e.make<aten::pow_tensor_scalar>({.self = a.self, .exponent = 2});
    }
    value operator()(const args<aten::remainder_scalar_tensor>& a, emit<produces>& e) const {
        const value number = e.splat(a.self, result_type(e.meta(a.other), a.self), e.rank(a.other));
        return e.make<aten::remainder_tensor>(number, a.other);
    }
};

}  // namespace headrace

#endif
