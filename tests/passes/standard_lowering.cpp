// SPDX-License-Identifier: MIT
// Runs the passes of the standard pipeline one by one over the fixtures and example models, for several
// targets, and records the declarations and emissions of each, which tests/checks/pass_records.py compares.
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <catch2/catch.hpp>

#include <headrace/eval/fold.hpp>
#include <headrace/io/pt2/pt2.hpp>
#include <headrace/passes/decompose/definitions.hpp>
#include <headrace/passes/fold/definitions.hpp>
#include <headrace/passes/layout/definitions.hpp>
#include <headrace/passes/legalize/definitions.hpp>
#include <headrace/passes/normalize/definitions.hpp>
#include <headrace/passes/npu/definitions.hpp>
#include <headrace/passes/quantize/definitions.hpp>
#include <headrace/passes/quantize/quantized_storage.hpp>
#include <headrace/passes/standard_lowering.hpp>
#include <headrace/passes/u55/definitions.hpp>

#include "../support/pass_runs.hpp"
#include "../support/source_tree.hpp"

using namespace headrace;
using lowering = standard_lowering;

namespace {

constexpr target_spec float_target = *parse_target("TOSA-1.0+FP");
constexpr target_spec integer_target = *parse_target("TOSA-1.0+INT+int16+int4+cf");
constexpr target_spec mixed_target = *parse_target("TOSA-1.0+FP+INT+int16+int4+bf16+cf");
constexpr target_spec u55_target = *parse_target("TOSA-1.0+INT+u55");
constexpr target_spec u85_target = *parse_target("TOSA-1.0+INT+u85");

template <pass_type... Passes>
constexpr testing::pass_runners runners_in(pass_list<Passes...>) {
    return testing::runners_of<Passes...>;
}
constexpr testing::pass_runners standard_passes = runners_in(lowering::passes{});

/// Returns the models of the tests and of the examples, and those in the folder HEADRACE_MODELS, if set.
std::vector<std::filesystem::path> models() {
    const std::filesystem::path source = testing::source_tree();
    std::vector<std::filesystem::path> found;
    std::vector<std::filesystem::path> folders{source / "tests/fixtures", source / "examples/models"};
    if (const char* more = std::getenv("HEADRACE_MODELS")) folders.emplace_back(more);
    for (const std::filesystem::path& folder : folders) {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
            if (entry.path().extension() == ".pt2") found.push_back(entry.path());
        }
    }
    return found;
}

/// Records the declared products of a pass's handlers, and of its parts, whose products it emits. Products of
/// its expressions need no test: they follow from their type.
template <pass_type P>
void record_declarations_of() {
    const std::string name(pass_name<P>());
    testing::record_line("runs " + name + (graph_pass<P> ? " whole_graph" : " in_place retracing"));
    if constexpr (requires { typename P::produces; }) {
        set_of<typename P::produces>.for_each(
            [&](std::string_view op) { testing::record_line("declares " + name + " " + std::string(op)); });
    }
    if constexpr (requires { typename P::parts; }) {
        []<class... Parts>(const std::string& whole, pass_list<Parts...>) {
            (testing::record_line("extends " + whole + " " + std::string(pass_name<Parts>())), ...);
            (record_declarations_of<Parts>(), ...);
        }(name, typename P::parts{});
    }
}
template <pass_type... Passes>
void record_declarations(pass_list<Passes...>) {
    (record_declarations_of<Passes>(), ...);
    testing::record_line("sum " + std::to_string(sizeof...(Passes)) + " " +
        std::to_string((effects_of<Passes>::produced_set.size() + ... + 0)));
}

}  // namespace

TEST_CASE("the fixtures are lowered pass by pass") {
    record_declarations(lowering::passes{});
    const auto all = models();
    REQUIRE(all.size() > 10);
    for (const std::filesystem::path& path : all) {
        for (const target_spec& target :
            {float_target, integer_target, mixed_target, u55_target, u85_target}) {
            INFO(path);
            auto p = read_pt2(path);
            if (!p && p.error().kind == error_kind::unsupported) break;  // dynamic shapes
            REQUIRE(p);
            graph& g = *p.value().graph;
            if (std::ranges::any_of(g.nodes(), [](const node& n) { return is<builtin::opaque>(n); })) break;
            g.set_target(target);
            pass_context context({.evaluator = &eval::folding});
            for (const testing::pass_runner& pass : standard_passes) {
                if (!pass.should_run(g)) continue;
                INFO(pass.name);
                REQUIRE(testing::run_recorded(pass, g, context, driver_kind::in_place));
            }
            // Nodes that were not refused have become TOSA.
            if (!context.diagnostics().empty()) continue;
            std::size_t illegal = 0;
            lowering::for_each_illegal(g, [&](node&) { ++illegal; });
            CHECK(illegal == 0);
        }
    }
}
