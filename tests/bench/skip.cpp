// SPDX-License-Identifier: MIT
// Measures the cost of a skipped pass (limit 20 ns, in static pipelines and in pass managers), and of a
// copied node (50 ns) and a dispatched node in the retracing driver.

#include <benchmark/benchmark.h>

#include <memory>
#include <utility>

#include <headrace/dialect/aten.hpp>
#include <headrace/fx/pass_manager.hpp>

#include "../support/toy.hpp"

using namespace headrace;

namespace {

constexpr std::size_t pass_count = 100;

// Each pass looks for two ops of the real aten dialect, one at either end of its list, so that masks have
// several words. None looks for relu.
template <std::size_t I>
using low = typename type_at<I + (I >= index_of<aten::relu>), aten::dialect::all_ops>::type;
template <std::size_t I>
using high = typename type_at<aten::dialect::size - 1 - I, aten::dialect::all_ops>::type;

template <std::size_t I>
struct look_for : pass {
    using targets = ops<low<I>, high<I>>;
    std::optional<value> operator()(const args<low<I>>&, emit<ops<>>&) const { return std::nullopt; }
    std::optional<value> operator()(const args<high<I>>&, emit<ops<>>&) const { return std::nullopt; }
};

template <class Indices>
struct many;
template <std::size_t... I>
struct many<std::index_sequence<I...>> {
    using type = pipeline<from<aten::dialect, toy::dialect>, to<aten::dialect, toy::dialect>, look_for<I>...>;
};
using skipped = many<std::make_index_sequence<pass_count>>::type;

struct relu_to_neg : pass {
    using targets = ops<toy::relu>;
    using produces = ops<toy::neg>;
    value operator()(const args<toy::relu>& a, emit<produces>& e) const {
        return e.make<toy::neg>({.self = a.self});
    }
};

template <op_tag Op>
void chain(graph& g, std::size_t length) {
    node* last = &g.create<builtin::placeholder>({});
    g.set_meta(last->result(), {dtype::float32, {2, 3}});
    for (std::size_t i = 0; i != length; ++i) {
        last = &g.create<Op>({.self = last->result()});
        g.set_meta(last->result(), {dtype::float32, {2, 3}});
    }
    const value out = last->result();
    g.create<builtin::output>({.values = {&out, 1}});
}

void report_each(benchmark::State& state, const char* name, std::size_t count) {
    state.counters[name] = benchmark::Counter(static_cast<double>(count),
        benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

template <bool WithAten>
void skipped_pass(benchmark::State& state) {
    graph g;
    chain<toy::neg>(g, 10);
    if constexpr (WithAten) {
        // One op that no pass looks for, so that the census counts the dialect and the masks are read.
        static_assert(index_of<aten::relu> < aten::dialect::size - pass_count);
        const value x = g.inputs().begin()->result();
        g.create<aten::relu>({.self = x});
    }
    pass_context context;
    for (auto _ : state) {
        auto statistics = skipped::run_unchecked(g, context);
        benchmark::DoNotOptimize(statistics);
    }
    report_each(state, "per_pass", pass_count);
}

// The same list of passes, chosen at run time.
void skipped_by_manager(benchmark::State& state) {
    graph g;
    chain<toy::neg>(g, 10);
    const value x = g.inputs().begin()->result();
    g.create<aten::relu>({.self = x});
    const pass_registry registry(skipped::passes{});
    pass_manager manager({registry.passes().begin(), registry.passes().end()});
    pass_context context;
    for (auto _ : state) {
        auto statistics = manager(g, context);
        benchmark::DoNotOptimize(statistics);
    }
    report_each(state, "per_pass", pass_count);
}

template <op_tag Op, driver_kind Driver>
void node_of(benchmark::State& state) {
    constexpr std::size_t length = 1000;
    for (auto _ : state) {
        state.PauseTiming();
        auto g = std::make_unique<graph>();
        chain<Op>(*g, length);
        pass_context context;
        state.ResumeTiming();
        auto counts = apply_pass(relu_to_neg{}, *g, context, Driver);
        benchmark::DoNotOptimize(counts);
        state.PauseTiming();
        g.reset();  // freeing the memory takes longer than copying all nodes
        state.ResumeTiming();
    }
    report_each(state, "per_node", length);
}

BENCHMARK(skipped_pass<false>);
BENCHMARK(skipped_pass<true>);
BENCHMARK(skipped_by_manager);
BENCHMARK(node_of<toy::neg, driver_kind::retracing>)->Name("copied_node/retracing");
BENCHMARK(node_of<toy::relu, driver_kind::retracing>)->Name("dispatched_node/retracing");
BENCHMARK(node_of<toy::relu, driver_kind::in_place>)->Name("dispatched_node/in_place");
BENCHMARK(node_of<toy::neg, driver_kind::in_place>)->Name("untouched_node/in_place");

}  // namespace

BENCHMARK_MAIN();
