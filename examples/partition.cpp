// SPDX-License-Identifier: MIT
// Finds the largest parts of a graph that a backend's passes lower, and replaces each by a call of lowered code.
#include <headrace/infer/graph_builder.hpp>
#include <headrace/ir/listing.hpp>

//! [partition]
#include <headrace/headrace.hpp>
#include <headrace/partition/capability_partitioner.hpp>

#include <cstdio>

using namespace headrace;

// The backend's passes. No list of supported ops is written anywhere: `supported_by` has it from their types.
struct decompose_silu : pass {
    static auto rewrites() {
        return rules(on<aten::silu> = [](auto x) { return x * sigmoid(x); });
    }
};
struct legalize : pass {
    static auto rewrites() {
        return rules(on<aten::sigmoid> = call<tosa::sigmoid>, on<aten::tanh> = call<tosa::tanh>);
    }
};
struct lower : pipeline<from<aten::silu, aten::sigmoid, aten::tanh, aten::mul_tensor>,
                   to<tosa::dialect, aten::mul_tensor>, decompose_silu, legalize> {};

// Replaces each part that the passes lower by a call, and lowers it. What else there is stays on the host.
static result<void> partition(graph& g) {
    capability_based_partitioner partitioner(g, chain(supported_by<lower>(), of_rank_at_most(4)));
    const std::vector<node_group> parts = partitioner.propose_partitions();
    for (std::size_t i = 0; i != parts.size(); ++i) {
        std::printf("partition %zu: %zu nodes\n", i, parts[i].size());
    }
    HEADRACE_TRY(calls, partitioner.fuse_partitions(parts, "npu"));
    pass_context context;
    for (node* call : calls) {
        HEADRACE_TRY(lower::run(*args_of<delegate::call_delegate>(*call).lowered_graph, context));
    }
    return {};
}
//! [partition]

int main() {
    graph g;
    graph_builder b(g);
    const value x = b.input("x", {1, 4});
    const value gate = b.make<aten::silu>({.self = x});
    const value product = b.make<aten::mul_tensor>({.self = gate, .other = x});
    const value root = b.make<aten::sqrt>({.self = product});  // stays on the host: no pass lowers it
    const value last = b.make<aten::mul_tensor>({.self = root, .other = gate});
    b.output({b.make<aten::tanh>({.self = last})});

    // The nodes before the root, and those after it: joining both would make a cycle.
    if (const result<void> done = partition(g); !done) {
        std::printf("%s\n", done.error().message.c_str());
        return 1;
    }
    std::printf("%s", listing(g).c_str());
}
