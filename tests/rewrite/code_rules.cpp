// SPDX-License-Identifier: MIT
// Tests rewrites that are code: the facts in their types, how they are called, decline and refuse, in both
// drivers.

#include <catch2/catch.hpp>

#include <headrace/fx/fused_sweeps.hpp>
#include <headrace/match/node_pattern.hpp>
#include <headrace/pass/emission_record.hpp>
#include <headrace/pass/pipeline.hpp>
#include <headrace/rewrite/arithmetic.hpp>

#include "../support/pass_test.hpp"

using namespace headrace;

namespace {

using made_rsqrt = ops<aten::rsqrt>;

// Code may be a lambda, a function that takes the arguments or the operands, and may want the op's tag.
struct all_forms : pass {
    static auto rewrites() {
        return rules(
            on<aten::sqrt> = code<made_rsqrt>(
                [](emit<made_rsqrt> e, const auto& a) -> value { return e.make<aten::rsqrt>(a.self); }),
            on<aten::sub_tensor> = code<swapped>(), on<aten::mul_tensor> = code<summed>(),
            on_each<ops<aten::floor, aten::ceil>> = code<ops<aten::sin, aten::cos>>(
                [](auto op, auto e, const auto& a) { return rounded(op, e, a.self); }),
            on<aten::silu> = [](auto x) { return x * sigmoid(x); });
    }

private:
    static value swapped(emit<ops<aten::add_tensor, aten::neg>> e, const args<aten::sub_tensor>& a) {
        return e.make<aten::add_tensor>(e.make<aten::neg>(a.other), a.self);
    }
    static value summed(emit<ops<aten::add_tensor>> e, value x, value y) {
        return e.make<aten::add_tensor>(x, y);
    }
    template <op_tag Op>
    static value rounded(Op, emit<ops<aten::sin, aten::cos>> e, value x) {
        if constexpr (std::is_same_v<Op, aten::floor>) {
            return e.make<aten::sin>(x);
        } else {
            return e.make<aten::cos>(x);
        }
    }
};
static_assert(effects_of<all_forms>::sound);
static_assert(effects_of<all_forms>::removed_set ==
    ops_in<aten::sqrt, aten::sub_tensor, aten::mul_tensor, aten::floor, aten::ceil, aten::silu>);
static_assert(effects_of<all_forms>::produced_set ==
    ops_in<aten::rsqrt, aten::add_tensor, aten::neg, aten::sin, aten::cos, aten::mul_tensor, aten::sigmoid>);

// Code that returns an optional may decline; the next rule of the op is then asked. It may refuse a node.
struct selective : pass {
    static auto rewrites() {
        return rules(on<aten::relu> = code<of_matrix>(), on<aten::relu> = code<of_vector>(),
            on<aten::tanh> = code<refused>());
    }

private:
    static std::optional<value> of_matrix(emit<ops<aten::abs>> e, const args<aten::relu>& a) {
        return e.rank(a.self) == 2 ? std::optional(e.make<aten::abs>(a.self)) : std::nullopt;
    }
    static std::optional<value> of_vector(emit<ops<aten::neg>> e, const args<aten::relu>& a) {
        return e.rank(a.self) == 1 ? std::optional(e.make<aten::neg>(a.self)) : std::nullopt;
    }
    static value refused(emit<ops<>> e, const args<aten::tanh>&) {
        return e.unsupported("nothing here is smooth");
    }
};
static_assert(effects_of<selective>::target_set == ops_in<aten::relu, aten::tanh>);
static_assert(effects_of<selective>::removed_set == ops_in<aten::tanh>);
static_assert(effects_of<selective>::produced_set == ops_in<aten::abs, aten::neg>);

// An op with several results takes a tuple, or a list if their number depends on the node.
struct several_results : pass {
    static auto rewrites() {
        return rules(on<aten::max_dim> = code<largest>(), on<aten::chunk> = code<parts>());
    }

private:
    static std::tuple<value, value> largest(
        emit<ops<aten::amax, aten::argmax>> e, const args<aten::max_dim>& a) {
        return {e.make<aten::amax>({.self = a.self, .dim = {a.dim}}),
            e.make<aten::argmax>({.self = a.self, .dim = a.dim})};
    }
    static value_list parts(emit<ops<aten::narrow>> e, const args<aten::chunk>& a) {
        value_list all;
        std::int64_t start = 0;
        for (std::uint32_t i = 0; i != e.current().result_count; ++i) {
            const std::int64_t size = e.result_meta(i).shape[0];
            all.push_back(e.make<aten::narrow>({.self = a.self, .dim = 0, .start = start, .length = size}));
            start += size;
        }
        return all;
    }
};
static_assert(effects_of<several_results>::removed_set == ops_in<aten::max_dim, aten::chunk>);

// A policy converts the operands that code reads, and what it returns.
struct in_exponentials {
    static constexpr auto made = ops_in<aten::exp, aten::log>;
    static term operand(const term& x) { return call<aten::exp>(x); }
    static term result(const term& y, std::uint32_t) { return call<aten::log>(y); }
};
struct converted : pass {
    static auto rewrites() { return rules_with<in_exponentials>(on<aten::add_tensor> = code<product>()); }

private:
    static value product(emit<ops<aten::mul_tensor>> e, const args<aten::add_tensor>& a) {
        return e.make<aten::mul_tensor>(a.self, a.other);
    }
};
static_assert(effects_of<converted>::produced_set == ops_in<aten::exp, aten::log, aten::mul_tensor>);

// Code in expressions may have captures, several results, and decline.
struct in_expressions : pass {
    static auto rewrites() {
        return rules(
            on<aten::max_dim> =
                [](auto x, const auto& a) {
                    const auto [extremum, place] = code<ops<aten::amax, aten::argmax>>(
                        [&](emit<ops<aten::amax, aten::argmax>> e, value v) {
                            return std::tuple(e.make<aten::amax>({.self = v, .dim = {a.dim}}),
                                e.make<aten::argmax>({.self = v, .dim = a.dim}));
                        },
                        -x);
                    return std::tuple(-extremum, place);
                },
            on<aten::relu> = [](auto x) { return code<of_matrix>(x); },
            on<aten::cat> = code<ops<aten::stack, aten::neg>>([](auto e, const auto& a) {
                return e.build([](auto x) { return -x; }, e.template make<aten::stack>(a.tensors, a.dim));
            }));
    }

private:
    static std::optional<value> of_matrix(emit<ops<aten::abs>> e, value v) {
        return e.rank(v) == 2 ? std::optional(e.make<aten::abs>(v)) : std::nullopt;
    }
};
static_assert(effects_of<in_expressions>::removed_set == ops_in<aten::max_dim, aten::cat>);
static_assert(effects_of<in_expressions>::produced_set ==
    ops_in<aten::amax, aten::argmax, aten::neg, aten::abs, aten::stack>);

// The rewrite of a match may be code.
struct of_matches : pass {
    static auto rewrites() {
        return rules(
            on_match([](auto x) { return node_of<"log", aten::log>(node_of<"exp", aten::exp>(x)); }) =
                code<ops<>>(
                    [](emit<ops<>> e, value x) { return e.rank(x) == 1 ? std::optional(x) : std::nullopt; }),
            on_match([](auto x, auto y) {
                return node_of<"sum", aten::add_tensor>(x, node_of<"negative", aten::neg>(y));
            }) = code<ops<aten::sub_tensor>>([](emit<ops<aten::sub_tensor>> e, value x, value y,
                                                 const auto& m) {
                return e.make<aten::sub_tensor>(x, y, get<"sum">(m).alpha);
            }));
    }
};
static_assert(effects_of<of_matches>::sound);
static_assert(effects_of<of_matches>::target_set == ops_in<aten::log, aten::add_tensor>);
static_assert(effects_of<of_matches>::removed_set.empty());
static_assert(effects_of<of_matches>::produced_set == ops_in<aten::sub_tensor>);

// Code may read more than its node, so its pass shares no sweep with others.
static_assert(!shares_sweeps<all_forms>);

// Faults are found where the rule is read.
template <class P, class Op, class Diagnosis>
constexpr bool finds = std::is_same_v<typename effects_of<P>::faulty_rule, in_rewrite<P, Op, Diagnosis>>;
struct takes_a_number : pass {
    static auto rewrites() {
        return rules(
            on<aten::relu> = code<ops<aten::abs>>([](emit<ops<aten::abs>>, int) { return value(); }));
    }
};
static_assert(finds<takes_a_number, aten::relu, not_code_for<aten::relu, ops<aten::abs>>>);
struct returns_a_rank : pass {
    static auto rewrites() {
        return rules(
            on<aten::relu> = code<ops<>>([](emit<ops<>> e, const auto& a) { return e.rank(a.self); }));
    }
};
static_assert(finds<returns_a_rank, aten::relu, not_values<std::size_t>>);
struct returns_one_of_two : pass {
    static auto rewrites() {
        return rules(on<aten::max_dim> = code<ops<>>([](emit<ops<>>, const auto& a) { return a.self; }));
    }
};
static_assert(finds<returns_one_of_two, aten::max_dim, wrong_result_count<aten::max_dim, 1, 2>>);
struct matches_another_name : pass {
    static auto rewrites() {
        return rules(on_match([](auto x) { return node_of<"log", aten::log>(x); }) =
                         code<ops<>>([](emit<ops<>>, value, const auto& m) { return get<"lok">(m).self; }));
    }
};
static_assert(finds<matches_another_name, aten::log, not_in_pattern<"lok", pattern_names<"log">>>);

/// Runs a pass with each driver on a program of `build`, and `look(graph&, std::size_t rewritten)`.
void run(auto p, const auto& build, const auto& look) {
    for (const driver_kind driver : testing::both_drivers) {
        program of;
        build(of);
        of.finish();
        pass_context context;
        const auto counts = apply_pass(p, of.g, context, driver);
        REQUIRE(counts);
        look(of.g, counts.value().rewritten);
    }
}
template <op_tag Op>
void add_unary(program& p, int_list shape) {
    p.output(p.make<Op>({.self = p.input(dtype::float32, shape)}));
}

TEST_CASE("each form of code is run", "[rules]") {
    const auto build = [](program& p) {
        for (const auto add : {&add_unary<aten::sqrt>, &add_unary<aten::floor>, &add_unary<aten::ceil>}) {
            add(p, {2});
        }
        const value x = p.input(dtype::float32, {2});
        p.output(p.make<aten::sub_tensor>({.self = x, .other = x}));
        p.output(p.make<aten::mul_tensor>({.self = x, .other = x}));
    };
    run(all_forms{}, build, [](graph& g, std::size_t rewritten) {
        CHECK(rewritten == 5);
        CHECK(count_of<aten::rsqrt>(g) == 1);
        CHECK(count_of<aten::add_tensor>(g) == 2);
        CHECK(count_of<aten::neg>(g) == 1);
        CHECK(count_of<aten::sin>(g) == 1);
        CHECK(count_of<aten::cos>(g) == 1);
    });
}

TEST_CASE("code can leave its node as it is", "[rules]") {
    const auto build = [](program& p) {
        add_unary<aten::relu>(p, {2, 2});
        add_unary<aten::relu>(p, {2});
        add_unary<aten::relu>(p, {2, 2, 2});
    };
    run(selective{}, build, [](graph& g, std::size_t rewritten) {
        CHECK(rewritten == 2);
        CHECK(count_of<aten::abs>(g) == 1);
        CHECK(count_of<aten::neg>(g) == 1);
        CHECK(count_of<aten::relu>(g) == 1);
    });
}

TEST_CASE("code can refuse its node", "[rules]") {
    for (const driver_kind driver : testing::both_drivers) {
        program p;
        add_unary<aten::tanh>(p, {2});
        p.finish();
        pass_context context;
        const auto counts = apply_pass(selective{}, p.g, context, driver);
        REQUIRE(counts);
        CHECK(counts.value().rewritten == 0);
        REQUIRE(context.diagnostics().size() == 1);
        CHECK(context.diagnostics()[0].reason == "nothing here is smooth");
        CHECK(count_of<aten::tanh>(p.g) == 1);
    }
}

TEST_CASE("code gives several results", "[rules]") {
    CHECK(compare_runs<several_results>([](program& p) {
        const value x = p.input(dtype::float32, {4, 3});
        node& extrema = p.make_node<aten::max_dim>({.self = x, .dim = 1});
        p.output(extrema.result(0));
        p.output(extrema.result(1));
        node& halves = p.make_node<aten::chunk>({.self = x, .chunks = 2});
        p.output(halves.result(0));
        p.output(halves.result(1));
    }).empty());
}

TEST_CASE("a policy converts what code reads and returns", "[rules]") {
    CHECK(compare_runs<converted>([](program& p) {
        const value x = p.input(dtype::float32, {4});
        p.output(p.make<aten::add_tensor>({.self = x, .other = x}));
    }).empty());
}

TEST_CASE("code is a part of expressions, and expressions are parts of code", "[rules]") {
    const auto build = [](program& p) {
        const value x = p.input(dtype::float32, {2, 2});
        node& extrema = p.make_node<aten::max_dim>({.self = x, .dim = 1});
        p.output(extrema.result(0));
        p.output(extrema.result(1));
        add_unary<aten::relu>(p, {2, 2});
        add_unary<aten::relu>(p, {2});
    };
    run(in_expressions{}, build, [](graph& g, std::size_t rewritten) {
        CHECK(rewritten == 2);
        CHECK(count_of<aten::neg>(g) == 2);
        CHECK(count_of<aten::abs>(g) == 1);
        CHECK(count_of<aten::relu>(g) == 1);
    });
}

TEST_CASE("code rewrites a match", "[rules]") {
    const auto build = [](program& p) {
        for (const int_list& shape : {int_list{2}, int_list{2, 2}}) {
            const value x = p.input(dtype::float32, shape);
            p.output(p.make<aten::log>({.self = p.make<aten::exp>({.self = x})}));
            p.output(
                p.make<aten::add_tensor>({.self = x, .other = p.make<aten::neg>({.self = x}), .alpha = 3}));
            p.output(p.make<aten::add_tensor>({.self = x, .other = x}));
        }
    };
    run(of_matches{}, build, [](graph& g, std::size_t rewritten) {
        CHECK(rewritten == 3);
        CHECK(count_of<aten::log>(g) == 1);
        CHECK(count_of<aten::add_tensor>(g) == 2);
        for (const node& n : g.nodes_of(info_of<aten::sub_tensor>)) {
            CHECK(args_of<aten::sub_tensor>(n).alpha.to_double() == 3);
        }
    });
}

TEST_CASE("a record of emissions tells what code declares and never emits", "[rules]") {
    program p;
    add_unary<aten::relu>(p, {2});
    p.finish();
    pass_context context;
    const emission_record emitted(context);
    REQUIRE(apply_pass(selective{}, p.g, context));
    CHECK(emitted.never<selective>() == pmr_vector<std::string_view>{"aten.abs.default"});
}

}  // namespace
