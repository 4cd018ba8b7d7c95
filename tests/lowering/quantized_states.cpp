// SPDX-License-Identifier: MIT
// Tests the quantization of programs that write buffers, and what a lowering says of states that do not fit.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/io/pte/emitter.hpp>
#include <headrace/lowering/lower.hpp>
#include <headrace/lowering/lower_pte.hpp>
#include <headrace/lowering/quantized_states.hpp>
#include <headrace/quantization/quantize_graph.hpp>
#include <headrace/run/execution.hpp>

using namespace headrace;

namespace {

enum class write_kind { declared, in_place };

value real_pair(graph& g, value v, std::string_view name) {
    g.set_meta(v, {dtype::float32, {2}, {}});
    g.set_name(v, name);
    return v;
}
value pair_of(graph& g, std::string_view name, float a, float b) {
    const value v = create_constant(g, {dtype::float32, {2}, {}}, nullptr, [&](std::span<std::byte> data) {
        std::memcpy(data.data(), &a, sizeof a);
        std::memcpy(data.data() + sizeof a, &b, sizeof b);
    });
    return real_pair(g, v, name);
}

// Adds x to the buffer "count", which begins with {1, -1}, and returns it, doubled.
program counting_program(write_kind kind) {
    program p;
    p.graph = std::make_unique<graph>();
    graph& g = *p.graph;
    const value count = pair_of(g, "b_count", 1, -1);  // before the input, as text may have it
    const value x = real_pair(g, g.create<builtin::placeholder>({}).result(), "x");
    const bool in_place = kind == write_kind::in_place;
    node& sum = in_place ? g.create<aten::add_inplace_tensor>({.self = count, .other = x})
                         : g.create<aten::add_tensor>({.self = count, .other = x});
    real_pair(g, sum.result(), "sum");
    const value two = pair_of(g, "two", 2, 2);
    const value y = g.create<aten::mul_tensor>({.self = sum.result(), .other = two}).result();
    real_pair(g, y, "y");
    p.user_outputs = 1;
    if (in_place) {
        g.create<builtin::output>({.values = {y}});
    } else {
        g.create<builtin::output>({.values = {y, sum.result()}});
        p.mutations.push_back({mutation::kind_type::buffer, "count", 1, "b_count"});
    }
    return p;
}

tensor pair_tensor(float a, float b) { return tensor::of(dtype::float32, {2}, std::vector{a, b}); }

const sample_source samples_of_x{4, [](std::size_t i) -> result<std::vector<tensor>> {
                                     return std::vector{pair_tensor(1, i == 3 ? -4 : -0.5F)};
                                 }};

void quantize_counter(program& p, const quantization_config& config = {}) {
    quantized_states states(p);
    const auto samples = states.samples(samples_of_x);
    REQUIRE(samples);
    pass_context context(standard_functions);
    REQUIRE(quantize_graph(*p.graph, context, config, samples.value()));
    states.restore();
}

// Returns the results of three executions, which begin with the state that the one before has left.
std::vector<std::vector<double>> three_executions(program& p) {
    const std::vector<initial_state> states = expose_states(p);
    REQUIRE(states.size() == 1);
    REQUIRE(make_functional(*p.graph));
    tensor state = tensor_of_constant(states[0].data, states[0].meta);
    std::vector<std::vector<double>> all;
    for (int run = 0; run != 3; ++run) {
        std::vector<tensor> inputs{pair_tensor(0.75F, -1.25F), state};
        const auto made = execute(*p.graph, inputs);
        REQUIRE(made);
        all.push_back({made.value()[0].real(0), made.value()[0].real(1)});
        state = made.value()[1];
    }
    return all;
}

}  // namespace

TEST_CASE("the samples of a state are its values when the users' samples are executed in order") {
    for (const write_kind kind : {write_kind::declared, write_kind::in_place}) {
        program p = counting_program(kind);
        quantized_states states(p);
        const auto samples = states.samples(samples_of_x);
        REQUIRE(samples);
        REQUIRE(samples.value().count == 4);
        for (std::size_t i = 0; i != 4; ++i) {
            const auto inputs = samples.value().inputs(i);
            REQUIRE(inputs);
            REQUIRE(inputs.value().size() == 2);
            CHECK(inputs.value()[0].real(0) == 1);
            CHECK(inputs.value()[1].real(0) == 1 + static_cast<double>(i));
            CHECK(inputs.value()[1].real(1) == -1 - 0.5 * static_cast<double>(i));
        }
    }
}

TEST_CASE("a buffer that is written keeps its type and first value when the program is quantized") {
    for (const write_kind kind : {write_kind::declared, write_kind::in_place}) {
        program p = counting_program(kind);
        quantize_counter(p);
        REQUIRE(p.mutations.size() == 1);
        CHECK(p.user_outputs == 1);
        CHECK(check_states(p));
        std::vector<double> scales;
        const node* buffer = nullptr;
        for (const node& n : p.graph->nodes()) {
            if (n.name() == "b_count") buffer = &n;
            if (const auto* q = args_if<quantized_decomposed::quantize_per_tensor>(n))
                scales.push_back(q->scale);
        }
        REQUIRE(buffer != nullptr);
        REQUIRE(is<builtin::constant>(*buffer));
        CHECK(buffer->results[0].meta->dtype == dtype::float32);
        CHECK(
            tensor_of_constant(args_of<builtin::constant>(*buffer).data, *buffer->results[0].meta).real(1) ==
            -1);
        // The numbers 5, which the state becomes in the end, and -6.5 are in the range of old and next value.
        REQUIRE(buffer->uses().begin() != buffer->uses().end());
        const auto* read =
            args_if<quantized_decomposed::quantize_per_tensor>(*buffer->uses().begin()->target);
        REQUIRE(read != nullptr);
        CHECK(std::abs(read->scale - 11.5 / 255) < 1e-3);
        CHECK(std::ranges::count(scales, read->scale) >= 2);
    }
}

TEST_CASE("a quantized program with a state is close to the float program in three executions") {
    for (const write_kind kind : {write_kind::declared, write_kind::in_place}) {
        program real = counting_program(kind);
        const auto expected = three_executions(real);
        program p = counting_program(kind);
        quantize_counter(p);
        const auto got = three_executions(p);
        for (std::size_t i = 0; i != expected.size(); ++i) {
            for (std::size_t k = 0; k != 2; ++k) CHECK(std::abs(expected[i][k] - got[i][k]) < 0.25);
        }
        CHECK(std::abs(got[2][1] - got[0][1]) > 4);
    }
}

TEST_CASE("a state whose next value has another type or shape is refused by name") {
    const auto unfit = [] {
        program p = counting_program(write_kind::declared);
        graph& g = *p.graph;
        for (node& n : g.nodes()) {
            if (n.name() == "sum") g.set_meta(n.result(), {dtype::int8, {2}, {}});
        }
        return p;
    };
    const std::string why = "count: the buffer is float32[2] and its next value int8[2], but a state keeps";
    const auto to_tosa = lower_to_tosa(unfit(), {.state = state_kind::io});
    REQUIRE(!to_tosa);
    CHECK(to_tosa.error().message.find(why) == 0);
    std::map<std::string, program, std::less<>> methods;
    methods.emplace("forward", unfit());
    const auto to_pte = lower_to_pte(std::move(methods), {});
    REQUIRE(!to_pte);
    CHECK(to_pte.error().message.find(why) == 0);
}

TEST_CASE("no file is written if the runtime could not copy a state's next value into the state") {
    graph g;
    const value next = g.create<builtin::placeholder>({}).result();
    g.set_meta(next, {dtype::float32, {2, 1}, {}});
    const value state = real_pair(g, g.create<builtin::placeholder>({}).result(), "b_count");
    g.create<builtin::output>({.values = {next, state}});
    const float first[2] = {0, 0};
    const std::vector<pte_state> states{
        {{reinterpret_cast<const std::byte*>(first), {}}, {dtype::float32, {2}, {}}}};
    const auto emitted = emit_pte(std::vector{pte_method{"forward", &g, {}, states}});
    REQUIRE(!emitted);
    const std::string why = "b_count: the state is float32[2] and its next value float32[2, 1]";
    CHECK(emitted.error().message.find(why) != std::string::npos);
}
