// SPDX-License-Identifier: MIT
// Defines headrace::fold_rescaled_constants, which computes tables.
#ifndef HEADRACE_PASSES_CORTEX_M_FOLD_RESCALED_CONSTANTS_HPP
#define HEADRACE_PASSES_CORTEX_M_FOLD_RESCALED_CONSTANTS_HPP

#include <headrace/passes/fold/fold_constants.hpp>

namespace headrace {

/// Computes what fold_constants does, and RESCALEs of constants, for which a core has no kernel.
struct fold_rescaled_constants : pass {
    using runs_after = pass_list<functional, no_dead_code>;
    using ensures = pass_list<constants_folded>;
    static constexpr std::string_view summary =
        "computes nodes whose operands are constants, RESCALEs among them";
    using produces = ops<builtin::constant>;

    result<std::size_t> operator()(graph& g, pass_context& context) const {
        return sum_over_graphs(
            g, [&](graph& sub) { return detail::constant_folder(sub, context.evaluator(), true).fold(); });
    }
};

}  // namespace headrace

#endif
