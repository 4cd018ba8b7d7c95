// SPDX-License-Identifier: MIT
// Defines an interpreter whose call_operator is for an op that is not among its targets: nothing calls it.
// EXPECT: export_pass: nothing would call its call_operator
// EXPECT: no_targets<remove_noop>

#include <headrace/fx/export_pass.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct remove_noop : export_pass<remove_noop> {
    using targets = ops<toy::identity>;
    value call_operator(const args<toy::identity>& a, const node_metadata&) { return a.self; }
};

result<std::size_t> run(graph& g, pass_context& context) { return remove_noop()(g, context); }
