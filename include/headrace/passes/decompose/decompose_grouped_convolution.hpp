// SPDX-License-Identifier: MIT
// Defines headrace::decompose_grouped_convolution.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_GROUPED_CONVOLUTION_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_GROUPED_CONVOLUTION_HPP

#include <headrace/pass/arithmetic.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/convolution.hpp>

namespace headrace {

struct decompose_transposed_volumes;
/// TOSA supports only the two extremes, one group and depthwise (TOSA 1.0, 2.2.3 and 2.2.5); these are kept.
struct decompose_grouped_convolution : pass {
    using phase = decomposition;
    using runs_after = pass_list<canonical_convolutions>;
    using runs_before = pass_list<decompose_transposed_volumes>;
    static constexpr std::string_view summary =
        "a grouped convolution as one convolution for each group, concatenated";

    using targeted_ops = ops<aten::convolution>;
    using produces = ops<aten::convolution, aten::slice_tensor, aten::cat>;

    std::optional<value> operator()(const args<aten::convolution>& a, emit<produces>& e) const {
        if (a.groups == 1 || is_depthwise(e, a)) return std::nullopt;
        if (!e.may_unroll(a.groups)) return value{};
        value_list parts;
        for (std::int64_t group = 0; group != a.groups; ++group) {
            const auto part = [&](value v, std::int64_t axis) {
                return e.build(
                    [&](auto x) {
                        const std::int64_t share = x.size(axis) / a.groups;
                        return call<aten::slice_tensor>(x, axis, group * share, (group + 1) * share);
                    },
                    v);
            };
            args<aten::convolution> one = a;
            one.groups = 1;
            one.input = part(a.input, 1);
            one.weight = part(a.weight, 0);
            if (a.bias) one.bias = part(*a.bias, 0);
            parts.push_back(e.make<aten::convolution>(one));
        }
        return e.make<aten::cat>({.tensors = parts, .dim = 1});
    }
};
HEADRACE_COMPILED_PASS(decompose_grouped_convolution);

}  // namespace headrace

#endif
