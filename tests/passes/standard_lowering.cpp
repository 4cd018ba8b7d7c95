// SPDX-License-Identifier: MIT
// Runs the passes of the standard pipeline one by one over the fixtures and example models, for several
// targets, and records the declarations and emissions of each, which tests/checks/pass_records.py compares.
#define HEADRACE_DEFINES_PASSES  // this file runs them one by one

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <catch2/catch.hpp>

#include <headrace/eval/fold.hpp>
#include <headrace/io/pt2/pt2.hpp>
#include <headrace/passes/decompose/activations.hpp>
#include <headrace/passes/decompose/arithmetic.hpp>
#include <headrace/passes/decompose/comparisons.hpp>
#include <headrace/passes/decompose/convolution.hpp>
#include <headrace/passes/decompose/indexing.hpp>
#include <headrace/passes/decompose/losses.hpp>
#include <headrace/passes/decompose/matmul.hpp>
#include <headrace/passes/decompose/normalization.hpp>
#include <headrace/passes/decompose/norms.hpp>
#include <headrace/passes/decompose/pooling.hpp>
#include <headrace/passes/decompose/powers.hpp>
#include <headrace/passes/decompose/products.hpp>
#include <headrace/passes/decompose/quantization.hpp>
#include <headrace/passes/decompose/rearrangements.hpp>
#include <headrace/passes/decompose/recurrent.hpp>
#include <headrace/passes/decompose/resampling.hpp>
#include <headrace/passes/decompose/scans.hpp>
#include <headrace/passes/decompose/scatter.hpp>
#include <headrace/passes/decompose/searches.hpp>
#include <headrace/passes/decompose/sorting.hpp>
#include <headrace/passes/decompose/special.hpp>
#include <headrace/passes/decompose/statistics.hpp>
#include <headrace/passes/decompose/tables.hpp>
#include <headrace/passes/decompose/trigonometric.hpp>
#include <headrace/passes/finish/finish.hpp>
#include <headrace/passes/fold/fold_constants.hpp>
#include <headrace/passes/fold/redundancies.hpp>
#include <headrace/passes/layout/choose_layouts.hpp>
#include <headrace/passes/layout/moving_ops.hpp>
#include <headrace/passes/legalize/control_flow.hpp>
#include <headrace/passes/legalize/convolution.hpp>
#include <headrace/passes/legalize/elementwise.hpp>
#include <headrace/passes/legalize/gather_scatter.hpp>
#include <headrace/passes/legalize/reduction.hpp>
#include <headrace/passes/legalize/shape.hpp>
#include <headrace/passes/legalize/slicing.hpp>
#include <headrace/passes/legalize/tensor_indices.hpp>
#include <headrace/passes/normalize/casts_and_copies.hpp>
#include <headrace/passes/normalize/functionalize.hpp>
#include <headrace/passes/normalize/narrow_types.hpp>
#include <headrace/passes/normalize/regions.hpp>
#include <headrace/passes/normalize/variants.hpp>
#include <headrace/passes/normalize/widen_unsigned.hpp>
#include <headrace/passes/normalize/windows.hpp>
#include <headrace/passes/npu/channel_selections.hpp>
#include <headrace/passes/npu/convolution_groups.hpp>
#include <headrace/passes/npu/first_layers.hpp>
#include <headrace/passes/npu/quantized_arithmetic.hpp>
#include <headrace/passes/npu/strided_convolutions.hpp>
#include <headrace/passes/npu/transposes.hpp>
#include <headrace/passes/quantize/lower_quantized.hpp>
#include <headrace/passes/quantize/quantized_boundaries.hpp>
#include <headrace/passes/quantize/quantized_storage.hpp>
#include <headrace/passes/quantize/rescaling.hpp>
#include <headrace/passes/quantize/tabulate_functions.hpp>
#include <headrace/passes/standard_lowering.hpp>

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

template <pass_type... Passes>
void record_declarations(pass_list<Passes...>) {
    (testing::record_declarations_of<Passes>(), ...);
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
