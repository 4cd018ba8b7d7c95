// SPDX-License-Identifier: MIT
// Finds the largest parts of a graph that a backend takes, and replaces each by a call.
#include <headrace/infer/aten.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/partition/capability_partitioner.hpp>

#include <cstdio>

#include "small_graph.hpp"

using namespace headrace;

// The ops that the backend takes: any object with this function.
struct add_mul_support {
    bool is_node_supported(const node& n) const { return is<aten::add_tensor>(n) || is<aten::mul_tensor>(n); }
};

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
    capability_based_partitioner partitioner(g, chain(add_mul_support{}, of_rank_at_most(4)));
    const auto partitions = partitioner.propose_partitions();
    for (std::size_t i = 0; i != partitions.size(); ++i)
        std::printf("partition %zu: %zu nodes\n", i, partitions[i].size());

    const auto calls = partitioner.fuse_partitions(partitions, "npu");
    if (!calls) {
        std::printf("%s\n", calls.error().message.c_str());
        return 1;
    }
    std::printf("%s", listing(g).c_str());
}
