// SPDX-License-Identifier: MIT
// Defines headrace::require_integer_kernels, which refuses what no integer kernel computes.
#ifndef HEADRACE_PASSES_CORTEX_M_REQUIRE_INTEGER_KERNELS_HPP
#define HEADRACE_PASSES_CORTEX_M_REQUIRE_INTEGER_KERNELS_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/cortex_m.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Refuses the operators of TOSA that are left.
struct require_integer_kernels : pass {
    static constexpr std::string_view summary = "refuses TOSA operators that no integer kernel computes";
    using targeted_ops = tosa::dialect::all_ops;
    using removes = targeted_ops;
    using produces = ops<>;

    result<std::size_t> operator()(graph& g, pass_context& context) const {
        for_each_node(g, [&](const node& n) {
            if (!is_of_dialect<tosa::dialect>(n) || is<tosa::const_shape>(n)) return;
            context.report(n,
                text_of({"no integer kernel for Cortex-M computes ", n.op->name,
                    " with these types and arguments"}));
        });
        return 0;
    }
};

}  // namespace headrace

#endif
