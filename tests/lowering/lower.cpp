// SPDX-License-Identifier: MIT
// Tests the lowering of an exported program to a flatbuffer, with the functions for users of the library.

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include <headrace/base/target_text.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/io/tosa/reader.hpp>
#include <headrace/lowering/lower.hpp>
#include <headrace/lowering/lower_package.hpp>
#include <headrace/lowering/target_choice.hpp>
#include <headrace/partition/extract.hpp>
#include <headrace/run/execution.hpp>

using namespace headrace;

namespace {

value add_input(graph& g) {
    node& x = g.create<builtin::placeholder>({});
    g.set_name(x.result(), "x");
    g.set_meta(x.result(), {dtype::float32, {1, 2, 4, 3}, {}});
    return x.result();
}
template <class Op>
value add(graph& g, typename Op::args a) {
    const value v = g.create<Op>(a).result();
    g.set_meta(v, {dtype::float32, {1, 2, 4, 3}, {}});
    return v;
}
program finish(std::unique_ptr<graph> g, value v) {
    g->create<builtin::output>({.values = {v}});
    program p;
    p.graph = std::move(g);
    p.user_outputs = 1;
    return p;
}

// y = relu(x).
program relu_program() {
    auto g = std::make_unique<graph>();
    const value y = add<aten::relu>(*g, {.self = add_input(*g)});
    return finish(std::move(g), y);
}
// An op that no dialect has.
program unknown_program() {
    auto g = std::make_unique<graph>();
    const value x = add_input(*g);
    const value y = g->create<builtin::opaque>({.target = "my.op", .operands = {x}}, 1).result();
    g->set_meta(y, {dtype::float32, {1, 2, 4, 3}, {}});
    return finish(std::move(g), y);
}

}  // namespace

TEST_CASE("a program becomes a flatbuffer, a description and a report", "[lower]") {
    const auto lowered = lower_to_tosa(relu_program());
    REQUIRE(lowered);
    const auto back = read_tosa(lowered.value().flatbuffer.bytes);
    REQUIRE(back);
    CHECK(back.value()->census().count(info_of<tosa::clamp>) == 1);
    const lowered_model& m = lowered.value();
    REQUIRE(m.io.inputs.size() == 1);
    CHECK(m.io.inputs[0].name == "x");
    CHECK(m.io.inputs[0].shape == std::vector<std::int64_t>{1, 2, 4, 3});
    CHECK(m.report.target == "TOSA-1.0+FP");
    CHECK(m.report.nodes_in == 3);
    CHECK(m.report.stages.size() == 3);
    const auto json = nlohmann::json::parse(report_json(m.report));
    CHECK(json.at("nodes").at("in") == 3);
    const auto& passes = json.at("passes");
    CHECK(std::any_of(passes.begin(), passes.end(), [](const auto& pass) { return pass.at("ran") == true; }));
}

TEST_CASE("images can come with their channels last", "[lower]") {
    const auto lowered = lower_to_tosa(relu_program(), {.channels_last = true});
    REQUIRE(lowered);
    CHECK(lowered.value().io.inputs[0].channels_last);
    CHECK(lowered.value().io.inputs[0].shape == std::vector<std::int64_t>{1, 4, 3, 2});
}

TEST_CASE("what cannot be lowered is an error that names the nodes", "[lower]") {
    const auto refused = lower_to_tosa(unknown_program());
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == error_kind::unsupported);
    CHECK(refused.error().message.find("1 node cannot be lowered: ") == 0);
    CHECK(refused.error().message.find("Headrace has no lowering for it") != std::string::npos);
    program writes = relu_program();
    writes.mutations.push_back({.name = "steps"});
    const auto mutated = lower_to_tosa(std::move(writes));
    REQUIRE_FALSE(mutated);
    CHECK(mutated.error().message ==
        "steps: the program writes it back when it ends, which a TOSA graph without variables cannot; return "
        "the new value as an output, or lower with --state io, or with --state variable and a target that has "
        "+var");
}

TEST_CASE("metadata that a file leaves out is inferred", "[lower]") {
    graph g;
    const value x = add_input(g);
    const value y = g.create<aten::relu>({.self = x}).result();
    const value z = g.create<aten::permute>({.self = y, .dims = {0, 2, 3, 1}}).result();
    g.create<builtin::output>({.values = {z}});
    REQUIRE(complete_metadata(g));
    REQUIRE(meta_of(y) != nullptr);
    REQUIRE(meta_of(z) != nullptr);
    CHECK(meta_of(z)->shape == int_list{1, 4, 3, 2});
    CHECK(verify_metadata(g));
}

TEST_CASE("metadata that cannot be inferred is an error that names the node", "[lower]") {
    const auto message = [](const graph& from, auto&& change) {
        graph g;
        copy_graph(from, g);
        change(g);
        const result<void> done = complete_metadata(g);
        return done ? std::pmr::string() : done.error().message;
    };
    const auto forget_all = [](graph& g) {
        for (node& n : g.nodes()) {
            for (std::uint32_t i = 0; i != n.result_count; ++i) g.clear_meta(n.result(i));
        }
    };
    CHECK(message(*relu_program().graph, [](graph&) {}).empty());
    CHECK(message(*relu_program().graph, forget_all).find("x (builtin.placeholder): the file does not say") ==
        0);
    CHECK(message(*unknown_program().graph, [](graph& g) {
        for (node& n : g.nodes_of(info_of<builtin::opaque>)) g.clear_meta(n.result());
    }).find("does not say which type and shape result 0 has") != std::string::npos);
    // A node that a rule refuses.
    CHECK(message(*relu_program().graph, [](graph& g) {
        node& n = *g.nodes_of(info_of<aten::relu>).begin();
        node& made = g.create<aten::permute>({.self = n.operand(0), .dims = {0, 0, 1, 2}}, &n);
        g.replace_all_uses(n.result(), made.result());
    }).find("aten.permute.default: ") != std::string::npos);
}

TEST_CASE("tensors that no target takes are refused before any work", "[lower]") {
    auto g = std::make_unique<graph>();
    const value x = add_input(*g);
    const value y = g->create<aten::arange>({.end = std::int64_t{1} << 31}).result();
    g->set_meta(y, {dtype::int64, {std::int64_t{1} << 31}, {}});
    g->set_name(y, "numbers");
    g->create<builtin::output>({.values = {x, y}});
    program p;
    p.graph = std::move(g);
    p.user_outputs = 2;
    const auto executed = execute(*p.graph, {});
    REQUIRE_FALSE(executed);
    CHECK(executed.error().message.find("numbers (aten.arange.default): ") == 0);
    const auto refused = lower_to_tosa(std::move(p));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("numbers (aten.arange.default): a tensor of 2^31 elements") !=
        std::string::npos);
}

TEST_CASE("an observer sees each pass, and ends the lowering by an error", "[lower]") {
    std::size_t passes = 0;
    lowering_options options;
    options.observer.before_passes = [&](graph& g) -> result<void> {
        CHECK(g.census().count(info_of<aten::relu>) == 1);
        return {};
    };
    options.observer.after_pass = [&](const pass_record&, graph&) -> result<void> {
        ++passes;
        return {};
    };
    const auto lowered = lower_to_tosa(relu_program(), options);
    REQUIRE(lowered);
    CHECK(passes != 0);
    options.observer.after_pass = [](const pass_record&, graph&) -> result<void> {
        return invalid("enough");
    };
    const auto stopped = try_lowering([]() -> result<program> { return relu_program(); }, options);
    REQUIRE(stopped.failure);
    CHECK(stopped.failure->message == "enough");
    CHECK(stopped.report.target == "TOSA-1.0+FP");
}

TEST_CASE("a pass that changes the result is found by execution", "[lower]") {
    lowering_options options{.verify = true};
    CHECK(lower_to_tosa(relu_program(), options));
    // Simulates a first rewriting pass that drops the relu.
    options.observer.after_pass = [](const pass_record& pass, graph& g) -> result<void> {
        if (pass.nodes.rewritten == 0) return {};
        const value x = (*g.inputs().begin()).result();
        const value y = *g.outputs().begin();
        if (x != y) g.replace_all_uses(y, x);
        return {};
    };
    const auto wrong = lower_to_tosa(relu_program(), options);
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().message.find(" changes the result: ") != std::string::npos);
}

TEST_CASE("an input of more axes than TOSA has is refused, though nobody reads it", "[lower]") {
    program p = relu_program();
    node& deep = p.graph->create<builtin::placeholder>({}, p.graph->first());
    p.graph->set_name(deep.result(), "deep");
    p.graph->set_meta(deep.result(), {dtype::float32, {1, 1, 1, 1, 1, 1, 2}, {}});
    const auto refused = lower_to_tosa(std::move(p));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("deep") != std::string::npos);
    CHECK(refused.error().message.find("rank 7 is above level 8K's limit of 6") != std::string::npos);
}

// The interface has the coarser quantization, and the model's results for that are the reference.
TEST_CASE("an input that is quantized in two ways is verified by what its caller can give", "[lower]") {
    auto g = std::make_unique<graph>();
    const value x = add_input(*g);
    const auto negated = [&](double scale) {
        const value q = add<quantized_decomposed::quantize_per_tensor>(*g,
            {.input = x,
                .scale = scale,
                .zero_point = 0,
                .quant_min = -128,
                .quant_max = 127,
                .dtype = dtype::int8});
        g->set_meta(q, {dtype::int8, {1, 2, 4, 3}, {}});
        const value d = add<quantized_decomposed::dequantize_per_tensor>(*g,
            {.input = q,
                .scale = scale,
                .zero_point = 0,
                .quant_min = -128,
                .quant_max = 127,
                .dtype = dtype::int8});
        return add<aten::neg>(*g, {.self = d});
    };
    const value coarse = negated(0.05);
    const value both = add<aten::add_tensor>(*g, {.self = coarse, .other = negated(0.0125)});
    const auto lowered = lower_to_tosa(finish(std::move(g), both), {.verify = true});
    REQUIRE(lowered);
    CHECK(lowered.value().report.target == "TOSA-1.0+INT");
}

TEST_CASE("a float model that computes with integers is lowered to both profiles", "[lower]") {
    auto g = std::make_unique<graph>();
    const value x = add_input(*g);
    const value ones = add<aten::ne_scalar>(*g, {.self = x, .other = 0});
    g->set_meta(ones, {dtype::boolean, {1, 2, 4, 3}, {}});
    const value positions = add<aten::cumsum>(*g, {.self = ones, .dim = 1});
    g->set_meta(positions, {dtype::int64, {1, 2, 4, 3}, {}});
    CHECK(default_targets(*g).size() == 2);
    CHECK_FALSE(default_targets(*g)[0].has(target_feature::profile_int));
    const auto lowered = lower_to_tosa(finish(std::move(g), positions));
    REQUIRE(lowered);
    CHECK(lowered.value().report.target == "TOSA-1.0+FP+INT");
}

TEST_CASE("a model that computes with int16 is lowered with its extension", "[lower]") {
    auto g = std::make_unique<graph>();
    const value x = add_input(*g);
    g->set_meta(x, {dtype::int16, {1, 2, 4, 3}, {}});
    const value twice[] = {x, x};
    const value joined = add<aten::cat>(*g, {.tensors = list<value>(twice, 2), .dim = 0});
    g->set_meta(joined, {dtype::int16, {2, 2, 4, 3}, {}});
    CHECK(default_targets(*g).size() == 3);
    const auto lowered = lower_to_tosa(finish(std::move(g), joined));
    REQUIRE(lowered);
    CHECK(lowered.value().report.target == "TOSA-1.0+FP+INT+int16");
}

TEST_CASE("bytes are lowered to the integer profile, with floats beside it where there are some", "[lower]") {
    auto g = std::make_unique<graph>();
    const value x = add_input(*g);
    g->set_meta(x, {dtype::uint8, {1, 2, 4, 3}, {}});
    const value inverted = add<aten::bitwise_not>(*g, {.self = x});
    g->set_meta(inverted, {dtype::uint8, {1, 2, 4, 3}, {}});
    CHECK(target_text(default_targets(*g)[0]) == "TOSA-1.0+INT");
    auto floats = std::make_unique<graph>();
    const value y = add_input(*floats);
    floats->set_meta(y, {dtype::uint8, {1, 2, 4, 3}, {}});
    const value real = add<aten::_to_copy>(*floats, {.self = y, .dtype = dtype::float32});
    floats->set_meta(real, {dtype::float32, {1, 2, 4, 3}, {}});
    const auto integers = lower_to_tosa(finish(std::move(g), inverted));
    REQUIRE(integers);
    CHECK(integers.value().report.target == "TOSA-1.0+INT");
    CHECK(integers.value().io.inputs[0].dtype == dtype::uint8);
    CHECK(integers.value().io.outputs[0].dtype == dtype::uint8);
    const auto image = lower_to_tosa(finish(std::move(floats), real));
    REQUIRE(image);
    CHECK(image.value().report.target == "TOSA-1.0+FP+INT");
    CHECK(image.value().io.outputs[0].dtype == dtype::float32);
}

TEST_CASE("the default target depends on quantization", "[lower]") {
    const target_spec floats = target_spec{}.with(target_feature::profile_fp);
    const target_spec integers = target_spec{}.with(target_feature::profile_int);
    graph g;
    add_input(g);
    CHECK(default_targets(g) == std::vector{floats});
    CHECK(widest_default_target(g) == floats);
    g.create<quantized_decomposed::quantize_per_tensor>(
        {(*g.inputs().begin()).result(), 0.5, 0, -128, 127, dtype::int8});
    CHECK(default_targets(g) == std::vector{integers, integers.with(target_feature::profile_fp)});
    CHECK(widest_default_target(g) == integers.with(target_feature::profile_fp));
}

TEST_CASE("a package has the methods that were given, or the nodes that were refused", "[lower]") {
    std::map<std::string, program, std::less<>> methods;
    methods.emplace("encode", relu_program());
    const auto made = lower_to_package(std::move(methods));
    REQUIRE(made);
    CHECK(made.value().files.delegates().size() == 1);
    const auto json = nlohmann::json::parse(package_report_json(made.value(), {{"encode", "e.pt2"}}));
    CHECK(json.at("methods").at("encode").at("model") == "e.pt2");

    std::map<std::string, program, std::less<>> unknown;
    unknown.emplace("forward", unknown_program());
    const auto refused = lower_to_package(std::move(unknown));
    REQUIRE(refused);
    CHECK(refused.value().refusals.size() == 1);
    CHECK(refused.value().methods.empty());

    std::map<std::string, program, std::less<>> parts;
    parts.emplace("forward", relu_program());
    const auto partitioned = lower_to_package(std::move(parts), {.partition = true});
    REQUIRE(partitioned);
    const method_report& report = partitioned.value().methods.at("forward");
    REQUIRE(report.delegates.size() == 1);
    CHECK(report.delegates[0].nodes_in == 1);
    CHECK(report.host_nodes.empty());
}
