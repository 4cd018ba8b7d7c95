// SPDX-License-Identifier: MIT
// Tests of the whole way from an exported program to a flatbuffer, as a user of the library goes it.

#include <catch2/catch.hpp>

#include <memory>
#include <string>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/io/tosa_reader.hpp>
#include <headrace/lowering/lower.hpp>
#include <headrace/lowering/lower_package.hpp>
#include <headrace/lowering/target_choice.hpp>

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
    const std::string json = report_json(m.report);
    CHECK(json.find("\"nodes\": {\n  \"in\": 3,") != std::string::npos);
    CHECK(json.find("\"ran\": true") != std::string::npos);
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
    CHECK(mutated.error().message.find("steps: the program writes it back") == 0);
}

TEST_CASE("an observer sees each pass, and ends the lowering by an error", "[lower]") {
    std::size_t passes = 0;
    lowering_options options;
    options.observer.before_passes = [&](graph& g) -> result<void> {
        CHECK(g.census().count(info_of<aten::relu>) == 1);
        return boost::outcome_v2::success();
    };
    options.observer.after_pass = [&](const pass_record&, graph&) -> result<void> {
        ++passes;
        return boost::outcome_v2::success();
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
    // As if the first pass that rewrites dropped the relu.
    options.observer.after_pass = [](const pass_record& pass, graph& g) -> result<void> {
        if (pass.nodes.rewritten == 0) return boost::outcome_v2::success();
        const value x = (*g.inputs().begin()).result();
        const value y = *g.outputs().begin();
        if (x != y) g.replace_all_uses(y, x);
        return boost::outcome_v2::success();
    };
    const auto wrong = lower_to_tosa(relu_program(), options);
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().message.find(" changes the result: ") != std::string::npos);
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
    CHECK(package_report_json(made.value(), {{"encode", "e.pt2"}}).find("\"model\": \"e.pt2\"") !=
          std::string::npos);

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
