// SPDX-License-Identifier: MIT
// Tests functionalize: a program with in-place ops against the equivalent functional one by PyTorch's
// semantics.
#include <catch2/catch.hpp>

#include <headrace/passes/normalize/casts_and_copies.hpp>
#include <headrace/passes/normalize/functionalize.hpp>
#include <headrace/passes/normalize/variants.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

static_assert(graph_pass<functionalize>);

constexpr dtype fp32 = dtype::float32;

/// Empty if `written`, after the pass, has the results of `meant`, for one input [3, 4].
template <class Written, class Meant>
std::pmr::string compare(const Written& written, const Meant& meant) {
    const auto run = [](const auto& build, bool functional) {
        program p;
        build(p, p.input(fp32, {3, 4}));
        p.finish();
        pass_context context;
        std::pmr::string fault = p.fault;
        if (functional) {
            fault += run_pass<functionalize>(p.g, context);
            fault += run_pass<canonicalize_variants>(p.g, context);
            fault += run_pass<canonicalize_casts>(p.g, context);
        }
        for (const diagnostic& d : context.diagnostics()) fault += d.reason;
        std::mt19937 random(3);
        const std::vector<tensor> inputs{random_tensor(random, {fp32, {3, 4}, {}})};
        return std::pair(fault, run_graph(p.g, inputs));
    };
    const auto [fault, got] = run(written, true);
    const auto [no_fault, wanted] = run(meant, false);
    if (!fault.empty()) return fault;
    if (!got) return got.error().message;
    if (!wanted) return wanted.error().message;
    for (std::size_t i = 0; i != wanted.value().size(); ++i) {
        const std::pmr::string difference = tensor_difference(wanted.value()[i], got.value()[i], 0);
        if (!difference.empty()) return "output " + number_text(i) + ", " + difference;
    }
    return {};
}

value tripled(program& p, value x) { return p.make<aten::mul_scalar>({x, 3.0}); }

}  // namespace

TEST_CASE("later readers see the new value, earlier ones the old") {
    CHECK(compare(
              [](program& p, value x) {
                  const value y = tripled(p, x);
                  const value before = p.make<aten::neg>({y});
                  p.make<aten::add_inplace_scalar>({.self = y, .other = 2.0});
                  p.make<aten::relu_inplace>({y});
                  p.output(before);
                  p.output(p.make<aten::neg>({y}));
              },
              [](program& p, value x) {
                  const value y = tripled(p, x);
                  p.output(p.make<aten::neg>({y}));
                  p.output(p.make<aten::neg>(
                      {p.make<aten::relu>({p.make<aten::add_scalar>({.self = y, .other = 2.0})})}));
              }) == "");
}

TEST_CASE("a write through views reaches the tensor, and a write to the tensor its views") {
    CHECK(compare(
              [](program& p, value x) {
                  const value y = tripled(p, x);
                  const value turned = p.make<aten::t>({y});
                  const value row = p.make<aten::select_int>({turned, 0, 1});  // column 1 of y
                  const value part = p.make<aten::slice_tensor>({.self = row, .dim = 0, .start = 1});
                  p.make<aten::neg_inplace>({part});
                  p.make<aten::abs_inplace>({y});
                  p.output(y);
                  p.output(part);
                  p.output(turned);
              },
              [](program& p, value x) {
                  const value y = tripled(p, x);
                  const value column = p.make<aten::select_int>({y, 1, 1});
                  const value part = p.make<aten::slice_tensor>({.self = column, .dim = 0, .start = 1});
                  const value negated = p.make<aten::slice_scatter>(
                      {.self = column, .src = p.make<aten::neg>({part}), .dim = 0, .start = 1});
                  const value z = p.make<aten::select_scatter>({y, negated, 1, 1});
                  const value last = p.make<aten::abs>({z});
                  p.output(last);
                  p.output(p.make<aten::slice_tensor>(
                      {.self = p.make<aten::select_int>({last, 1, 1}), .dim = 0, .start = 1}));
                  p.output(p.make<aten::t>({last}));
              }) == "");
}

TEST_CASE("parts of a split and reshaped tensors share memory") {
    CHECK(compare(
              [](program& p, value x) {
                  const value y = tripled(p, x);
                  node& parts = p.make_node<aten::split_tensor>({y, 2, 1});
                  const value flat = p.make<aten::view>({y, {12}});
                  p.make<aten::neg_inplace>({parts.result(1)});
                  p.make<aten::copy_inplace>({flat, p.make<aten::add_scalar>({.self = flat, .other = 1.0})});
                  p.output(y);
                  p.output(parts.result(0));
              },
              [](program& p, value x) {
                  const value y = tripled(p, x);
                  const value right = p.make<aten::slice_tensor>({.self = y, .dim = 1, .start = 2});
                  const value z = p.make<aten::slice_scatter>(
                      {.self = y, .src = p.make<aten::neg>({right}), .dim = 1, .start = 2});
                  const value last = p.make<aten::add_scalar>({.self = z, .other = 1.0});
                  p.output(last);
                  p.output(p.make<aten::slice_tensor>({.self = last, .dim = 1, .start = 0, .end = 2}));
              }) == "");
}

TEST_CASE("parts of a cut whose indices go back overlap") {
    CHECK(compare(
              [](program& p, value x) {
                  const value y = tripled(p, x);
                  node& parts = p.make_node<aten::tensor_split_indices>({y, {3, 3, 1}, 1});
                  p.make<aten::neg_inplace>({parts.result(3)});
                  p.output(y);
                  p.output(parts.result(0));
              },
              [](program& p, value x) {
                  const value y = tripled(p, x);
                  const value right = p.make<aten::slice_tensor>({.self = y, .dim = 1, .start = 1});
                  const value z = p.make<aten::slice_scatter>(
                      {.self = y, .src = p.make<aten::neg>({right}), .dim = 1, .start = 1});
                  p.output(z);
                  p.output(p.make<aten::slice_tensor>({.self = z, .dim = 1, .start = 0, .end = 3}));
              }) == "");
}

TEST_CASE("a reshaped tensor that nothing else reads may be a copy or not") {
    const auto flat_of = [](program& p, value x) {
        const value y = tripled(p, x);
        p.g.set_meta(y, {fp32, {3, 4}, {1, 0}});  // it is not contiguous, so reshape may copy it
        return p.make<aten::reshape>({y, {12}});
    };
    CHECK(compare(
              [&](program& p, value x) {
                  const value flat = flat_of(p, x);
                  p.make<aten::neg_inplace>({flat});
                  p.output(flat);
              },
              [&](program& p, value x) { p.output(p.make<aten::neg>({flat_of(p, x)})); }) == "");
}

TEST_CASE("what may or may not be a copy is refused") {
    CHECK_THAT(
        [](program& p) {
            const value y = tripled(p, p.input(fp32, {3, 4}));
            const value flat = p.make<aten::reshape>({p.make<aten::t>({y}), {12}});
            p.make<aten::neg_inplace>({flat});
            p.output(y);
        },
        is_refused_by<functionalize>("clone the tensor first"));
}

TEST_CASE("a refused write leaves every reader a tensor of its own shape") {
    program p;
    const value y = tripled(p, p.input(fp32, {3, 4}));
    p.make<aten::neg_inplace>({p.make<aten::movedim_int>({y, 0, 1})});
    p.output(p.make<aten::exp>({y}));
    p.finish();
    pass_context context;
    REQUIRE(apply_pass(functionalize{}, p.g, context));
    REQUIRE(context.diagnostics().size() == 1);
    CHECK(meta_of(p.g.outputs()[0].producer->operand(0))->shape == int_list{3, 4});
}
