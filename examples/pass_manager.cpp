// SPDX-License-Identifier: MIT
// A pipeline that is assembled at run time: passes by name, in an order that is solved, with checks.
#include <cstdio>

//! [manager]
#include <headrace/fx/pass_manager.hpp>

#include "my_passes.hpp"
//! [manager]
#include <headrace/infer/graph_builder.hpp>
#include <headrace/ir/listing.hpp>

//! [manager]
using namespace headrace;

/// A pass over the whole graph that has data and checks its preconditions.
struct replace_op : pass_base<replace_op> {
    replace_op(const op_info& a, const op_info& b) : from(&a), to(&b) {}

    result<std::size_t> call(graph& g, pass_context&) const {
        std::size_t replaced = 0;
        while (!g.nodes_of(*from).empty()) {
            node& old = *g.nodes_of(*from).begin();
            node& made = g.create(*to, old.arguments, 1, &old);  // the two have the same arguments
            g.set_meta(made.result(), *meta_of(old.result()));
            g.replace_all_uses(old.result(), made.result());
            g.erase(old);
            ++replaced;
        }
        return replaced;
    }
    result<void> require(const graph& g) const {
        if (g.census().count(*from) == 0) return invalid("there is no " + std::string(from->name));
        return {};
    }

    const op_info* from;
    const op_info* to;
};

result<void> has_no_sigmoid(const graph& g) {
    if (g.census().count(info_of<aten::sigmoid>) == 0) return {};
    return invalid("a sigmoid is left");
}

pass_registry my_passes() {
    pass_registry registry(pass_list<my::decompose_swish, my::lower_scale_shift>{});
    registry.add(any_pass("sigmoid_to_tanh", replace_op(info_of<aten::sigmoid>, info_of<aten::tanh>)));
    return registry;
}

// lower_scale_shift requires decompose_swish before it: it is moved.
pass_manager my_manager(const pass_registry& registry) {
    pass_manager manager(registry.select("lower_scale_shift,decompose_swish,sigmoid_to_tanh").value(),
        {.run_checks_after_each_pass = true, .suppress_check_failures = true});
    manager.add_checks(&has_no_sigmoid);
    return manager;
}
//! [manager]

int main() {
    const pass_registry registry = my_passes();
    pass_manager manager = my_manager(registry);
    graph g;
    graph_builder b(g);
    b.output({b.make<my::swish>({.self = b.input("x", {1, 8})})});
    pass_context context;
    const run_statistics done = manager(g, context).value();
    for (const pass_record& p : done)
        std::printf("%s rewrote %zu\n", std::string(p.name).c_str(), p.nodes.rewritten);
    for (const error& e : manager.suppressed_failures()) std::printf("(%s)\n", e.message.c_str());
    std::printf("%s\n", listing(g).c_str());

    // Errors name the mistake.
    std::printf("%s\n", registry.select("decompose_swich").error().message.c_str());
    manager.add_constraint("sigmoid_to_tanh", "decompose_swish");
    manager.add_constraint("lower_scale_shift", "sigmoid_to_tanh");
    std::printf("%s\n", manager.solve_constraints().error().message.c_str());
}
