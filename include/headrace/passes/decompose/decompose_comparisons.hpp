// SPDX-License-Identifier: MIT
// Defines headrace::decompose_comparisons.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_COMPARISONS_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_COMPARISONS_HPP

#include <headrace/infer/aten.hpp>
#include <headrace/op/aten.hpp>
#include <headrace/pass/pass.hpp>

namespace headrace {

/// TOSA compares with EQUAL, GREATER and GREATER_EQUAL only (spec 2.7): a < b is b > a, a <= b is b >= a, and
/// a != b is not (a == b), for NaN, too.
struct decompose_comparisons : pass {
    using targets = ops<aten::lt_tensor, aten::le_tensor, aten::ne_tensor>;
    using produces = ops<aten::gt_tensor, aten::ge_tensor, aten::eq_tensor, aten::logical_not>;

    value operator()(const args<aten::lt_tensor>& a, emit<produces>& e) const {
        return e.make<aten::gt_tensor>(a.other, a.self);
    }
    value operator()(const args<aten::le_tensor>& a, emit<produces>& e) const {
        return e.make<aten::ge_tensor>(a.other, a.self);
    }
    value operator()(const args<aten::ne_tensor>& a, emit<produces>& e) const {
        return e.make<aten::logical_not>(e.make<aten::eq_tensor>(a.self, a.other));
    }
};

}  // namespace headrace

#endif
