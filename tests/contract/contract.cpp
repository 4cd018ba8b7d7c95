// SPDX-License-Identifier: MIT
// Tests contracts of models: which models fit, are lowered and conform, and the diagnoses for those that do
// not.
#include <catch2/catch.hpp>

#include <headrace/contract/contract.hpp>
#include <headrace/pass/pipeline.hpp>

#include "../support/small_contract.hpp"
#include "../support/toy.hpp"

using namespace headrace;

namespace {

struct lower_relu : pass {
    using targets = ops<toy::relu>;
    using produces = ops<toy::clamp>;
    value operator()(const args<toy::relu>& a, emit<produces>& e) const {
        return e.make<toy::clamp>({.self = a.self});
    }
};
struct maybe_lower_neg : pass {
    using targets = ops<toy::neg>;
    using produces = ops<toy::clamp>;
    std::optional<value> operator()(const args<toy::neg>&, emit<produces>&) const { return std::nullopt; }
};
struct lowering : pipeline<from<toy::relu>, to<toy::clamp>, lower_relu, maybe_lower_neg> {};

template <class... Ops>
struct exporting : small_contract {
    using exported_ops = ops<Ops...>;
};

// Models that a pipeline lowers.

static_assert(lowers<lowering, exporting<toy::relu>>);
static_assert(lowers<lowering, exporting<>>);
static_assert(std::is_same_v<ops_not_lowered<lowering, exporting<toy::relu, toy::neg, foreign_op<"my.op">>>,
    ops<toy::neg, foreign_op<"my.op">>>);
static_assert(std::is_same_v<lowering::last_pass_for<toy::neg>, maybe_lower_neg>);
static_assert(std::is_same_v<lowering::last_pass_for<toy::sum>, no_pass>);

template <class... Missing>
using diagnosis = typename decltype(headrace::detail::diagnose_lowering<lowering>(ops<Missing...>{}))::type;
static_assert(std::is_same_v<diagnosis<>, no_fault>);
static_assert(std::is_same_v<diagnosis<toy::neg>,
    pipeline_does_not_lower<lowering, survives<toy::neg, maybe_lower_neg>>>);
static_assert(std::is_same_v<diagnosis<toy::neg, toy::sum, toy::call, foreign_op<"x">>,
    pipeline_does_not_lower<lowering, survives<toy::neg, maybe_lower_neg>, survives<toy::sum, no_pass>,
        and_more<2>>>);

static_assert(std::is_same_v<decltype(lowers<lowering, exporting<toy::neg>>),
    const pipeline_does_not_lower<lowering, survives<toy::neg, maybe_lower_neg>>>);

// Models that fit.

using tosa_int = tosa_target<"TOSA-1.0+INT">;
static_assert(fits<ethos_u55, small_contract>);
static_assert(fits<ethos_u85, small_contract>);
static_assert(fits<tosa_int, small_contract>);
static_assert(std::is_same_v<misfit<ethos_u55, small_contract>, no_fault>);
static_assert(std::is_same_v<misfit<tosa_target<"TOSA-1.0+FP">, small_contract>,
    refused<tosa::conv2d, type_limit::profile, at_node<0, "conv">, lacks<target_feature::profile_int>,
        refused_nodes<2>>>);

struct with_core : small_contract {
    struct on_device {
        static constexpr std::string_view core = "cortex-m4";
        static constexpr std::uint64_t arena_bytes = 300, state_bytes = 16, constant_bytes = 120;
    };
};
struct with_stack : small_contract {
    struct on_device : with_core::on_device {
        static constexpr std::uint64_t code_bytes = 80, stack_bytes = 84;
    };
};
template <fixed_string Core, std::uint64_t Memory, std::uint64_t Flash>
struct microcontroller : core_target<Core> {
    static constexpr std::uint64_t memory = Memory;
    static constexpr std::uint64_t flash = Flash;
};
static_assert(fits<core_target<"cortex-m4">, with_core>);
static_assert(fits<microcontroller<"cortex-m4", 316, 120>, with_core>);
static_assert(std::is_same_v<misfit<microcontroller<"cortex-m4", 315, 119>, with_core>,
    over_budget<budget::memory, needs_bytes<316>, has_bytes<315>>>);
static_assert(std::is_same_v<misfit<microcontroller<"cortex-m4", 316, 119>, with_core>,
    over_budget<budget::flash, needs_bytes<120>, has_bytes<119>>>);
static_assert(fits<microcontroller<"cortex-m4", 400, 200>, with_stack>);
static_assert(std::is_same_v<misfit<microcontroller<"cortex-m4", 399, 200>, with_stack>,
    over_budget<budget::memory, needs_bytes<400>, has_bytes<399>>>);
static_assert(std::is_same_v<misfit<microcontroller<"cortex-m4", 400, 199>, with_stack>,
    over_budget<budget::flash, needs_bytes<200>, has_bytes<199>>>);
static_assert(std::is_same_v<misfit<core_target<"cortex-m55">, with_core>,
    differs_in_core<has_figures_of<"cortex-m4">, board_has<"cortex-m55">>>);
static_assert(std::is_same_v<decltype(fits<core_target<"cortex-m4">, small_contract>),
    const contract_has_no_core<small_contract>>);

template <std::uint64_t Memory, std::uint64_t Flash>
struct board : ethos_u55 {
    static constexpr std::uint64_t memory = Memory;
    static constexpr std::uint64_t flash = Flash;
};
static_assert(fits<board<1000, 2000>, small_contract>);
static_assert(std::is_same_v<misfit<board<999, 1999>, small_contract>,
    over_budget<budget::memory, needs_bytes<1000>, has_bytes<999>>>);
static_assert(std::is_same_v<misfit<board<1000, 1999>, small_contract>,
    over_budget<budget::flash, needs_bytes<2000>, has_bytes<1999>>>);

struct int4_weights : small_contract {
    static constexpr auto tensors = [] {
        auto changed = small_contract::tensors;
        changed[1].dtype = dtype::int4;
        changed[3].dtype = dtype::int4;
        return changed;
    }();
    static constexpr std::array<std::uint32_t, 12> uses{0, 1, 2, 0, 3, 4, 4, 2, 6, 5, 6, 7};
};
static_assert(fits<ethos_u85, int4_weights>);
static_assert(std::is_same_v<misfit<tosa_int, int4_weights>,
    refused<tosa::conv2d, type_limit::profile, at_node<0, "conv">, lacks<target_feature::int4>,
        refused_nodes<1>>>);

struct computed_zero_point : small_contract {
    static constexpr auto nodes = [] {
        auto changed = small_contract::nodes;
        changed[1].constants = 0x0e;
        return changed;
    }();
};
static_assert(std::is_same_v<misfit<ethos_u85, computed_zero_point>,
    refused<tosa::rescale, type_limit::computed_operand, at_node<1, "quantize">, refused_nodes<1>>>);

// A user-defined target with a rule of its own.
enum class my_limit { none, rescales };
struct my_accelerator : tosa_int {
    static constexpr my_limit violated(const op_facts& f) {
        return f.is<tosa::rescale>() ? my_limit::rescales : my_limit::none;
    }
};
static_assert(std::is_same_v<misfit<my_accelerator, small_contract>,
    refused<tosa::rescale, my_limit::rescales, at_node<1, "quantize">, refused_nodes<1>>>);

// Many operators are checked in parts; the first fault and the count are those of the whole.
template <std::size_t Count>
struct long_contract : small_contract {
    static constexpr std::array<tensor_meta, 1> tensors{{{dtype::int32, {1, 4}}}};
    static constexpr std::array<std::uint32_t, 3> uses{0, 0, 0};
    static constexpr std::array<op_attributes, 1> attributes{};
    static constexpr auto nodes = [] {
        std::array<contract_node, Count> all{};
        for (std::size_t i = 0; i != Count; ++i)
            all[i] = {i % 50 == 49 ? &info_of<tosa::intdiv> : &info_of<tosa::add>, "n", 0, 2, 1, 0, 0};
        return all;
    }();
};
static_assert(fits<ethos_u55, long_contract<49>>);
static_assert(fits<ethos_u55, long_contract<0>>);
static_assert(fits<ethos_u85, long_contract<300>>);
static_assert(std::is_same_v<misfit<ethos_u55, long_contract<300>>,
    refused<tosa::intdiv, u55_limit::op, at_node<49, "n">, refused_nodes<6>>>);

// A long name is truncated.
struct long_name : long_contract<50> {
    static constexpr auto nodes = [] {
        auto changed = long_contract<50>::nodes;
        changed[49].name = "0123456789012345678901234567890123456789012345678901234567890123456789";
        return changed;
    }();
};
static_assert(std::is_same_v<misfit<ethos_u55, long_name>,
    refused<tosa::intdiv, u55_limit::op,
        at_node<49, "012345678901234567890123456789012345678901234567890123456789">, refused_nodes<1>>>);

// Models that are accepted.

struct by_hand {
    static constexpr std::array<contract_tensor, 1> inputs{{{"in", dtype::int8, {1, 8, 8, 4}}}};
    static constexpr std::array<contract_tensor, 1> outputs{{{"out", dtype::int8, {1, 6, 6, 2}, 0.25, -1}}};
};
static_assert(conforms<small_contract, small_contract>);
static_assert(conforms<small_contract, by_hand>);
static_assert(conforms<computed_zero_point, small_contract>);

// An unknown figure cannot be accepted if it is limited.
struct not_lowered {
    using exported_ops = ops<>;
    static constexpr auto inputs = small_contract::inputs;
    static constexpr auto outputs = small_contract::outputs;
};
static_assert(conforms<not_lowered, by_hand>);
static_assert(
    std::is_same_v<difference_from<not_lowered, small_contract>, contract_has_no_lowered_part<not_lowered>>);

template <contract_part Part, tensor_part In>
using difference = differs<Part, 0, In>;
template <class Accepted>
using found = difference_from<small_contract, Accepted>;

struct of_int16 : by_hand {
    static constexpr std::array<contract_tensor, 1> inputs{{{"in", dtype::int16, {1, 8, 8, 4}}}};
};
struct of_other_rank : by_hand {
    static constexpr std::array<contract_tensor, 1> inputs{{{"in", dtype::int8, {8, 8, 4}}}};
};
struct of_other_scale : by_hand {
    static constexpr std::array<contract_tensor, 1> outputs{{{"out", dtype::int8, {1, 6, 6, 2}, 0.5, -1}}};
};
struct of_other_zero_point : by_hand {
    static constexpr std::array<contract_tensor, 1> outputs{{{"out", dtype::int8, {1, 6, 6, 2}, 0.25, 1}}};
};
struct of_two_inputs : by_hand {
    static constexpr std::array<contract_tensor, 2> inputs{};
};
struct of_no_output : by_hand {
    static constexpr std::array<contract_tensor, 0> outputs{};
};
struct of_little_memory : by_hand {
    static constexpr int memory = 10;
};
struct without_rescale : by_hand {
    using lowered_ops = ops<tosa::conv2d>;
};
static_assert(std::is_same_v<found<of_int16>, difference<contract_part::inputs, tensor_part::dtype>>);
static_assert(std::is_same_v<found<of_other_rank>, difference<contract_part::inputs, tensor_part::rank>>);
static_assert(
    std::is_same_v<found<of_other_scale>, difference<contract_part::outputs, tensor_part::quantization>>);
static_assert(std::is_same_v<found<of_other_zero_point>,
    difference<contract_part::outputs, tensor_part::quantization>>);
static_assert(std::is_same_v<found<of_two_inputs>, differs_in_number<contract_part::inputs, 1, 2>>);
static_assert(std::is_same_v<found<of_no_output>, differs_in_number<contract_part::outputs, 1, 0>>);
static_assert(
    std::is_same_v<found<of_little_memory>, over_budget<budget::memory, needs_bytes<1000>, has_bytes<10>>>);
static_assert(std::is_same_v<found<without_rescale>, not_accepted<tosa::rescale>>);

}  // namespace

TEST_CASE("facts of a contract's operator are those of its rows") {
    const op_facts f = headrace::detail::facts_at<small_contract>(0);
    CHECK(f.op == &info_of<tosa::conv2d>);
    CHECK(f.operand_count == 5);
    CHECK(f.result_count == 1);
    CHECK(f.operand(1) == small_contract::tensors[1]);
    CHECK(f.result(0) == small_contract::tensors[4]);
    CHECK_FALSE(f.is_constant(0));
    CHECK(f.is_constant(4));
    CHECK(f.attributes.stride == int_list{1, 1});
    CHECK(headrace::detail::facts_at<small_contract>(1).attributes.from_convolution);
}
