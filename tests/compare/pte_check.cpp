// SPDX-License-Identifier: MIT
// Tests headrace::pte_check: which errors of a lowering to a .pte file it finds, and how it names them.

#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/compare/pte_check.hpp>
#include <headrace/dialect/cortex_m.hpp>
#include <headrace/lowering/lower_pte.hpp>
#include <headrace/partition/extract.hpp>
#include <headrace/quantization/quantize_graph.hpp>
#include <headrace/run/execution.hpp>

#include "../support/program.hpp"

using namespace headrace;

namespace {

using corruption = std::function<void(graph& g)>;

// Two convolutions and an addition, quantized.
void network(testing::program& p) {
    const value x = p.input(dtype::float32, {1, 2, 4, 4});
    const value w = p.constant(dtype::float32, {2, 2, 1, 1}, {1.0F, -0.5F, 0.25F, 1.0F});
    const value y = p.make<aten::conv2d>({.input = x, .weight = w});
    const value r = p.make<aten::relu>({.self = y});
    const value v = p.constant(dtype::float32, {2, 2, 1, 1}, {1.0F, 0.5F, -1.0F, 0.75F});
    const value z = p.make<aten::conv2d>({.input = r, .weight = v});
    const value s = p.make<aten::add_tensor>({.self = z, .other = r});
    for (const auto& [named, name] : std::vector<std::pair<value, std::string_view>>{
             {x, "x"}, {y, "first"}, {r, "active"}, {z, "second"}, {s, "sum"}})
        p.g.set_name(named, name);
    p.output(s);
    p.finish();
    pass_context context(standard_functions);
    const sample_source samples{4, [](std::size_t seed) -> result<std::vector<tensor>> {
                                    std::vector<double> numbers;
                                    for (int i = 0; i != 32; ++i)
                                        numbers.push_back(std::sin(i * 7 + static_cast<int>(seed)));
                                    return std::vector{tensor::of(dtype::float32, {1, 2, 4, 4}, numbers)};
                                }};
    REQUIRE(quantize_graph(p.g, context, {.keep_branches = true}, samples));
    REQUIRE(context.diagnostics().empty());
}

// The largest bytes of windows, quantized.
void pooled_bytes(testing::program& p) {
    args<aten::max_pool2d> window{};
    window.self = p.input(dtype::uint8, {1, 2, 4, 4});
    window.kernel_size = window.stride = {2, 2};
    window.padding = {0, 0};
    window.dilation = {1, 1};
    const value y = p.make<aten::max_pool2d>(window);
    const value real = p.make<aten::to_dtype>({.self = y, .dtype = dtype::float32});
    const value q =
        p.make<quantized_decomposed::quantize_per_tensor>({real, 1, -128, -128, 127, dtype::int8});
    p.g.set_name(y, "largest");
    p.output(p.make<quantized_decomposed::dequantize_per_tensor>({q, 1, -128, -128, 127, dtype::int8}));
    p.finish();
}

struct outcome {
    std::string error{};
    checked_method found{};
};

// Lowers the network, and corrupts the graph after a stage.
outcome check(pte_options options, std::string_view stage = {}, const corruption& corrupt = {},
    void (*build)(testing::program&) = &network) {
    testing::program p;
    build(p);
    program exported;
    exported.graph = std::make_unique<graph>();
    exported.user_outputs = 1;
    copy_graph(p.g, *exported.graph);
    std::map<std::string, program, std::less<>> methods;
    methods.emplace("forward", std::move(exported));
    lowering_observer own;
    own.after_pass = [&](const pass_record& pass, graph& g) -> result<void> {
        if (pass.name == stage) corrupt(g);
        return {};
    };
    pte_check checking(1);
    options.observer = checking.observer(std::move(own));
    const auto made = lower_to_pte(std::move(methods), options);
    if (!made) return {std::string(made.error().message), {}};
    CHECK(made.value().refusals.empty());
    return {{}, checking.findings().front()};
}

pte_options with_kernels() {
    pte_options options;
    options.kernels = target_spec{}.with(target_feature::profile_int).with(target_feature::core);
    return options;
}

// Scales the multiplier of one of the convolutions, in order: they are of single elements, thus products.
corruption scaled(std::size_t which, double by) {
    return [which, by](graph& g) {
        std::size_t seen = 0;
        for (node& n : g.nodes()) {
            if (!is<cortex_m::quantized_linear>(n) || seen++ != which) continue;
            auto& a = *static_cast<args<cortex_m::quantized_linear>*>(n.arguments);
            const std::int64_t multiplier[] = {
                std::llround(static_cast<double>(a.requantize_multipliers[0]) * by)};
            a.requantize_multipliers = g.own(int_list(multiplier));
            return;
        }
        FAIL("there is no such convolution");
    };
}

constexpr std::string_view stage = "select_integer_kernels";

}  // namespace

TEST_CASE("pte_check: integer kernels are a step off, each alone", "[compare]") {
    const outcome done = check(with_kernels());
    CHECK(done.error.empty());
    CHECK(done.found.has_kernels);
    CHECK_FALSE(done.found.has_delegates);
    CHECK(done.found.layers >= 3);
    CHECK(done.found.layer_steps <= 1);
    CHECK(done.found.passes.size() >= 2);
}

TEST_CASE("pte_check: float kernels change nothing", "[compare]") {
    const outcome done = check({});
    CHECK(done.error.empty());
    CHECK_FALSE(done.found.has_kernels);
    CHECK(done.found.layers == 0);
}

TEST_CASE("pte_check: delegates are executed as TOSA", "[compare]") {
    pte_options options;
    options.delegate = true;
    const outcome done = check(options);
    CHECK(done.error.empty());
    CHECK(done.found.has_delegates);
    CHECK_FALSE(done.found.has_kernels);
    CHECK(done.found.layers >= 3);
}

TEST_CASE("pte_check: bytes may be stored in another order, and are read as unsigned", "[compare]") {
    pte_options options;
    options.delegate = true;
    const outcome done = check(options, {}, {}, &pooled_bytes);
    CHECK(done.error.empty());
    CHECK(done.found.has_delegates);
}

TEST_CASE("pte_check: a signature of integers is executed with integers", "[compare]") {
    pte_options options = with_kernels();
    options.integer_signature = true;
    const outcome done = check(options);
    CHECK(done.error.empty());
    CHECK(done.found.layers >= 3);
    CHECK_FALSE(check(options, stage, scaled(1, 0.5)).error.empty());
}

TEST_CASE("pte_check: a kernel with wrong multipliers is named", "[compare]") {
    for (const double by : {0.5, 0.97, 1.03}) {
        CAPTURE(by);
        const std::string error = check(with_kernels(), stage, scaled(1, by)).error;
        CHECK_THAT(error,
            Catch::StartsWith(
                "select_integer_kernels changes the result: as ExecuTorch's runtime with CMSIS-NN's "
                "kernels computes it, second (aten.conv2d.default; now "
                "cortex_m.quantized_linear.default) is "));
        CHECK_THAT(error, Catch::EndsWith(" of its quantization steps off for equal inputs, 1 is tolerated"));
    }
    CHECK_THAT(
        check(with_kernels(), stage, scaled(0, 0.5)).error, Catch::Contains("active (aten.relu.default;"));
}

TEST_CASE("pte_check: a pass that changes the integers is named", "[compare]") {
    const std::string error = check(with_kernels(), "select_kernels", scaled(1, 0.5)).error;
    CHECK_THAT(
        error, Catch::StartsWith("select_kernels changes the result: the largest relative difference"));
}

TEST_CASE("pte_check: elements in a wrong order are found in the output", "[compare]") {
    const std::string error = check(with_kernels(), stage, [](graph& g) {
        node* last = nullptr;
        for (node& n : g.nodes()) {
            if (is<cortex_m::transpose>(n)) last = &n;
        }
        REQUIRE(last != nullptr);
        const tensor_meta meta = *meta_of(last->result());
        node& view = g.create<aten::view>({.self = last->operand(0), .size = meta.shape}, last);
        g.set_meta(view.result(), meta);
        g.replace_all_uses(last->result(), view.result());
        g.erase(*last);
    }).error;
    CHECK_THAT(error,
        Catch::StartsWith(
            "select_integer_kernels changes the result: as ExecuTorch's runtime with CMSIS-NN's "
            "kernels computes it, the largest relative difference of an output is "));
}

TEST_CASE("pte_check: what only a state that is not zero shows is found", "[compare]") {
    testing::program p;
    const value state = p.constant(dtype::float32, {3}, {0.0F, 0.0F, 0.0F});
    p.g.set_name(state, "gain");
    const value x = p.input(dtype::float32, {3});
    const value y = p.make<aten::mul_tensor>({.self = state, .other = x});
    const value next = p.make<aten::add_tensor>(
        {.self = state, .other = p.constant(dtype::float32, {3}, {1.0F, 2.0F, 3.0F})});
    p.output(y);
    p.output(next);
    p.finish();
    for (const bool is_corrupted : {false, true}) {
        program exported;
        exported.graph = std::make_unique<graph>();
        exported.user_outputs = 1;
        exported.mutations.push_back({mutation::kind_type::buffer, "gain", 1, "gain"});
        copy_graph(p.g, *exported.graph);
        std::map<std::string, program, std::less<>> methods;
        methods.emplace("forward", std::move(exported));
        lowering_observer own;
        own.after_pass = [&](const pass_record& pass, graph& g) -> result<void> {
            if (!is_corrupted || pass.name != "select_kernels") return {};
            node& product = *g.outputs()[0].producer;
            for (edge& e : std::span(product.operands, product.operand_count))
                g.set_operand(e, g.outputs()[2]);  // the state, instead of its product with x
            return {};
        };
        pte_check checking(1);
        pte_options options;
        options.observer = checking.observer(std::move(own));
        const auto made = lower_to_pte(std::move(methods), options);
        CHECK(made.has_value() != is_corrupted);
        if (!made)
            CHECK_THAT(
                std::string(made.error().message), Catch::StartsWith("select_kernels changes the result"));
    }
}
