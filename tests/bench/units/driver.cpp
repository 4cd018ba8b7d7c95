// SPDX-License-Identifier: MIT
// A program's driver: reads a model, plans its memory, partitions it and runs it.
#include <cstdio>

#include <headrace/lowering/standard_pipeline.hpp>
#include <headrace/memory/memory_plan.hpp>
#include <headrace/partition/capability_partitioner.hpp>
#include <headrace/run/execution.hpp>
#include <headrace/run/models.hpp>

using namespace headrace;

int main(int, char** argv) {
    const result<program> read = read_model(argv[1]);
    if (!read) return 3;
    graph& g = *read.value().graph;
    const auto plan = make_memory_plan(g);
    const auto partitions = capability_based_partitioner(g, standard_pipeline_support()).propose_partitions();
    const auto inputs = model_inputs(g, {});
    if (!plan || !inputs) return 1;
    const auto results = execute(g, inputs.value());
    if (!results) return 1;
    std::printf("%zu partitions, %zu results\n", partitions.size(), results.value().size());
}
