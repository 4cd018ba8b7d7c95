// SPDX-License-Identifier: MIT
// Finds the largest parts of a graph that a backend takes, and replaces each by a call.
#include <headrace/infer/aten.hpp>
#include <headrace/ir/listing.hpp>
//! [partition]
#include <headrace/dialect/aten.hpp>
#include <headrace/partition/capability_partitioner.hpp>

#include <vector>
//! [partition]

#include <cstdio>

#include "small_graph.hpp"

//! [partition]
using namespace headrace;

// The ops that the backend takes: any object with this function.
struct add_mul_support {
    bool is_node_supported(const node& n) const { return is<aten::add_tensor>(n) || is<aten::mul_tensor>(n); }
};

// Replaces each partition by a call, and returns how many nodes each has.
result<std::vector<std::size_t>> partition(graph& g) {
    capability_based_partitioner partitioner(g, chain(add_mul_support{}, of_rank_at_most(4)));
    const auto partitions = partitioner.propose_partitions();
    std::vector<std::size_t> nodes;
    for (const auto& p : partitions) nodes.push_back(p.size());
    HEADRACE_TRY(partitioner.fuse_partitions(partitions, "npu"));
    return nodes;
}
//! [partition]

int main() {
    small_graph g;
    const value x = g.input("x", {1, 4});
    const value y = g.input("y", {1, 4});
    const value sum = g.make<aten::add_tensor>({.self = x, .other = y});
    const value product = g.make<aten::mul_tensor>({.self = sum, .other = y});
    const value bent = g.make<aten::relu>({.self = product});  // stays on the host
    const value last = g.make<aten::add_tensor>({.self = bent, .other = sum});
    g.output(g.make<aten::mul_tensor>({.self = last, .other = last}));

    // The sums and products before the relu, and those after it: joining both would make a cycle.
    const auto nodes = partition(g);
    if (!nodes) {
        std::printf("%s\n", nodes.error().message.c_str());
        return 1;
    }
    for (std::size_t i = 0; i != nodes.value().size(); ++i)
        std::printf("partition %zu: %zu nodes\n", i, nodes.value()[i]);
    std::printf("%s", listing(g).c_str());
}
