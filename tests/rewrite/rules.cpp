// SPDX-License-Identifier: MIT
// Tests rewrites that are expressions: the facts in their types, and the nodes that they make.

#include <catch2/catch.hpp>

#include <headrace/pass/pipeline.hpp>
#include <headrace/rewrite/arithmetic.hpp>

#include "../support/pass_test.hpp"

using namespace headrace;

namespace {

struct decompose_silu : pass {
    static auto rewrites() {
        return rules(on<aten::silu> = [](auto x) { return x * sigmoid(x); });
    }
};
static_assert(std::is_same_v<targets_of<decompose_silu>, ops<aten::silu>>);
static_assert(effects_of<decompose_silu>::produced_set == ops_in<aten::mul_tensor, aten::sigmoid>);
static_assert(effects_of<decompose_silu>::removed_set == ops_in<aten::silu>);
static_assert(set_of<produces_of<decompose_silu>> == ops_in<aten::mul_tensor, aten::sigmoid>);

// Every branch counts, and one that may keep the node does not remove it.
struct alternatives : pass {
    static auto rewrites() {
        return rules(
            on<aten::gelu> =
                [](auto x, const auto& a) {
                    return choose(
                        a.approximate == "tanh", [&] { return tanh(x); }, [&] { return erf(x); });
                },
            on<aten::relu> =
                [](auto x) {
                    return choose(
                        x.rank() == 2, [&] { return max(x, 0); }, unchanged);
                },
            on<aten::alias, aten::detach> = [](auto x) { return x; });
    }
};
static_assert(effects_of<alternatives>::produced_set == ops_in<aten::tanh, aten::erf, aten::maximum>);
static_assert(effects_of<alternatives>::removed_set == ops_in<aten::gelu, aten::alias, aten::detach>);
static_assert(
    effects_of<alternatives>::target_set == ops_in<aten::gelu, aten::relu, aten::alias, aten::detach>);

// Real numbers are computed in float32, with casts if the operand or the result has another dtype.
struct in_reals : pass {
    static auto rewrites() {
        return real_rules(on<aten::log2> = [](auto x) { return log(x) * 1.4426950408889634; });
    }
};
static_assert(effects_of<in_reals>::produced_set == ops_in<aten::log, aten::mul_tensor, aten::_to_copy>);

// Code within an expression declares its emissions, and handlers may be mixed with rules.
struct mixture : pass {
    using target_ops = ops<aten::neg>;
    using produces = ops<aten::abs>;
    static auto rewrites() {
        return rules(on<aten::sqrt> = [](auto x) {
            return code<ops<aten::rsqrt>>(
                [](emit<ops<aten::rsqrt>> e, value v) { return e.make<aten::rsqrt>(v); }, exp(x));
        });
    }
    value operator()(const args<aten::neg>& a, emit<produces>& e) const { return e.make<aten::abs>(a.self); }
};
static_assert(effects_of<mixture>::produced_set == ops_in<aten::abs, aten::rsqrt, aten::exp>);
static_assert(effects_of<mixture>::removed_set == ops_in<aten::neg, aten::sqrt>);

// Such code may decline, and then its rule declines.
struct of_matrices : pass {
    static auto rewrites() {
        return rules(on<aten::sqrt> = [](auto x) {
            return code<ops<aten::rsqrt>>(
                [](emit<ops<aten::rsqrt>> e, value v) {
                    return e.rank(v) == 2 ? std::optional(e.make<aten::rsqrt>(v)) : std::nullopt;
                },
                x);
        });
    }
};
static_assert(effects_of<of_matrices>::produced_set == ops_in<aten::rsqrt>);
static_assert(effects_of<of_matrices>::removed_set.empty());

// A fault of a call is reported as a fault of the expression around it, at any depth.
template <class P, class Op, class Diagnosis>
constexpr bool finds = std::is_same_v<typename effects_of<P>::faulty_rule, in_rewrite<P, Op, Diagnosis>>;
using too_many = wrong_arity<aten::tanh, 2, 1>;
struct faulty_branch : pass {
    static auto rewrites() {
        return rules(on<aten::relu> = [](auto x) {
            return choose(
                x.rank() == 2, [&] { return x; }, x.rank() == 3, [&] { return abs(call<aten::tanh>(x, x)); },
                unchanged);
        });
    }
};
static_assert(finds<faulty_branch, aten::relu, too_many>);
static_assert(!effects_of<faulty_branch>::sound);
struct faulty_operand : pass {
    static auto rewrites() {
        return rules(
            on<aten::neg> = [](auto x) { return x; },
            on<aten::max_dim> =
                [](auto x) {
                    return std::tuple(x,
                        code<ops<aten::rsqrt>>(
                            [](emit<ops<aten::rsqrt>> e, value v) { return e.make<aten::rsqrt>(v); },
                            x * call<aten::tanh>(x, x)));
                });
    }
};
static_assert(finds<faulty_operand, aten::max_dim, too_many>);
struct faulty_list : pass {
    static auto rewrites() {
        return rules(
            on<aten::relu> = [](auto x) { return call<aten::cat>(tensors(x, call<aten::tanh>(x, x)), 0); });
    }
};
static_assert(finds<faulty_list, aten::relu, too_many>);
struct no_branch : pass {
    static auto rewrites() {
        return rules(on<aten::relu> = [](auto x) { return choose(x.rank() == 2, x, x.rank()); });
    }
};
static_assert(finds<no_branch, aten::relu, not_an_expression<std::size_t>>);
struct type_for_number : pass {
    static auto rewrites() {
        return rules(on<aten::relu> = [](auto x) { return call<aten::leaky_relu>(x, x.dtype()); });
    }
};
static_assert(
    finds<type_for_number, aten::relu, wrong_argument<aten::leaky_relu, "negative_slope", dtype, scalar>>);

struct lowers : pipeline<from<aten::silu>, to<aten::mul_tensor, aten::sigmoid>, decompose_silu> {};
static_assert(lowers::supported.contains<aten::silu>());

std::size_t rewritten_by(auto p, program& of) {
    of.finish();
    pass_context context;
    return apply_pass(p, of.g, context).value().rewritten;
}

TEST_CASE("an expression makes the nodes that its type says") {
    CHECK(compare_runs<decompose_silu>([](program& p) {
        p.output(p.make<aten::silu>({.self = p.input(dtype::float32, {2, 3})}));
    }).empty());
    program p;
    p.output(p.make<aten::silu>({.self = p.input(dtype::float32, {2, 3})}));
    CHECK(rewritten_by(decompose_silu{}, p) == 1);
    CHECK(count_of<aten::silu>(p.g) == 0);
    CHECK(count_of<aten::mul_tensor>(p.g) == 1);
    CHECK(count_of<aten::sigmoid>(p.g) == 1);
}

TEST_CASE("only the branch that is chosen is made") {
    for (const bool approximate : {false, true}) {
        program p;
        p.output(p.make<aten::gelu>(
            {.self = p.input(dtype::float32, {2}), .approximate = approximate ? "tanh" : "none"}));
        CHECK(rewritten_by(alternatives{}, p) == 1);
        CHECK(count_of<aten::tanh>(p.g) == (approximate ? 1 : 0));
        CHECK(count_of<aten::erf>(p.g) == (approximate ? 0 : 1));
    }
}

TEST_CASE("a rule can leave its node as it is") {
    for (const bool matrix : {false, true}) {
        program p;
        p.output(
            p.make<aten::relu>({.self = p.input(dtype::float32, matrix ? int_list{2, 2} : int_list{2})}));
        CHECK(rewritten_by(alternatives{}, p) == (matrix ? 1 : 0));
        CHECK(count_of<aten::relu>(p.g) == (matrix ? 0 : 1));
    }
}

TEST_CASE("code in an expression can leave its node as it is") {
    for (const bool matrix : {false, true}) {
        program p;
        p.output(
            p.make<aten::sqrt>({.self = p.input(dtype::float32, matrix ? int_list{2, 2} : int_list{2})}));
        CHECK(rewritten_by(of_matrices{}, p) == (matrix ? 1 : 0));
        CHECK(count_of<aten::rsqrt>(p.g) == (matrix ? 1 : 0));
    }
}

TEST_CASE("real numbers are cast on the way in and out") {
    program halves;
    halves.output(halves.make<aten::log2>({.self = halves.input(dtype::float16, {2})}));
    CHECK(rewritten_by(in_reals{}, halves) == 1);
    CHECK(count_of<aten::_to_copy>(halves.g) == 2);
    program floats;
    floats.output(floats.make<aten::log2>({.self = floats.input(dtype::float32, {2})}));
    CHECK(rewritten_by(in_reals{}, floats) == 1);
    CHECK(count_of<aten::_to_copy>(floats.g) == 0);
}

TEST_CASE("code in an expression and handlers beside rules are run") {
    program p;
    const value x = p.input(dtype::float32, {2});
    p.output(p.make<aten::sqrt>({.self = x}));
    p.output(p.make<aten::neg>({.self = x}));
    CHECK(rewritten_by(mixture{}, p) == 2);
    CHECK(count_of<aten::rsqrt>(p.g) == 1);
    CHECK(count_of<aten::exp>(p.g) == 1);
    CHECK(count_of<aten::abs>(p.g) == 1);
}

// Optional operands, constants of other dtypes, axes that an argument names, and expressions within handlers.
struct with_answers : pass {
    using target_ops = ops<aten::mul_tensor>;
    using produces = ops<aten::exp, aten::neg>;
    static auto rewrites() {
        return rules(
            on<aten::linear> =
                [](auto x, auto w, const auto& a) {
                    return with_operand(call<aten::mm>(x, w), a.bias, [](auto y, auto b) { return y + b; });
                },
            on<aten::cumsum> =
                [](auto x, const auto& a) {
                    const std::int64_t count = x.size(static_cast<std::int64_t>(x.axis(a.dim)));
                    const std::int32_t order[] = {1, 0};
                    const auto index = x.tensor(dtype::int32, sizes(&count, 1), order);
                    return call<aten::index_select>(x, a.dim, index);
                },
            on<aten::isnan> = [](auto x) { return x.filled(true, dtype::boolean); },
            on<aten::abs> = [](auto x) { return scaled(x, 1) + scaled(x, 2); });
    }
    value operator()(const args<aten::mul_tensor>& a, emit<produces>& e) const {
        const auto [grown, less] =
            e.build([](auto x, auto y) { return std::tuple(exp(x), -y); }, a.self, a.other);
        return e.build([](auto x) { return exp(x); }, e.failed() ? grown : less);
    }
};
static_assert(effects_of<with_answers>::produced_set ==
    ops_in<aten::mm, aten::add_tensor, aten::index_select, aten::mul_tensor, aten::exp, aten::neg>);

TEST_CASE("an optional operand is a part of an expression where it is given") {
    for (const bool given : {false, true}) {
        program p;
        const value x = p.input(dtype::float32, {2, 2});
        const value bias = p.input(dtype::float32, {2});
        p.output(p.make<aten::linear>(
            {.input = x, .weight = x, .bias = given ? std::optional(bias) : std::nullopt}));
        CHECK(rewritten_by(with_answers{}, p) == 1);
        CHECK(count_of<aten::add_tensor>(p.g) == (given ? 1 : 0));
    }
}

TEST_CASE("terms answer for axes and make constants of any type") {
    program p;
    const value x = p.input(dtype::float32, {3, 2});
    p.output(p.make<aten::cumsum>({.self = x, .dim = -1}));
    p.output(p.make<aten::isnan>({.self = x}));
    CHECK(rewritten_by(with_answers{}, p) == 2);
    CHECK(count_of<aten::index_select>(p.g) == 1);
    CHECK(count_of<aten::isnan>(p.g) == 0);
}

TEST_CASE("a factor of 1 is left out") {
    program p;
    p.output(p.make<aten::abs>({.self = p.input(dtype::float32, {2})}));
    CHECK(rewritten_by(with_answers{}, p) == 1);
    CHECK(count_of<aten::mul_tensor>(p.g) == 1);
}

TEST_CASE("a handler evaluates expressions") {
    program p;
    const value x = p.input(dtype::float32, {2});
    p.output(p.make<aten::mul_tensor>({.self = x, .other = x}));
    CHECK(rewritten_by(with_answers{}, p) == 1);
    CHECK(count_of<aten::neg>(p.g) == 1);
    CHECK(count_of<aten::exp>(p.g) == 1);  // the first is not part of the result
}

}  // namespace
