// SPDX-License-Identifier: MIT
// Defines an interpreter that has no call_operator for one of its targets.
// EXPECT: export_pass: a target has no call_operator
// EXPECT: no_handler<remove_noop, headrace::toy::relu6>

#include <headrace/fx/export_pass.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct remove_noop : export_pass<remove_noop> {
    using targets = ops<toy::identity>;
    value call_operator(const args<toy::identity>& a, const node_metadata&) { return a.self; }
};

result<std::size_t> run(graph& g, pass_context& context) { return remove_noop()(g, context); }
