// SPDX-License-Identifier: MIT
// Checks the standard passes while it compiles: each that is not over the whole graph has rules instead of
// handlers, and says in one line what it does. checks/defined_once.py reads the object.
#include <headrace/headrace.hpp>
#include <headrace/passes/cortex_m_lowering.hpp>
#include <headrace/passes/passes.hpp>

using namespace headrace;

namespace {

// One at a time, so that an error names the pass.
template <class P>
constexpr bool check() {
    static_assert(graph_pass<P> || !detail::has_handlers<P>, "a standard pass has handlers: write rules");
    static_assert(pass_summary<P>().size() <= 90, "a summary is one line");
    return true;
}
template <class... Passes>
constexpr bool check_all(pass_list<Passes...>) {
    return (check<Passes>() && ...);
}
static_assert(check_all(normalize_passes{}) && check_all(tabulate_passes{}) &&
    check_all(decompose_passes{}) && check_all(quantize_passes{}) && check_all(legalize_passes{}) &&
    check_all(layout_passes{}) && check_all(npu_passes{}) && check_all(u55_passes{}) &&
    check_all(on_chip_passes{}) &&
    check_all(fold_passes{}) && check_all(cortex_m_lowering::passes{}) &&
    check_all(pass_list<widen_unsigned, store_unsigned, narrow_int64, pack_int4_weights>{}));

}  // namespace

int main() {}
