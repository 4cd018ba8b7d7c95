// SPDX-License-Identifier: MIT
// Tests operator support, alone and combined.

#include <catch2/catch.hpp>

#include <headrace/infer/aten.hpp>
#include <headrace/partition/operator_support.hpp>
#include <headrace/pass/pipeline.hpp>

#include "../support/pass_test.hpp"

using namespace headrace;

namespace {

// The documents' own example.
struct add_mul_support {
    bool is_node_supported(const node& n) const { return is<aten::add_tensor>(n) || is<aten::mul_tensor>(n); }
};

struct lower_relu6 : pass {
    using targets = ops<aten::relu6>;
    using produces = ops<aten::relu>;
    value operator()(const args<aten::relu6>& a, emit<produces>& e) const {
        return e.make<aten::relu>({.self = a.self});
    }
};
using small_pipeline =
    pipeline<from<aten::relu6, aten::relu, aten::neg>, to<aten::relu, aten::neg>, lower_relu6>;

const node& producer_of(value v) { return *v.producer; }

}  // namespace

TEST_CASE("support is any object that answers for a node", "[operator_support]") {
    program p;
    const value x = p.input(dtype::float32, {2, 3});
    const value sum = p.make<aten::add_tensor>({.self = x, .other = x});
    const value bent = p.make<aten::relu>({.self = sum});
    const operator_support support = add_mul_support{};
    CHECK(support.is_node_supported(producer_of(sum)));
    CHECK_FALSE(support.is_node_supported(producer_of(bent)));

    const auto by_ops = create_op_support<aten::relu, aten::neg>();
    CHECK(by_ops.is_node_supported(producer_of(bent)));
    CHECK_FALSE(by_ops.is_node_supported(producer_of(sum)));

    const auto by_function = create_op_support([](const node& n) { return n.operand_count == 2; });
    CHECK(by_function.is_node_supported(producer_of(sum)));
    CHECK_FALSE(by_function.is_node_supported(producer_of(bent)));
}

TEST_CASE("chain takes what all take, any_chain what one takes", "[operator_support]") {
    program p;
    const value x = p.input(dtype::float32, {2, 3});
    const value y = p.input(dtype::float32, {2, 2, 2, 2, 3});
    const value flat = p.make<aten::add_tensor>({.self = x, .other = x});
    const value deep = p.make<aten::add_tensor>({.self = y, .other = y});
    const value bent = p.make<aten::relu>({.self = x});
    const auto both = chain(add_mul_support{}, of_rank_at_most(4));
    CHECK(both.is_node_supported(producer_of(flat)));
    CHECK_FALSE(both.is_node_supported(producer_of(deep)));
    CHECK_FALSE(both.is_node_supported(producer_of(bent)));

    const auto either = any_chain(add_mul_support{}, create_op_support<aten::relu>());
    CHECK(either.is_node_supported(producer_of(deep)));
    CHECK(either.is_node_supported(producer_of(bent)));

    // Empty combinations: a chain refuses nothing, an any_chain takes nothing.
    CHECK(chain().is_node_supported(producer_of(bent)));
    CHECK_FALSE(any_chain().is_node_supported(producer_of(bent)));
}

TEST_CASE("types are asked of operands and results", "[operator_support]") {
    program p;
    const value x = p.input(dtype::float32, {2});
    const value whole = p.input(dtype::int32, {2});
    const value cast = p.make<aten::to_dtype>({.self = x, .dtype = dtype::float64});
    const value sum = p.make<aten::add_tensor>({.self = x, .other = whole});
    const auto floats = of_dtypes({dtype::float32, dtype::int32});
    CHECK_FALSE(floats.is_node_supported(producer_of(cast)));
    CHECK(floats.is_node_supported(producer_of(sum)));
    CHECK_FALSE(of_dtypes({dtype::float32}).is_node_supported(producer_of(sum)));
    p.g.clear_meta(x);
    CHECK_FALSE(floats.is_node_supported(producer_of(sum)));
}

TEST_CASE("a pipeline supports what it provably lowers", "[operator_support]") {
    program p;
    const value x = p.input(dtype::float32, {2});
    const value capped = p.make<aten::relu6>({.self = x});
    const value sum = p.make<aten::add_tensor>({.self = x, .other = x});
    const auto support = supported_by<small_pipeline>();
    CHECK(support.is_node_supported(producer_of(capped)));
    CHECK_FALSE(support.is_node_supported(producer_of(sum)));
}

TEST_CASE("a node with graphs is supported if all that is in them is", "[operator_support]") {
    using with_cond = pipeline<from<aten::relu6, aten::relu, higher_order::cond>,
        to<aten::relu, higher_order::cond>, lower_relu6>;
    const auto build = [](program& p, bool sound) -> const node& {
        const value x = p.input(dtype::float32, {2});
        const value flag = p.input(dtype::boolean, {});
        graph* branches[2];
        for (graph*& region : branches) {
            region = &p.g.create_region();
            const value inner = region->create<builtin::placeholder>({}).result();
            const value made = sound ? region->create<aten::relu6>({.self = inner}).result()
                                     : region->create<aten::neg>({.self = inner}).result();
            region->create<builtin::output>({.values = {&made, 1}});
        }
        return p.g.create<higher_order::cond>({flag, branches[0], branches[1], {&x, 1}}, 1);
    };
    program sound;
    program unsound;
    CHECK(supported_by<with_cond>().is_node_supported(build(sound, true)));
    CHECK_FALSE(supported_by<with_cond>().is_node_supported(build(unsound, false)));
}
