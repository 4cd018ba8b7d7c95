// SPDX-License-Identifier: MIT
// Defines an interpreter whose hook before the traversal has the wrong signature: nothing would call it.
// EXPECT: export_pass: its hook `call` has the wrong signature
// EXPECT: hook_not_called<remove_noop>

#include <headrace/fx/export_pass.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct remove_noop : export_pass<remove_noop> {
    using targets = ops<toy::identity>;
    void call(graph&) {}
    value call_operator(const args<toy::identity>& a, const node_metadata&) { return a.self; }
};

result<std::size_t> run(graph& g, pass_context& context) { return remove_noop()(g, context); }
