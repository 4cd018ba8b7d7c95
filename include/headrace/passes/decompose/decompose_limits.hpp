// SPDX-License-Identifier: MIT
// Defines headrace::decompose_limits.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_LIMITS_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_LIMITS_HPP

#include <headrace/passes/support/formula.hpp>

namespace headrace {

/// clamp with tensors as limits is min(max(x, low), high); clamp_min and clamp_max with numbers are clamp
/// with one.
struct decompose_limits : pass {
    using targets = ops<aten::clamp_tensor, aten::clamp_min_tensor, aten::clamp_max_tensor, aten::clamp_min,
                        aten::clamp_max>;
    using produces = ops<aten::maximum, aten::minimum, aten::clamp, aten::_to_copy>;

    value operator()(const args<aten::clamp_tensor>& a, emit<produces>& e) const {
        value v = a.self;
        if (a.min) v = e.make<aten::maximum>(v, *a.min);
        if (a.max) v = e.make<aten::minimum>(v, *a.max);
        return in_result_type(formula::term_of(e, v));
    }
    value operator()(const args<aten::clamp_min_tensor>& a, emit<produces>& e) const {
        return e.make<aten::maximum>(a.self, a.min);
    }
    value operator()(const args<aten::clamp_max_tensor>& a, emit<produces>& e) const {
        return e.make<aten::minimum>(a.self, a.max);
    }
    value operator()(const args<aten::clamp_min>& a, emit<produces>& e) const {
        return e.make<aten::clamp>({.self = a.self, .min = a.min});
    }
    value operator()(const args<aten::clamp_max>& a, emit<produces>& e) const {
        return e.make<aten::clamp>({.self = a.self, .max = a.max});
    }
};

}  // namespace headrace

#endif
