// SPDX-License-Identifier: MIT
// Measures the partitioner on chains in which every third node is unsupported: its time must grow linearly
// with the graph, not quadratically (BigO).

#include <benchmark/benchmark.h>

#include <optional>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/partition/capability_partitioner.hpp>

using namespace headrace;

namespace {

void build_chain(graph& g, std::int64_t size) {
    value at = g.create<builtin::placeholder>({}).result();
    g.set_meta(at, {dtype::float32, {1}});
    for (std::int64_t i = 0; i != size; ++i) {
        at = (i % 3 == 2 ? g.create<aten::relu>({.self = at})
                         : g.create<aten::add_tensor>({.self = at, .other = at}))
                 .result();
        g.set_meta(at, {dtype::float32, {1}});
    }
    g.create<builtin::output>({.values = {&at, 1}});
}

void partition_chain(benchmark::State& state) {
    for (auto _ : state) {
        state.PauseTiming();
        std::optional<graph> g(std::in_place);
        build_chain(*g, state.range(0));
        state.ResumeTiming();
        capability_based_partitioner partitioner(*g, create_op_support<aten::add_tensor, aten::mul_tensor>());
        benchmark::DoNotOptimize(partitioner.fuse_partitions(partitioner.propose_partitions()).has_value());
        state.PauseTiming();
        g.reset();
        state.ResumeTiming();
    }
    state.SetComplexityN(state.range(0));
}
BENCHMARK(partition_chain)->RangeMultiplier(2)->Range(1000, 128000)->Complexity();

}  // namespace

BENCHMARK_MAIN();
