// SPDX-License-Identifier: MIT
// Lists a pass that needs an argument in a registry, which constructs its passes itself.
// EXPECT: pass_registry: a pass in the list cannot be default-constructed

#include <headrace/pass/pass_registry.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct limit_nodes : pass {
    explicit limit_nodes(std::size_t n = 100) : most(n) {}
    result<std::size_t> operator()(graph& g, pass_context&) const { return g.size() > most ? g.size() : 0; }
    std::size_t most;
};

const pass_registry registry{pass_list<limit_nodes>{}};
