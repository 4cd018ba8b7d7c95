// SPDX-License-Identifier: MIT
// Tests the facts that are derived from a pass: targets under all their names, and effects.

#include <catch2/catch.hpp>

#include <headrace/pass/pass.hpp>

#include "../support/toy.hpp"

using namespace headrace;

namespace {

template <class Produces = ops<>>
struct same : pass {
    using produces = Produces;
    template <one_of<ops<toy::relu, toy::relu6, toy::neg>> Op>
    value operator()(Op, const args<Op>& a, emit<Produces>&) const {
        return a.self;
    }
};
struct by_targets : same<> {
    using targets = ops<toy::relu>;
};
struct by_target_ops : same<> {
    using target_ops = ops<toy::relu>;
};
struct by_supported_ops : same<> {
    using supported_ops = ops<toy::relu, toy::relu6>;
};
struct by_edge_and_aten : same<> {
    using edge_ops = ops<toy::relu>;
    using aten_ops = ops<toy::neg, toy::relu>;
};
struct by_none : pass {
    result<std::size_t> operator()(graph&, pass_context&) const { return std::size_t{0}; }
};
struct base : pass {
    using targets = ops<toy::relu>;
    using produces = ops<toy::clamp>;
    value operator()(const args<toy::relu>& a, emit<produces>& e) const {
        return e.make<toy::clamp>({.self = a.self});
    }
};
struct widened : base {
    using base::operator();
    using base::produces;
    using targets = ops<toy::relu6, toy::relu>;
    std::optional<value> operator()(const args<toy::relu6>&, emit<produces>&) const { return std::nullopt; }
};
struct inherits : by_targets {};
struct inherits_and_adds : by_targets {
    using edge_ops = ops<toy::neg>;
};

static_assert(std::is_same_v<targets_of<by_targets>, ops<toy::relu>>);
// A base's members are found, too, through any number of bases.
static_assert(std::is_same_v<targets_of<inherits>, ops<toy::relu>>);
static_assert(std::is_same_v<targets_of<inherits_and_adds>, ops<toy::relu, toy::neg>>);
static_assert(std::is_same_v<targets_of<by_target_ops>, ops<toy::relu>>);
static_assert(std::is_same_v<targets_of<by_supported_ops>, ops<toy::relu, toy::relu6>>);
static_assert(std::is_same_v<targets_of<by_edge_and_aten>, ops<toy::relu, toy::neg>>);
static_assert(targets_of<by_none>::size == 0);
static_assert(std::is_same_v<targets_of<widened>, ops<toy::relu6, toy::relu>>);

static_assert(graph_pass<by_none> && !graph_pass<base>);
static_assert(effects_of<by_none>::always_runs && !effects_of<base>::always_runs);
static_assert(effects_of<base>::removed_set == ops_in<toy::relu>);
static_assert(effects_of<widened>::target_set == ops_in<toy::relu, toy::relu6>);
static_assert(effects_of<widened>::removed_set == ops_in<toy::relu>);
static_assert(effects_of<widened>::produced_set == ops_in<toy::clamp>);

// Handlers' results.
struct handlers : pass {
    using targets = ops<toy::relu, toy::min_max, toy::split, toy::neg>;
    value_list operator()(const args<toy::split>&, emit<ops<>>&) const { return {}; }
    std::tuple<value, value> operator()(const args<toy::min_max>& a, emit<ops<>>&) const {
        return {a.self, a.self};
    }
    std::optional<std::tuple<value>> operator()(const args<toy::neg>& a, emit<ops<>>&) const {
        return a.self;
    }
    std::optional<value_list> operator()(const args<toy::relu>&, emit<ops<>>&) const { return std::nullopt; }
};
static_assert(effects_of<handlers>::sound);
static_assert(effects_of<handlers>::removed_set == ops_in<toy::split, toy::min_max>);

// Faults are named, without an error until a pipeline or apply_pass asks for them.
struct faulty : pass {
    using targets = ops<toy::relu, toy::neg>;
    int operator()(const args<toy::relu>&, emit<ops<>>&) const { return 0; }
};
static_assert(!effects_of<faulty>::sound);
static_assert(std::is_same_v<effects_of<faulty>::missing_handler, no_handler<faulty, toy::neg>>);
static_assert(std::is_same_v<effects_of<faulty>::faulty_handler, wrong_result<faulty, toy::relu, int>>);

struct named : pass {
    static constexpr std::string_view name = "a-name";
};
static_assert(pass_name<named>() == "a-name");
static_assert(pass_name<base>() == "base");

}  // namespace

TEST_CASE("the targets of a pass print as names", "[pass]") {
    std::pmr::string names;
    print(effects_of<widened>::target_set, [&](std::string_view part) { names += part; });
    CHECK(names == "toy.relu.default, toy.relu6.default");
}
