// SPDX-License-Identifier: MIT
// Annotates a node with a type that the graph's arena would never destroy.
// EXPECT: annotation: must be trivially copyable

#include <string>
#include <string_view>

#include <headrace/ir/graph.hpp>

using namespace headrace;

struct remark {
    static constexpr bool inherited = true;
    std::string_view text;
};

void remark_on(graph& g, node& n) { g.annotate(n, remark{"slow"}); }
