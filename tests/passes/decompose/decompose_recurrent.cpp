// SPDX-License-Identifier: MIT
// Tests the decomposition of LSTM, GRU and RNN: cells, and whole networks of layers and directions.
#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>

#include <headrace/ir/listing.hpp>
#include <headrace/ir/time_step.hpp>
#include <headrace/passes/decompose/recurrent.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;
constexpr std::int64_t in = 3, hidden = 4;

static_assert(effects_of<decompose_recurrent>::removed_set == effects_of<decompose_recurrent>::target_set);

template <class Op>
constexpr std::int64_t gates = one_of<Op, ops<aten::lstm_cell, aten::lstm_input>> ? 4
    : one_of<Op, ops<aten::gru_cell, aten::gru_input>>                            ? 3
                                                                                  : 1;
template <class Op>
constexpr bool has_cell_state = gates<Op> == 4;

template <class Op>
std::pmr::string cell(bool biases) {
    return compare_runs<decompose_recurrent>([=](program& p) {
        const auto row = [&](std::int64_t n) { return p.input(fp32, {2, n}); };
        args<Op> a{};
        a.input = row(in);
        const value states[] = {row(hidden), has_cell_state<Op> ? row(hidden) : value{}};
        if constexpr (has_cell_state<Op>) {
            a.hx = list<value>(states, 2);
        } else {
            a.hx = states[0];
        }
        a.w_ih = p.input(fp32, {gates<Op> * hidden, in});
        a.w_hh = p.input(fp32, {gates<Op> * hidden, hidden});
        if (biases) a.b_ih = p.input(fp32, {gates<Op> * hidden});
        if (biases) a.b_hh = p.input(fp32, {gates<Op> * hidden});
        node& n = p.make_node<Op>(a);
        for (std::uint32_t i = 0; i != n.result_count; ++i) p.output(n.result(i));
    });
}

struct form {
    std::int64_t layers = 1;
    bool bidirectional = false, batch_first = false, biases = true, train = false;
    double dropout = 0;
    std::int64_t given_out = hidden;  // less with a projection
    std::int64_t batch = 2, steps = 5;
    bool known_weights = false;
};
// A constant whose elements differ, so that its rows do.
value ramp(program& p, const int_list& shape) {
    return create_constant(p.g, {fp32, shape, {}}, nullptr, [](std::span<std::byte> data) {
        for (std::size_t i = 0; i * sizeof(float) != data.size(); ++i) {
            const float number = static_cast<float>(i * 7 % 11) / 8 - 0.5F;
            std::memcpy(&data[i * sizeof number], &number, sizeof number);
        }
    });
}
template <class Op>
auto network(form f) {
    return [=](program& p) {
        const std::int64_t directions = f.bidirectional ? 2 : 1;
        const value x =
            f.batch_first ? p.input(fp32, {f.batch, f.steps, in}) : p.input(fp32, {f.steps, f.batch, in});
        const auto state = [&](std::int64_t width) {
            return p.input(fp32, {f.layers * directions, f.batch, width});
        };
        const auto weight = [&](const int_list& shape) {
            return f.known_weights ? ramp(p, shape) : p.input(fp32, shape);
        };
        value_list states{state(f.given_out)};
        if (has_cell_state<Op>) states.push_back(state(hidden));
        value_list params;
        for (std::int64_t layer = 0; layer != f.layers; ++layer) {
            for (std::int64_t direction = 0; direction != directions; ++direction) {
                params.push_back(weight({gates<Op> * hidden, layer == 0 ? in : f.given_out * directions}));
                params.push_back(weight({gates<Op> * hidden, f.given_out}));
                if (f.biases) params.push_back(weight({gates<Op> * hidden}));
                if (f.biases) params.push_back(weight({gates<Op> * hidden}));
                if (f.given_out != hidden) params.push_back(weight({f.given_out, hidden}));
            }
        }
        args<Op> a{};
        a.input = x;
        if constexpr (has_cell_state<Op>) {
            a.hx = states;
        } else {
            a.hx = states[0];
        }
        a.params = params;
        a.has_biases = f.biases;
        a.num_layers = f.layers;
        a.dropout = f.dropout;
        a.train = f.train;
        a.bidirectional = f.bidirectional;
        a.batch_first = f.batch_first;
        node& n = p.make_node<Op>(a);
        for (std::uint32_t i = 0; i != n.result_count; ++i) p.output(n.result(i));
    };
}
template <class Op>
void check_networks() {
    // Without a bounded activation, sums are larger than what remains after cancellation.
    const double tolerance = one_of<Op, ops<aten::rnn_relu_input>> ? 1e-4 : 1e-5;
    for (const std::int64_t layers : {1, 2}) {
        for (const int bits : {0, 1, 2, 3, 4, 5, 6, 7}) {
            form f{.layers = layers};
            f.bidirectional = (bits & 1) != 0;
            f.batch_first = (bits & 2) != 0;
            f.biases = (bits & 4) == 0;
            CAPTURE(layers, f.bidirectional, f.batch_first, f.biases);
            CHECK_THAT(network<Op>(f), computes_the_same<decompose_recurrent>().within(tolerance));
        }
    }
    CHECK_THAT(network<Op>({.layers = 3}), computes_the_same<decompose_recurrent>().within(tolerance));
    CHECK_THAT(network<Op>({.layers = 2, .bidirectional = true, .batch_first = true, .known_weights = true}),
        computes_the_same<decompose_recurrent>().within(tolerance));
    for (const bool batch_first : {false, true}) {
        for (const std::int64_t steps : {1, 3}) {
            CAPTURE(batch_first, steps);
            CHECK_THAT(network<Op>({.layers = 2,
                           .bidirectional = true,
                           .batch_first = batch_first,
                           .batch = 1,
                           .steps = steps}),
                computes_the_same<decompose_recurrent>().within(tolerance));
        }
    }
    CHECK_THAT(network<Op>({.layers = 2, .dropout = 0.5}),
        computes_the_same<decompose_recurrent>().within(tolerance));
    CHECK_THAT(network<Op>({.layers = 2, .train = true, .dropout = 0.5}),
        is_refused_by<decompose_recurrent>("dropout"));
}

}  // namespace

TEST_CASE("cells") {
    for (const bool biases : {false, true}) {
        CHECK(cell<aten::lstm_cell>(biases) == "");
        CHECK(cell<aten::gru_cell>(biases) == "");
        CHECK(cell<aten::rnn_tanh_cell>(biases) == "");
        CHECK(cell<aten::rnn_relu_cell>(biases) == "");
    }
}

TEST_CASE("LSTM networks") { check_networks<aten::lstm_input>(); }
TEST_CASE("LSTM networks that project what they give out") {
    for (const std::int64_t layers : {1, 3}) {
        for (const int bits : {0, 1, 2, 3, 4, 5, 6, 7}) {
            form f{.layers = layers, .given_out = 2};
            f.bidirectional = (bits & 1) != 0;
            f.batch_first = (bits & 2) != 0;
            f.biases = (bits & 4) == 0;
            CAPTURE(layers, f.bidirectional, f.batch_first, f.biases);
            CHECK_THAT(network<aten::lstm_input>(f), computes_the_same<decompose_recurrent>().within(1e-5));
        }
    }
}
TEST_CASE("GRU networks") { check_networks<aten::gru_input>(); }
TEST_CASE("RNN networks") {
    check_networks<aten::rnn_tanh_input>();
    check_networks<aten::rnn_relu_input>();
}
TEST_CASE("a network without a time step is refused") {
    CHECK_THAT(network<aten::gru_input>({.steps = 0}), is_refused_by<decompose_recurrent>("time step"));
}
TEST_CASE("the nodes of a time step are named and framed by it") {
    program p;
    network<aten::gru_input>({.bidirectional = true, .steps = 2})(p);
    p.finish();
    node& gru = *p.g.output()->previous;
    p.g.annotate(gru, provenance{"gru", "aten.gru.input"});
    p.g.annotate(gru, module_stack{"L__self__rnn,rnn,torch.nn.modules.rnn.GRU"});
    pass_context context;
    REQUIRE(run_pass<decompose_recurrent>(p.g, context) == "");
    std::map<named_step, std::size_t> steps;
    for (const node& n : p.g.nodes()) {
        const auto step = step_of(n);
        if (!step) continue;
        ++steps[*step];
        CHECK(n.find_annotation<module_stack>()->text.ends_with(",step"));
    }
    CHECK(steps ==
        std::map<named_step, std::size_t>{{{"gru_l0_backward", 1, 2}, 14}, {{"gru_l0_backward", 2, 2}, 14},
            {{"gru_l0_forward", 1, 2}, 14}, {{"gru_l0_forward", 2, 2}, 14}});
    CHECK(listing(p.g).find("%gru_l0_forward_t1of2_sigmoid:") != std::string::npos);
}
