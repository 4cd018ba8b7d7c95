// SPDX-License-Identifier: MIT
// Defines headrace::program, in which tests build small graphs, and headrace::compare_runs, which executes
// one before and after passes, in both drivers, and compares the results.
#ifndef HEADRACE_TESTS_SUPPORT_PASS_TEST_HPP
#define HEADRACE_TESTS_SUPPORT_PASS_TEST_HPP

#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <headrace/eval/evaluator.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/pass/driver.hpp>

namespace headrace {

using eval::extents;
using eval::tensor;

namespace testing {  // io/ has a program of its own, and both may be linked together

/// A graph that a test builds node by node. Metadata is inferred.
struct program {
    graph g;
    std::vector<value> results;

    value input(dtype type, const int_list& shape) {
        const value v = g.create<builtin::placeholder>({}).result();
        g.set_meta(v, {type, shape, {}});
        return v;
    }
    template <class T>
    value constant(dtype type, std::initializer_list<std::int64_t> shape, std::initializer_list<T> elements) {
        return create_constant(g, {type, int_list(shape), {}}, nullptr, [&](std::span<std::byte> data) {
            std::memcpy(data.data(), std::data(elements), data.size());
        });
    }
    /// The node, for ops of several results.
    template <op_tag Op>
    node& make_node(const args<Op>& a) {
        inference inferred(g.arena());
        const result<void> status = infer_results(Op{}, a, inferred);
        if (!status) fault = status.error().message;
        node& n = g.create(info_of<Op>, &a, inferred.results().size());
        for (std::uint32_t i = 0; i != n.result_count; ++i) g.set_meta(n.result(i), inferred.results()[i]);
        return n;
    }
    template <op_tag Op>
    value make(const args<Op>& a) {
        return make_node<Op>(a).result();
    }
    void output(value v) { results.push_back(v); }
    void finish() { g.create<builtin::output>({.values = list<value>(results)}); }

    std::pmr::string fault;  ///< what inference refused, if anything
};

}  // namespace testing
using testing::program;

/// Random elements: normal for floats, small for integers.
[[nodiscard]] inline tensor random_tensor(std::mt19937& random, const tensor_meta& meta) {
    std::vector<double> numbers(static_cast<std::size_t>(meta.elements()));
    std::normal_distribution<double> normal;
    std::uniform_int_distribution<int> small(-9, 9);
    for (double& x : numbers) {
        if (is_floating(meta.dtype)) {
            x = normal(random);
        } else {
            x = is_boolean(meta.dtype) ? (small(random) > 0 ? 1 : 0) : small(random);
        }
    }
    return tensor::of(meta.dtype, extents(meta.shape.begin(), meta.shape.end()), numbers);
}

/// Empty if two tensors agree: NaN with NaN, infinities exactly, other numbers within `tolerance` of their
/// size. Types may differ, as INT32 may stand for int64.
[[nodiscard]] inline std::pmr::string tensor_difference(const tensor& a, const tensor& b, double tolerance) {
    if (a.shape() != b.shape()) return "shapes " + shape_text(a.shape()) + " and " + shape_text(b.shape());
    for (std::int64_t i = 0; i != a.size(); ++i) {
        const double x = a.real(i);
        const double y = b.real(i);
        if (x == y || (std::isnan(x) && std::isnan(y))) continue;
        if (std::abs(x - y) <= tolerance * (1 + std::abs(x))) continue;
        return "element " + number_text(i) + ": " + number_text(x) + " became " + number_text(y);
    }
    return {};
}

namespace detail {

template <class Pass, bool Retrace>
[[nodiscard]] std::pmr::string run_one_pass(graph& g, pass_context& context) {
    if constexpr (graph_pass<Pass>) {
        const auto status = Pass{}(g, context);
        return status ? std::pmr::string() : status.error().message;
    } else if constexpr (Retrace) {
        const auto status = retracing_driver<Pass>::run(Pass{}, g, context);
        return status ? std::pmr::string() : status.error().message;
    } else {
        const auto status = in_place_driver<Pass>::run(Pass{}, g, context);
        return status ? std::pmr::string() : status.error().message;
    }
}

template <bool Retrace, class Build, class... Passes>
[[nodiscard]] std::pmr::string run_passes(const Build& build, std::span<const tensor> inputs,
                                          const std::vector<tensor>& expected, double tolerance,
                                          ops<Passes...>) {
    program after;
    build(after);
    after.finish();
    pass_context context;
    std::pmr::string fault;
    const auto run = [&]<class P>() {
        if (fault.empty()) fault = run_one_pass<P, Retrace>(after.g, context);
    };
    (run.template operator()<Passes>(), ...);
    if (!fault.empty()) return fault;
    if (!context.diagnostics().empty()) return "refused: " + context.diagnostics()[0].reason;
    const auto results = run_graph(after.g, inputs);
    if (!results) return "after: " + results.error().message;
    for (std::size_t i = 0; i != expected.size(); ++i) {
        const std::pmr::string difference = tensor_difference(expected[i], results.value()[i], tolerance);
        if (!difference.empty())
            return std::pmr::string(Retrace ? "retraced" : "in place") + ", output " + number_text(i) + ", " +
                   difference;
    }
    return {};
}

}  // namespace detail

/// Empty if the program that `build(program&)` makes computes the same before and after the passes, run in
/// the order given, with both drivers; else what differs. `inputs` are random unless given.
template <class... Passes, class Build>
[[nodiscard]] std::pmr::string compare_runs(const Build& build, std::vector<tensor> inputs = {},
                                            double tolerance = 1e-5) {
    program before;
    build(before);
    before.finish();
    if (!before.fault.empty()) return "inference: " + before.fault;
    if (inputs.empty()) {
        std::mt19937 random(7);
        for (const node& n : before.g.inputs()) inputs.push_back(random_tensor(random, *n.results[0].meta));
    }
    const auto expected = run_graph(before.g, inputs);
    if (!expected) return "before: " + expected.error().message;
    std::pmr::string fault =
        detail::run_passes<false>(build, inputs, expected.value(), tolerance, ops<Passes...>{});
    if (!fault.empty()) return fault;
    return detail::run_passes<true>(build, inputs, expected.value(), tolerance, ops<Passes...>{});
}

/// Why the passes refuse the program; empty if they do not.
template <class... Passes, class Build>
[[nodiscard]] std::pmr::string refusal(const Build& build) {
    program p;
    build(p);
    p.finish();
    pass_context context;
    std::pmr::string fault;
    ((fault += detail::run_one_pass<Passes, false>(p.g, context)), ...);
    return !context.diagnostics().empty() ? context.diagnostics()[0].reason : fault;
}

/// How many nodes of an op are left.
template <op_tag Op>
[[nodiscard]] std::size_t count_of(const graph& g) {
    std::size_t count = 0;
    for ([[maybe_unused]] const node& n : g.nodes_of(info_of<Op>)) ++count;
    return count;
}

}  // namespace headrace

#endif
