// SPDX-License-Identifier: MIT
// Tests headrace::compare_models with outputs that kernels give in another shape.

#include <catch2/catch.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <headrace/compare/compare_models.hpp>
#include <headrace/compare/match_values.hpp>
#include <headrace/lowering/lower_pte.hpp>
#include <headrace/partition/extract.hpp>
#include <headrace/quantization/quantize_graph.hpp>
#include <headrace/run/execution.hpp>

#include "../support/program.hpp"

using namespace headrace;

namespace {

sample_source rising(std::size_t count) {
    return {count, [](std::size_t seed) -> result<std::vector<tensor>> {
                std::vector<double> numbers;
                for (int i = 0; i != 4 * 5 * 6; ++i)
                    numbers.push_back((i * 37 + static_cast<int>(seed)) % 120 / 60.0 - 1);
                return std::vector{tensor::of(dtype::float32, {4, 5, 6}, numbers)};
            }};
}

// A sum whose first axes are exchanged, as a network gives it that computes with the sequence first.
void sequence_first(testing::program& p) {
    const value x = p.input(dtype::float32, {4, 5, 6});
    const value w = p.constant(dtype::float32, {6}, {1.0F, -0.5F, 0.25F, 1.0F, 0.5F, -1.0F});
    const value moved = p.make<aten::transpose_int>({.self = x, .dim0 = 0, .dim1 = 1});
    const value product = p.make<aten::mul_tensor>({.self = moved, .other = w});
    const value y = p.make<aten::transpose_int>({.self = product, .dim0 = 0, .dim1 = 1});
    p.g.set_name(x, "x");
    p.g.set_name(product, "product");
    p.g.set_name(y, "last");
    p.output(y);
    p.finish();
    pass_context context(standard_functions);
    REQUIRE(quantize_graph(p.g, context, {}, rising(4)));
    REQUIRE(context.diagnostics().empty());
}

}  // namespace

TEST_CASE("compare_models: an output that is a view of a kernel's result is compared", "[compare]") {
    testing::program p;
    sequence_first(p);
    headrace::program exported;
    exported.graph = std::make_unique<graph>();
    exported.user_outputs = 1;
    copy_graph(p.g, *exported.graph);
    std::map<std::string, headrace::program, std::less<>> methods;
    methods.emplace("forward", std::move(exported));
    pte_options options;
    options.integer_signature = true;
    options.kernels = target_spec{}.with(target_feature::profile_int).with(target_feature::core);
    const auto made = lower_to_pte(std::move(methods), options);
    REQUIRE(made);
    REQUIRE(made.value().refusals.empty());
    graph& lowered = *made.value().methods.at("forward").graph;
    REQUIRE(is_kernel_graph(lowered));
    const auto compared = compare_models(p.g, lowered, {.samples = rising(2)});
    REQUIRE(compared);
    std::size_t outputs = 0;
    for (const layer_comparison& l : compared.value().layers) {
        if (!l.is_output) continue;
        ++outputs;
        CHECK(l.name == "last");
        CHECK(l.sqnr > 40);
    }
    CHECK(outputs == 1);
}
