// SPDX-License-Identifier: MIT
// Tests rewrites of several nodes at once: what matches, and what the rewrite receives.

#include <catch2/catch.hpp>

#include <headrace/fx/pattern.hpp>
#include <headrace/match/node_pattern.hpp>
#include <headrace/pass/pipeline.hpp>
#include <headrace/rewrite/arithmetic.hpp>

#include "../support/pass_test.hpp"

using namespace headrace;

namespace {

std::size_t rewritten_by(auto p, program& of) {
    of.finish();
    pass_context context;
    return apply_pass(p, of.g, context).value().rewritten;
}

// log(exp(x)) and log(sin(x)), with or without a cast; the second only if it is the sole user.
struct undo : pass {
    static auto rewrites() {
        return rules(
            on_match([](auto x) {
                return node_of<"log", aten::log>(
                    optional_node<"cast", aten::_to_copy>(node_of<"exp", aten::exp>(x)));
            }) =
                [](auto x, const auto& m) {
                    return choose(find<"cast">(m) == nullptr, x, [&] { return as(x, dtype::float16); });
                },
            on_match(
                [](auto x) { return node_of<"log", aten::log>(node_of<"in", aten::sin, aten::cos>(x)); }) =
                [](auto x, const auto& m) {
                    return choose(
                        is_sole_use<"in">(m),
                        [&] {
                            return choose(
                                is<aten::sin>(*find<"in">(m)), [&] { return tanh(x); },
                                [&] { return erf(x); });
                        },
                        unchanged);
                },
            on_match([](auto x) { return node_of<"sum", aten::add_tensor>(x, x); }) =
                [](auto x, const auto& m) { return x * (1 + get<"sum">(m).alpha.to_double()); },
            on_match([](auto x) {
                return node_of<"product", aten::mul_tensor>(x, constant_node<"factor">());
            }) = [](auto x) { return -x; });
    }
};
static_assert(effects_of<undo>::target_set == ops_in<aten::log, aten::add_tensor, aten::mul_tensor>);
static_assert(effects_of<undo>::produced_set ==
    ops_in<aten::_to_copy, aten::tanh, aten::erf, aten::mul_tensor, aten::neg>);
static_assert(effects_of<undo>::removed_set.empty());

// A factor of a logarithm that may be missing.
struct drop_exponential : pass {
    static auto rewrites() {
        return rules(on_match([](auto x) {
            return node_of<"log", aten::log>(
                optional_node<"product", aten::mul_tensor>(x, node_of<"exp", aten::exp>(x)));
        }) = [](auto x) { return tanh(x); });
    }
};

// A logarithm of a sine that nothing else reads.
struct drop_sole_sine : pass {
    static auto rewrites() {
        return rules(on_match([](auto x) {
            return node_of<"log", aten::log>(sole_node<"sine", aten::sin>(x));
        }) = [](auto x) { return tanh(x); });
    }
};

// A pattern and a rule for one op: the first that does not decline is used.
struct beside_a_rule : pass {
    static auto rewrites() {
        return rules(
            on_match(twice<aten::neg>) = [](auto x) { return x; },
            on<aten::neg> =
                [](auto x) {
                    return choose(
                        x.rank() == 1, [&] { return abs(x); }, unchanged);
                });
    }
};
static_assert(effects_of<beside_a_rule>::produced_set == ops_in<aten::abs>);

TEST_CASE("a pattern counts beside a rule for the same op") {
    for (const bool twofold : {false, true}) {
        program p;
        value v = p.input(dtype::float32, twofold ? int_list{2, 2} : int_list{2});
        for (int i = 0; i != (twofold ? 2 : 1); ++i) v = p.make<aten::neg>({.self = v});
        p.output(v);
        CHECK(rewritten_by(beside_a_rule{}, p) == 1);
        CHECK(count_of<aten::abs>(p.g) == (twofold ? 0 : 1));
    }
}

TEST_CASE("a pattern of two nodes matches along the operands") {
    program p;
    const value x = p.input(dtype::float32, {2});
    p.output(p.make<aten::log>({.self = p.make<aten::exp>({.self = x})}));
    CHECK(rewritten_by(undo{}, p) == 1);
    CHECK(p.g.outputs()[0] == x);
}

TEST_CASE("an optional node may be there") {
    program p;
    const value x = p.input(dtype::float32, {2});
    const value half =
        p.make<aten::_to_copy>({.self = p.make<aten::exp>({.self = x}), .dtype = dtype::float16});
    p.output(p.make<aten::log>({.self = half}));
    CHECK(rewritten_by(undo{}, p) == 1);
    CHECK(count_of<aten::log>(p.g) == 0);
    CHECK(count_of<aten::_to_copy>(p.g) == 1);
}

TEST_CASE("an optional node of which only a part is there is not there") {
    program p;
    const value x = p.input(dtype::float32, {2});
    const value product = p.make<aten::mul_tensor>({.self = x, .other = p.make<aten::sin>({.self = x})});
    p.output(p.make<aten::log>({.self = product}));
    CHECK(rewritten_by(drop_exponential{}, p) == 1);
    CHECK(count_of<aten::mul_tensor>(p.g) == 1);  // tanh is of the product, not of its first operand
    CHECK(count_of<aten::tanh>(p.g) == 1);
}

TEST_CASE("alternatives are told apart, in the order of the rules") {
    program p;
    const value x = p.input(dtype::float32, {2});
    p.output(p.make<aten::log>({.self = p.make<aten::sin>({.self = x})}));
    p.output(p.make<aten::log>({.self = p.make<aten::cos>({.self = x})}));
    p.output(p.make<aten::log>({.self = p.make<aten::tanh>({.self = x})}));
    CHECK(rewritten_by(undo{}, p) == 2);
    CHECK(count_of<aten::log>(p.g) == 1);
    CHECK(count_of<aten::erf>(p.g) == 1);
    CHECK(count_of<aten::tanh>(p.g) == 2);
}

TEST_CASE("a node that has other readers can be left") {
    program p;
    const value sine = p.make<aten::sin>({.self = p.input(dtype::float32, {2})});
    p.output(p.make<aten::log>({.self = sine}));
    p.output(sine);
    CHECK(rewritten_by(undo{}, p) == 0);
    CHECK(rewritten_by(drop_sole_sine{}, p) == 0);
}

TEST_CASE("a sole node matches if it has no other readers") {
    program p;
    const value sine = p.make<aten::sin>({.self = p.input(dtype::float32, {2})});
    p.output(p.make<aten::log>({.self = sine}));
    CHECK(rewritten_by(drop_sole_sine{}, p) == 1);
    CHECK(count_of<aten::tanh>(p.g) == 1);
}

TEST_CASE("a wildcard that stands twice is one value") {
    program p;
    const value x = p.input(dtype::float32, {2});
    const value y = p.input(dtype::float32, {2});
    p.output(p.make<aten::add_tensor>({.self = x, .other = x, .alpha = 2}));
    p.output(p.make<aten::add_tensor>({.self = x, .other = y}));
    CHECK(rewritten_by(undo{}, p) == 1);
    CHECK(count_of<aten::add_tensor>(p.g) == 1);
}

TEST_CASE("a constant matches, another value does not") {
    program p;
    const value x = p.input(dtype::float32, {1});
    p.output(p.make<aten::mul_tensor>({.self = x, .other = p.constant<float>(dtype::float32, {1}, {3})}));
    p.output(p.make<aten::mul_tensor>({.self = x, .other = x}));
    CHECK(rewritten_by(undo{}, p) == 1);
    CHECK(count_of<aten::neg>(p.g) == 1);
    CHECK(count_of<aten::mul_tensor>(p.g) == 1);
}

// Arithmetic on wildcards is a pattern, too.
constexpr auto formula = [](auto x, auto y) { return x * 0.5 + tanh(y); };
using written = pattern<decltype(formula)>;
static_assert(set_of<written::called> == ops_in<aten::add_tensor, aten::mul_tensor, aten::tanh>);

}  // namespace
