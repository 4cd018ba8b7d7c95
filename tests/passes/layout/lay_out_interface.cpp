// SPDX-License-Identifier: MIT
// Tests that inputs and outputs are channels-last on request.
#include <catch2/catch.hpp>

#include <headrace/passes/layout/choose_layouts.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;

tensor channels_last(const tensor& t) {
    const extents& s = t.shape();
    std::vector<double> numbers;
    for (std::int64_t n = 0; n != s[0]; ++n) {
        for (std::int64_t at = 0; at != s[2] * s[3]; ++at) {
            for (std::int64_t c = 0; c != s[1]; ++c)
                numbers.push_back(t.real((n * s[1] + c) * s[2] * s[3] + at));
        }
    }
    return tensor::of(t.type(), {s[0], s[2], s[3], s[1]}, numbers);
}

void two_inputs(program& p) {
    const value image = p.input(fp32, {2, 3, 4, 5});
    const value row = p.input(fp32, {3, 1, 1});
    p.output(p.make<tosa::exp>({.input1 = image}));
    p.output(row);
}

}  // namespace

TEST_CASE("images are NHWC where that is asked for, and nothing else changes") {
    program exported;
    two_inputs(exported);
    exported.finish();
    std::mt19937 random(5);
    std::vector<tensor> inputs;
    for (const node& n : exported.g.inputs()) inputs.push_back(random_tensor(random, *n.results[0].meta));
    const auto expected = run_graph(exported.g, inputs);
    REQUIRE(expected);

    program p;
    two_inputs(p);
    p.finish();
    CHECK_FALSE(lay_out_interface{}.should_run(p.g));
    for (node& n : p.g.inputs()) p.g.annotate(n, channels_last_signature{});
    p.g.annotate(*p.g.output(), channels_last_signature{});
    REQUIRE(lay_out_interface{}.should_run(p.g));
    pass_context context;
    CHECK(run_pass<lay_out_interface>(p.g, context) == "");
    CHECK_FALSE(lay_out_interface{}.should_run(p.g));
    CHECK(p.g.inputs().begin()->results[0].meta->shape == int_list{2, 4, 5, 3});

    const auto results = run_graph(p.g, std::vector{channels_last(inputs[0]), inputs[1]});
    REQUIRE(results);
    CHECK(tensor_difference(channels_last(expected.value()[0]), results.value()[0], 0) == "");
    CHECK(tensor_difference(expected.value()[1], results.value()[1], 0) == "");
}

TEST_CASE("outputs alone, or inputs alone") {
    program p;
    two_inputs(p);
    p.finish();
    p.g.annotate(*p.g.output(), channels_last_signature{});
    pass_context context;
    CHECK(lay_out_interface{}(p.g, context).value() == 1);
    CHECK(p.g.inputs().begin()->results[0].meta->shape == int_list{2, 3, 4, 5});
    CHECK(meta_of(p.g.outputs()[0])->shape == int_list{2, 4, 5, 3});
}
