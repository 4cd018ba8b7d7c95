// SPDX-License-Identifier: MIT
// The passes of passes/layout, passes/fold and passes/finish are declared here.
#include <headrace/passes/declare/declarations.hpp>
#include <headrace/passes/finish/finish.hpp>
#include <headrace/passes/fold/fold.hpp>
#include <headrace/passes/layout/layout.hpp>

void headrace::declare::declare_layout(declarations& out) {
    out.add_all(layout_passes{});
    out.add_all(cleanup_passes{});
    out.add_all(fold_passes{});
    out.add_all(pass_list<ensure_distinct_outputs, sort_topologically>{});
}
