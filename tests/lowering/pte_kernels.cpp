// SPDX-License-Identifier: MIT
// Tests .pte files whose quantized parts are kernels for Cortex-M: the parts, their borders and the report.

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/dialect/cortex_m.hpp>
#include <headrace/dialect/executorch.hpp>
#include <headrace/infer/higher_order.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/lowering/lower_pte.hpp>
#include <headrace/lowering/standard_pipeline.hpp>
#include <headrace/partition/to_backend.hpp>
#include <headrace/run/execution.hpp>

#include "../support/program.hpp"

using namespace headrace;

namespace {

constexpr target_spec core = *parse_target("TOSA-1.0+INT+core");

// Builds quantized programs, in a graph or in a region of it.
class net {
public:
    explicit net(graph& g) : g_(g) {}

    value input(const int_list& shape, std::string_view name, dtype type = dtype::float32) {
        const value v = g_.create<builtin::placeholder>({}).result();
        g_.set_meta(v, {type, shape, {}});
        g_.set_name(v, name);
        return v;
    }
    template <op_tag Op>
    value make(const args<Op>& a, std::string_view name) {
        inference inferred(g_.arena());
        REQUIRE(infer_op<Op>(a, inferred));
        node& n = g_.create(info_of<Op>, &a, 1);
        g_.set_meta(n.result(), inferred.results()[0]);
        g_.set_name(n.result(), name);
        return n.result();
    }
    value quantized(value v, double scale = 0.05) {
        return make<quantized_decomposed::quantize_per_tensor>(
            {v, scale, 3, -128, 127, dtype::int8}, "quantize_" + std::to_string(++count_));
    }
    value real(value v, double scale = 0.05) {
        return make<quantized_decomposed::dequantize_per_tensor>(
            {v, scale, 3, -128, 127, dtype::int8, std::nullopt}, "dequantize_" + std::to_string(++count_));
    }
    value rounded(value v, double scale = 0.05) { return real(quantized(v, scale), scale); }
    // A product with quantized weights, between real numbers.
    value linear(value x, std::string_view name) {
        const std::int64_t width = meta_of(x)->shape.back();
        const value codes =
            create_constant(g_, {dtype::int8, {4, width}, {}}, nullptr, [](std::span<std::byte> data) {
                for (std::size_t i = 0; i != data.size(); ++i)
                    data[i] = static_cast<std::byte>(static_cast<int>(i * 37 % 101) - 50);
            });
        const value weight = make<quantized_decomposed::dequantize_per_tensor>(
            {codes, 0.01, 0, -127, 127, dtype::int8, std::nullopt}, std::string(name) + "_weight");
        return make<aten::linear>({.input = x, .weight = weight}, name);
    }
    void output(std::initializer_list<value> values) {
        g_.create<builtin::output>({.values = list<value>(values)});
    }

private:
    graph& g_;
    int count_ = 0;
};

using builder = std::function<void(net&, graph&)>;

program program_of(const builder& build) {
    program p{};
    p.graph = std::make_unique<graph>();
    net n(*p.graph);
    build(n, *p.graph);
    p.user_outputs = p.graph->output()->operand_count;
    return p;
}

std::vector<tensor> inputs_of(const graph& g) {
    std::mt19937 random(1);
    std::vector<tensor> inputs;
    for (const node& n : g.inputs()) inputs.push_back(random_tensor(random, *n.results[0].meta));
    return inputs;
}

using op_names = std::vector<std::string_view>;

op_names kernels_of(const graph& lowered) {
    op_names found;
    for_each_graph(lowered, [&](const graph& g) {
        for (const node& n : g.nodes()) {
            if (!is_of_dialect<builtin::dialect>(n)) found.push_back(n.op->name);
        }
    });
    return found;
}
auto count(const op_names& names, std::string_view name) { return std::ranges::count(names, name); }

constexpr std::string_view quantize = "quantized_decomposed::quantize_per_tensor.out";
constexpr std::string_view dequantize = "quantized_decomposed::dequantize_per_tensor.out";
constexpr std::string_view table = "cortex_m.quantized_activation.default";

/// Lowers a method, and checks that it computes the same but for one step of its output's quantization.
lowered_pte lower(const builder& build, const pte_options& options = {.kernels = core}) {
    const program before = program_of(build);
    const std::vector<tensor> inputs = inputs_of(*before.graph);
    const auto expected = execute(*before.graph, inputs);
    REQUIRE(expected);
    std::map<std::string, program, std::less<>> methods;
    methods.emplace("forward", program_of(build));
    auto made = lower_to_pte(std::move(methods), options);
    if (!made) FAIL(made.error().message);
    REQUIRE(made.value().refusals.empty());
    if (options.delegate) return std::move(made).value();
    const graph& lowered = *made.value().methods.at("forward").graph;
    const auto sound = verify_metadata(lowered);
    if (!sound) FAIL(sound.error().message);
    const auto got = execute(lowered, inputs);
    if (!got) FAIL(got.error().message);
    for (std::size_t i = 0; i != expected.value().size(); ++i)
        CHECK(tensor_difference(got.value()[i], expected.value()[i], 0.0501).empty());
    return std::move(made).value();
}

// Takes and gives integers, as an accelerator does.
struct integer_backend {
    static constexpr std::string_view name() { return "integers"; }
    result<preprocess_result> preprocess(graph& lowered, std::span<const compile_spec>) const {
        pass_context context(standard_functions);
        const auto done = run_standard_pipeline(lowered, context);
        if (!done) return done.error();
        CHECK(context.diagnostics().empty());
        return preprocess_result{};
    }
};

const node_placement& placement_of(const lowered_pte& made, std::string_view name) {
    const std::vector<node_placement>& nodes = made.reports.at("forward").nodes;
    const auto found = std::ranges::find(nodes, name, &node_placement::node);
    REQUIRE(found != nodes.end());
    return *found;
}
op_names ops_of(const lowered_pte& made) { return kernels_of(*made.methods.at("forward").graph); }

}  // namespace

TEST_CASE("kernels: a quantized method is one part", "[pte_kernels]") {
    const lowered_pte made = lower([](net& n, graph&) {
        const value x = n.rounded(n.input({2, 8}, "x"));
        const value y = n.rounded(n.linear(x, "first"));
        const value z = n.rounded(n.make<aten::sigmoid>({y}, "sigmoid"), 1.0 / 256);
        n.output({n.rounded(n.linear(z, "second"))});
    });
    const op_names ops = ops_of(made);
    CHECK(count(ops, quantize) == 1);
    CHECK(count(ops, dequantize) == 1);
    CHECK(count(ops, table) == 1);
    CHECK(std::ranges::none_of(ops, [](auto name) { return name.starts_with("aten::linear"); }));
    const method_report& told = made.reports.at("forward");
    CHECK(told.macs.total == 2 * 4 * 8 + 2 * 4 * 4);
    CHECK(told.macs.cortex_m == told.macs.total);
    CHECK(told.macs.integer_share() == 1);
    CHECK(told.portable_kernels == 2);
    CHECK(placement_of(made, "sigmoid").place == node_place::cortex_m);
    CHECK(placement_of(made, "sigmoid").kernels == std::vector<std::string>{std::string(table)});
    CHECK(placement_of(made, "quantize_1").is_border);
}

TEST_CASE("kernels: what is not quantized stays between two parts", "[pte_kernels]") {
    const lowered_pte made = lower([](net& n, graph&) {
        const value x = n.rounded(n.input({2, 8}, "x"));
        const value y = n.rounded(n.linear(x, "first"));
        const value sum = n.make<aten::add_tensor>({.self = y, .other = n.input({2, 4}, "real")}, "sum");
        n.output({n.rounded(n.linear(n.rounded(sum), "second"))});
    });
    const op_names ops = ops_of(made);
    CHECK(count(ops, "aten::add.out") == 1);
    CHECK(count(ops, quantize) == 2);
    CHECK(count(ops, dequantize) == 2);
    CHECK(made.reports.at("forward").macs.integer_share() == 1);
    const node_placement& sum = placement_of(made, "sum");
    CHECK(sum.place == node_place::portable);
    CHECK_FALSE(sum.in_integers);
    CHECK(sum.reason == "it reads real, which is not dequantized");
    CHECK(sum.kernels == std::vector<std::string>{"aten::add.out"});
}

TEST_CASE("kernels: a node that the lowering refuses stays, with its reason", "[pte_kernels]") {
    const lowered_pte made = lower([](net& n, graph&) {
        const value x = n.rounded(n.input({2, 4}, "x"));
        const value y = n.rounded(n.linear(x, "first"));
        const value angle = n.make<aten::atan2>({y, x}, "angle");
        n.output({n.rounded(n.linear(n.rounded(angle), "second"))});
    });
    CHECK(count(ops_of(made), "aten::atan2.out") == 1);
    CHECK(made.reports.at("forward").macs.integer_share() == 1);
    const node_placement& angle = placement_of(made, "angle");
    CHECK_FALSE(angle.in_integers);
    CHECK(angle.reason == "it computes in floating point");
    CHECK(placement_of(made, "second").place == node_place::cortex_m);
}

TEST_CASE("kernels: int8 stays int8 at borders", "[pte_kernels]") {
    const lowered_pte made = lower([](net& n, graph&) {
        const value x = n.input({2, 8}, "x");
        // Quantized for each reader, requantized alike, requantized otherwise, and moved in between.
        const value a = n.rounded(n.rounded(x));
        const value b = n.rounded(n.make<aten::reshape>({n.rounded(x), {8, 2}}, "moved"));
        n.output({n.rounded(a, 0.04), b});
    });
    const op_names ops = ops_of(made);
    CHECK(count(ops, quantize) == 1);
    CHECK(count(ops, dequantize) == 2);
    CHECK(count(ops, table) == 1);
}

TEST_CASE("kernels: regions have parts of their own", "[pte_kernels]") {
    const lowered_pte made = lower([](net& n, graph& g) {
        const value condition = n.input({}, "condition", dtype::boolean);
        const value x = n.input({2, 4}, "x");
        const auto branch = [&](std::string_view name) {
            graph& region = g.create_region();
            net inner(region);
            const value in = inner.rounded(inner.input({2, 4}, "in"));
            inner.output({inner.rounded(inner.linear(in, name))});
            return &region;
        };
        const args<higher_order::cond> a{.pred = condition,
            .true_graph = branch("yes"),
            .false_graph = branch("no"),
            .operands = list<value>(&x, 1)};
        node& made_node = g.create<higher_order::cond>(a, 1);
        g.set_meta(made_node.result(), *meta_of(x));
        n.output({made_node.result()});
    });
    const op_names ops = ops_of(made);
    CHECK(count(ops, quantize) == 2);
    CHECK(std::ranges::none_of(ops, [](auto name) { return name.starts_with("aten::linear"); }));
    CHECK(placement_of(made, "yes").place == node_place::cortex_m);
    CHECK(placement_of(made, "no").place == node_place::cortex_m);
    CHECK(made.reports.at("forward").macs.integer_share() == 1);
}

TEST_CASE("kernels: methods are lowered alone, and one without quantization as ever", "[pte_kernels]") {
    const builder quantized = [](net& n, graph&) {
        n.output({n.rounded(n.linear(n.rounded(n.input({2, 8}, "x")), "first"))});
    };
    const builder real = [](net& n, graph&) {
        n.output({n.make<aten::relu>({n.input({2, 8}, "x")}, "relu")});
    };
    const auto lowered = [&](const pte_options& options) {
        std::map<std::string, program, std::less<>> methods;
        methods.emplace("integers", program_of(quantized));
        methods.emplace("more", program_of(quantized));
        methods.emplace("real", program_of(real));
        auto made = lower_to_pte(std::move(methods), options);
        REQUIRE(made);
        return std::move(made).value();
    };
    const lowered_pte made = lowered({.kernels = core});
    CHECK(made.reports.at("integers").cortex_m_kernels == 1);
    CHECK(made.reports.at("more").cortex_m_kernels == 1);
    CHECK(made.reports.at("real").cortex_m_kernels == 0);
    CHECK(kernels_of(*made.methods.at("real").graph) == op_names{"aten::relu.out"});
    CHECK(lowered({}).reports.empty());
}

TEST_CASE("kernels: a state is written back from integers", "[pte_kernels]") {
    program p{};
    p.graph = std::make_unique<graph>();
    net n(*p.graph);
    const value x = n.rounded(n.input({2, 4}, "x"));
    const value state = create_constant(*p.graph, {dtype::float32, {2, 4}, {}}, nullptr,
        [](std::span<std::byte> data) { std::memset(data.data(), 0, data.size()); });
    p.graph->set_name(state, "state");
    const value sum = n.make<aten::add_tensor>({.self = x, .other = n.rounded(state)}, "sum");
    const value next = n.rounded(sum);
    n.output({n.rounded(n.linear(next, "linear")), next});
    p.user_outputs = 1;
    p.mutations.push_back({mutation::kind_type::buffer, "state", 1, "state"});
    std::map<std::string, program, std::less<>> methods;
    methods.emplace("forward", std::move(p));
    const auto lowered = lower_to_pte(std::move(methods), {.kernels = core});
    REQUIRE(lowered);
    const lowered_pte& made = lowered.value();
    REQUIRE(made.refusals.empty());
    CHECK(verify_metadata(*made.methods.at("forward").graph));
    const op_names ops = ops_of(made);
    CHECK(count(ops, quantize) == 2);
    CHECK(count(ops, dequantize) == 2);
    CHECK(count(ops, "cortex_m.quantized_add.default") == 1);
}

TEST_CASE("kernels: the rest beside delegates", "[pte_kernels]") {
    const lowered_pte made = lower(
        [](net& n, graph&) {
            const value x = n.rounded(n.input({2, 4}, "x"));
            const value y = n.rounded(n.linear(x, "first"));
            const value angle = n.make<aten::atan2>({y, x}, "angle");
            n.output({n.rounded(n.linear(n.rounded(angle), "second"))});
        },
        {.delegate = true, .target = *parse_target("TOSA-1.0+INT"), .kernels = core});
    const method_report& told = made.reports.at("forward");
    CHECK(told.delegates.size() == 2);
    CHECK(told.macs.delegated == told.macs.total);
    CHECK(told.macs.integer_share() == 1);
    CHECK(placement_of(made, "first").place == node_place::delegate);
    CHECK(placement_of(made, "angle").reason.find("not delegated to TOSA") != std::string::npos);
    CHECK(count(ops_of(made), "aten::atan2.out") == 1);
}

TEST_CASE("kernels: delegates that compute in floats are no integers", "[pte_kernels]") {
    const builder build = [](net& n, graph&) {
        n.output({n.rounded(n.linear(n.rounded(n.input({2, 4}, "x")), "first"))});
    };
    for (const auto& [target, share] : {std::pair("TOSA-1.0+FP", 0), std::pair("TOSA-1.0+INT", 1)}) {
        const lowered_pte made =
            lower(build, {.delegate = true, .target = *parse_target(target), .kernels = core});
        const method_report& told = made.reports.at("forward");
        CHECK(told.macs.delegated == told.macs.total);
        CHECK(told.macs.integer_share() == share);
        CHECK(placement_of(made, "first").in_integers == (share == 1));
    }
}

TEST_CASE("kernels: int8 stays int8 between delegates and kernels", "[pte_kernels]") {
    const builder build = [](net& n, graph&) {
        const value x = n.rounded(n.input({2, 8}, "x"));
        const value y = n.rounded(n.linear(x, "first"));
        const value z = n.rounded(n.make<aten::sigmoid>({y}, "sigmoid"));
        n.output({n.rounded(n.linear(z, "second"))});
    };
    // Delegates what computes `second`, with its quantize and dequantize nodes.
    const auto to_backends = [](const std::map<std::string, graph*, std::less<>>& graphs) {
        graph& g = *graphs.at("forward");
        g.set_target(*parse_target("TOSA-1.0+INT"));
        backend_registry backends;
        backends.add(integer_backend{});
        const auto after_sigmoid = create_op_support([](const node& n) {
            constexpr std::string_view nodes[] = {
                "quantize_5", "dequantize_6", "second_weight", "second", "quantize_7", "dequantize_8"};
            return std::ranges::find(nodes, n.name()) != std::end(nodes);
        });
        return to_backend(graphs, support_partitioner{after_sigmoid, {.backend = "integers"}}, backends);
    };
    std::map<std::string, program, std::less<>> methods;
    methods.emplace("forward", program_of(build));
    const auto lowered = lower_to_pte(std::move(methods), {.kernels = core, .to_backends = to_backends});
    if (!lowered) FAIL(lowered.error().message);
    const lowered_pte& made = lowered.value();
    REQUIRE(made.refusals.empty());
    const op_names ops = ops_of(made);
    CHECK(count(ops, "executorch.call_delegate") == 1);
    CHECK(count(ops, quantize) == 1);
    CHECK(count(ops, dequantize) == 1);
    CHECK(count(ops, table) == 1);
    CHECK(placement_of(made, "first").place == node_place::cortex_m);
    CHECK(placement_of(made, "second").place == node_place::delegate);
    CHECK(made.reports.at("forward").macs.delegated == 2 * 4 * 4);
    CHECK(made.reports.at("forward").macs.integer_share() == 1);
}
