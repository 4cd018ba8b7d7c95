// SPDX-License-Identifier: MIT
// Tests headrace::pte_check on right programs whose kernels compute otherwise than the layers they are for.

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <headrace/compare/pte_check.hpp>
#include <headrace/dialect/cortex_m.hpp>
#include <headrace/lowering/lower_pte.hpp>
#include <headrace/partition/extract.hpp>

#include "../support/program.hpp"

using namespace headrace;

namespace {

struct lowered_program {
    std::string error{};
    checked_method found{};
    std::size_t softmaxes = 0;
};

value quantized_by(testing::program& p, value v, double scale, std::int64_t zero) {
    const value q = p.make<quantized_decomposed::quantize_per_tensor>({.input = v,
        .scale = scale,
        .zero_point = zero,
        .quant_min = -128,
        .quant_max = 127,
        .dtype = dtype::int8});
    return p.make<quantized_decomposed::dequantize_per_tensor>({.input = q,
        .scale = scale,
        .zero_point = zero,
        .quant_min = -128,
        .quant_max = 127,
        .dtype = dtype::int8});
}

// Lowers a program to kernels, and checks it; `corrupt` changes the graph first.
lowered_program check_kernels(const std::function<void(testing::program& p)>& build,
    bool channels_last = false, const std::function<void(graph& g)>& corrupt = {}) {
    testing::program p;
    build(p);
    p.finish();
    REQUIRE(p.fault.empty());
    program exported;
    exported.graph = std::make_unique<graph>();
    exported.user_outputs = 1;
    copy_graph(p.g, *exported.graph);
    std::map<std::string, program, std::less<>> methods;
    methods.emplace("forward", std::move(exported));
    pte_options options;
    options.channels_last = channels_last;
    options.kernels = target_spec{}.with(target_feature::profile_int).with(target_feature::core);
    lowered_program done;
    lowering_observer own;
    own.after_pass = [&](const pass_record& pass, graph& g) -> result<void> {
        if (pass.name != "select_integer_kernels") return {};
        if (corrupt) corrupt(g);
        for (const node& n : g.nodes()) done.softmaxes += is<cortex_m::softmax>(n) ? 1 : 0;
        return {};
    };
    pte_check checking(1);
    options.observer = checking.observer(std::move(own));
    const auto made = lower_to_pte(std::move(methods), options);
    if (!made) {
        done.error = std::string(made.error().message);
    } else {
        CHECK(made.value().refusals.empty());
        done.found = checking.findings().front();
    }
    return done;
}

// A softmax that was decomposed before it was quantized; the steps of its sum are `of_sum`.
value softmax_in_parts(testing::program& p, double of_input, double of_sum, double of_result) {
    constexpr double of_power = 1.0 / 255;
    const value x = quantized_by(p, p.input(dtype::float32, {2, 3, 16}), of_input, -128);
    const value top =
        quantized_by(p, p.make<aten::amax>({.self = x, .dim = {-1}, .keepdim = true}), of_input, -128);
    const value less = quantized_by(p, p.make<aten::sub_tensor>({.self = x, .other = top}), of_input, 127);
    const value powers = quantized_by(p, p.make<aten::exp>({.self = less}), of_power, -128);
    const value sum = quantized_by(p,
        p.make<aten::sum_dim_intlist>({.self = powers, .dim = int_list{-1}, .keepdim = true}), of_sum, -128);
    const value inverse = quantized_by(p, p.make<aten::reciprocal>({.self = sum}), of_power, -128);
    const value product = p.make<aten::mul_tensor>({.self = powers, .other = inverse});
    p.g.set_name(product, "shares");
    return quantized_by(p, product, of_result, -128);
}

}  // namespace

TEST_CASE("pte_check: a table for an operand is not taken for the layer", "[compare]") {
    for (const bool channels_last : {false, true}) {
        CAPTURE(channels_last);
        const lowered_program done = check_kernels(
            [](testing::program& p) {
                const value x = quantized_by(p, p.input(dtype::float32, {1, 3, 4, 4}), 0.0173, -6);
                const value y = quantized_by(p, p.input(dtype::float32, {1, 3, 4, 4}), 0.0207, -37);
                p.output(quantized_by(p, p.make<aten::maximum>({.self = x, .other = y}), 0.016, -86));
            },
            channels_last);
        CHECK(done.error.empty());
        CHECK(done.found.layers >= 1);
        CHECK(done.found.layer_steps <= 1);
    }
}

TEST_CASE("pte_check: a kernel for a softmax is compared with the softmax of floats", "[compare]") {
    // Sums above 2.64 saturate in the program, not in the kernel.
    const auto build = [](testing::program& p) { p.output(softmax_in_parts(p, 0.05, 0.0103, 1.0 / 255)); };
    const lowered_program done = check_kernels(build);
    CHECK(done.error.empty());
    CHECK(done.softmaxes == 1);
    CHECK(done.found.layers >= 1);
    CHECK(done.found.layer_steps <= 2);
    CHECK(done.found.output_steps > 2);

    const lowered_program wrong = check_kernels(build, false, [](graph& g) {
        for (node& n : g.nodes()) {
            if (auto* a = const_cast<args<cortex_m::softmax>*>(args_if<cortex_m::softmax>(n)))
                a->input_multiplier /= 2;
        }
    });
    CHECK_THAT(wrong.error, Catch::Contains("shares (aten.mul.Tensor; now cortex_m."));
}

TEST_CASE("pte_check: the steps of a kernel for a softmax are not those of the program", "[compare]") {
    const lowered_program done = check_kernels([](testing::program& p) {
        const value shares = softmax_in_parts(p, 0.05, 0.0627, 10.0 / 255);
        p.output(quantized_by(p, p.make<aten::log>({.self = shares}), 0.03, 127));
    });
    CHECK(done.error.empty());
    CHECK(done.softmaxes == 1);
    CHECK(done.found.layer_steps <= 2);
}

TEST_CASE("pte_check: a model that random inputs do not suit is valid", "[compare]") {
    testing::program p;
    const value x = p.input(dtype::int32, {64, 64});
    const value y = p.input(dtype::int32, {64, 64});
    p.output(p.make<aten::div_tensor_mode>({.self = x, .other = y, .rounding_mode = "floor"}));
    p.finish();
    pte_check checking(1);
    const result<void> done = checking.observer().begin(p.g);
    REQUIRE_FALSE(done);
    CHECK(done.error().kind == error_kind::unsupported);
    const std::string said(done.error().message);
    CHECK_THAT(said, Catch::StartsWith("the model cannot be executed with random inputs: "));
    CHECK_THAT(said, Catch::EndsWith(": an integer is divided by 0; give inputs that fit it (--in)"));
}
