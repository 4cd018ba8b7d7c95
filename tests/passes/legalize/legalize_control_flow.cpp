// SPDX-License-Identifier: MIT
// Tests control flow: constants move into branches and loops, which become COND_IF and WHILE_LOOP.
#include <catch2/catch.hpp>

#include <headrace/passes/legalize/control_flow.hpp>
#include <headrace/passes/normalize/regions.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;
constexpr dtype i32 = dtype::int32;
constexpr target_spec with_control_flow = *parse_target("TOSA-1.0+FP+cf");

static_assert(
    effects_of<legalize_control_flow>::removed_set == effects_of<legalize_control_flow>::target_set);
static_assert(effects_of<move_constants_into_regions>::sound);
static_assert(effects_of<move_constants_into_regions>::removed_set.empty());

template <op_tag Op>
value make_in(graph& g, const args<Op>& a) {
    inference inferred(g.arena());
    REQUIRE(infer_op<Op>(a, inferred));
    node& n = g.create<Op>(a);
    g.set_meta(n.result(), inferred.results()[0]);
    return n.result();
}

/// A region with inputs like `operands`, which returns the results of `body(graph&, inputs)`.
template <class Body>
graph* region_of(program& p, const value_list& operands, const Body& body) {
    graph& region = p.g.create_region();
    value_list inputs;
    for (const value v : operands) {
        inputs.push_back(region.create<builtin::placeholder>({}).result());
        region.set_meta(inputs[inputs.size() - 1], *meta_of(v));
    }
    const value_list results = body(region, inputs);
    region.create<builtin::output>({.values = results});
    return &region;
}

/// Two results, of one branch or the other, for inputs [2, 3] and [3] and a constant [3].
void branches(program& p) {
    p.g.set_target(with_control_flow);
    const value condition = p.input(dtype::boolean, {});
    const value x = p.input(fp32, {2, 3});
    const value c = p.constant<float>(fp32, {3}, {1, -2, 3});
    const value_list operands{x, c, p.input(fp32, {3})};
    graph* yes = region_of(p, operands, [](graph& g, const value_list& in) {
        const value sum = make_in<aten::add_tensor>(g, {.self = in[0], .other = in[1]});
        return value_list{sum, make_in<aten::neg>(g, {in[2]})};
    });
    graph* no = region_of(p, operands, [](graph& g, const value_list& in) {
        const value product = make_in<aten::mul_tensor>(g, {in[0], in[2]});
        return value_list{product, in[1]};
    });
    node& made = p.make_node<higher_order::cond>({condition, yes, no, operands});
    for (const std::uint32_t i : {0U, 1U}) p.output(made.result(i));
}

/// x := x * c + y while i < limit, for a carried counter and a carried tensor; c is a constant, y and limit
/// are inputs.
void loop(program& p) {
    p.g.set_target(with_control_flow);
    const value_list carried{p.input(i32, {}), p.input(fp32, {2, 3})};
    const value limit = p.input(i32, {});
    const value c = p.constant<float>(fp32, {3}, {0.5F, -1, 2});
    const value_list more{limit, c, p.input(fp32, {2, 3})};
    value_list all{carried[0], carried[1], more[0], more[1], more[2]};
    graph* goes_on = region_of(p, all, [](graph& g, const value_list& in) {
        return value_list{make_in<aten::lt_tensor>(g, {in[0], in[2]})};
    });
    graph* body = region_of(p, all, [](graph& g, const value_list& in) {
        const value next = make_in<aten::add_scalar>(g, {.self = in[0], .other = 1});
        const value product = make_in<aten::mul_tensor>(g, {in[1], in[3]});
        return value_list{next, make_in<aten::add_tensor>(g, {.self = product, .other = in[4]})};
    });
    node& made = p.make_node<higher_order::while_loop>({goes_on, body, carried, more});
    for (const std::uint32_t i : {0U, 1U}) p.output(made.result(i));
}

template <class... Passes>
std::pmr::string compare_branches() {
    std::mt19937 random(3);
    for (const int condition : {0, 1}) {
        std::pmr::string fault = compare_runs<Passes...>(branches,
            {tensor::of_number(dtype::boolean, condition), random_tensor(random, {fp32, {2, 3}, {}}),
                random_tensor(random, {fp32, {3}, {}})});
        if (!fault.empty()) return fault;
    }
    return {};
}
template <class... Passes>
std::pmr::string compare_loops() {
    std::mt19937 random(3);
    for (const int limit : {0, 1, 4}) {
        std::pmr::string fault = compare_runs<Passes...>(loop,
            {tensor::of_number(i32, 0), random_tensor(random, {fp32, {2, 3}, {}}),
                tensor::of_number(i32, limit), random_tensor(random, {fp32, {2, 3}, {}})});
        if (!fault.empty()) return fault;
    }
    return {};
}
template <class Pass, class Build>
graph& after(program& p, const Build& build) {
    build(p);
    p.finish();
    pass_context context;
    CHECK(run_pass<Pass>(p.g, context) == "");
    return p.g;
}

}  // namespace

TEST_CASE("constants move into branches and loops") {
    CHECK(compare_branches<move_constants_into_regions>() == "");
    CHECK(compare_loops<move_constants_into_regions>() == "");
    program p;
    for (const node& n :
        after<move_constants_into_regions>(p, branches).nodes_of(info_of<higher_order::cond>)) {
        const auto& a = args_of<higher_order::cond>(n);
        CHECK(a.operands.size() == 2);
        CHECK(count_of<builtin::constant>(*a.true_graph) == 1);
        CHECK(count_of<builtin::constant>(*a.false_graph) == 1);
        CHECK(count_of<builtin::placeholder>(*a.true_graph) == 2);
    }
    program q;
    for (const node& n :
        after<move_constants_into_regions>(q, loop).nodes_of(info_of<higher_order::while_loop>)) {
        const auto& a = args_of<higher_order::while_loop>(n);
        CHECK(a.additional_inputs.size() == 2);
        CHECK(count_of<builtin::constant>(*a.cond_graph) == 1);
        CHECK(count_of<builtin::placeholder>(*a.body_graph) == 4);
    }
}

TEST_CASE("a constant that is carried stays: the loop changes it") {
    const auto build = [](program& p) {
        const value start = p.constant<std::int32_t>(i32, {}, {0});
        const value_list carried{start};
        graph* goes_on = region_of(p, {start}, [](graph& g, const value_list& in) {
            return value_list{make_in<aten::lt_scalar>(g, {in[0], 5})};
        });
        graph* body = region_of(p, {start}, [](graph& g, const value_list& in) {
            return value_list{make_in<aten::add_scalar>(g, {.self = in[0], .other = 2})};
        });
        p.output(p.make<higher_order::while_loop>({goes_on, body, carried, {}}));
    };
    CHECK_THAT(build, is_left_alone_by<move_constants_into_regions>());
    program p;
    CHECK(count_of<builtin::constant>(after<move_constants_into_regions>(p, build)) == 1);
}

TEST_CASE("branches and loops become TOSA's") {
    CHECK(compare_branches<legalize_control_flow>() == "");
    CHECK(compare_loops<legalize_control_flow>() == "");
    CHECK(compare_branches<move_constants_into_regions, legalize_control_flow>() == "");
    CHECK(compare_loops<move_constants_into_regions, legalize_control_flow>() == "");
    program p;
    CHECK(count_of<tosa::cond_if>(after<legalize_control_flow>(p, branches)) == 1);
    program q;
    for (const node& n : after<legalize_control_flow>(q, loop).nodes_of(info_of<tosa::while_loop>)) {
        const auto& a = args_of<tosa::while_loop>(n);
        CHECK(a.inputs.size() == 5);
        CHECK(a.body_graph->outputs().size() == 5);  // TOSA's bodies return their operands
    }
}

TEST_CASE("without the extension, control flow is refused") {
    const auto without = [](const auto& build) {
        return [=](program& p) {
            build(p);
            p.g.set_target(*parse_target("TOSA-1.0+FP"));
        };
    };
    CHECK_THAT(without(branches), is_refused_by<legalize_control_flow>("extension cf"));
    CHECK_THAT(without(loop), is_refused_by<legalize_control_flow>("extension cf"));
}
