// SPDX-License-Identifier: MIT
// Defines headrace::remove_dead_code.
#ifndef HEADRACE_PASSES_FOLD_REMOVE_DEAD_CODE_HPP
#define HEADRACE_PASSES_FOLD_REMOVE_DEAD_CODE_HPP

#include <headrace/ir/dead_code.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// See ir/dead_code.hpp.
struct remove_dead_code : pass {
    using runs_after = pass_list<functional>;
    using ensures = pass_list<no_dead_code>;
    static constexpr std::string_view summary = "removes nodes that no output and no effect depends on";
    static constexpr bool repeatable = true;

    using produces = ops<>;

    result<std::size_t> operator()(graph& g, pass_context&) const { return eliminate_dead_code(g); }
};
HEADRACE_COMPILED_PASS(remove_dead_code);

}  // namespace headrace

#endif
