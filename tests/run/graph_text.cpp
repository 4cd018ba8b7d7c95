// SPDX-License-Identifier: MIT
// Tests that graphs of every stage of the lowering can be printed and read: the text is unchanged, and so are
// the graph's results.

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <headrace/io/text/graph_text.hpp>
#include <headrace/lowering/lower.hpp>
#include <headrace/run/execution.hpp>
#include <headrace/run/models.hpp>

#include "../support/source_tree.hpp"

using namespace headrace;

namespace {

// Returns what is wrong; empty if nothing is.
std::string round_trip(const graph& g) {
    const auto text = graph_text(g);
    if (!text) return std::string(text.error().message);
    auto again = parse_graph_text(text.value());
    if (!again) return std::string(again.error().message);
    const graph& read = *again.value().graph;
    if (const auto sound = verify_metadata(read); !sound) return std::string(sound.error().message);
    const auto second = graph_text(read);
    if (!second || second.value() != text.value()) return "another text";
    const auto inputs = model_inputs(g, {});
    if (!inputs) return std::string(inputs.error().message);
    const auto expected = execute(g, inputs.value());
    const auto given = execute(read, inputs.value());
    if (!expected || !given) return expected ? "is executed no more" : "";
    for (std::size_t i = 0; i != expected.value().size(); ++i) {
        if (!std::ranges::equal(expected.value()[i].bytes(), given.value()[i].bytes()))
            return "output " + std::to_string(i) + " differs";
    }
    return {};
}

// A pass of each stage of the standard pipeline, and the last.
const std::set<std::string, std::less<>> stages{
    "functionalize", "decompose_gelu", "legalize_matmul", "choose_layouts", "sort_topologically"};

}  // namespace

TEST_CASE("graphs of every stage survive being printed and read", "[graph_text]") {
    std::size_t programs = 0;
    std::size_t graphs = 0;
    for (const auto& entry : std::filesystem::directory_iterator(testing::fixtures())) {
        const std::string path = (entry.path() / "model.pt2").string();
        auto model = std::filesystem::exists(path) ? read_model(path) : malformed("no model");
        if (!model) continue;
        CAPTURE(path);
        ++programs;
        CHECK(round_trip(*model.value().graph) == "");
        const auto text = graph_text(model.value());
        REQUIRE(text.has_value());
        CHECK(graph_text(parse_graph_text(text.value()).value()).value() == text.value());
        lowering_options options;
        options.observer.after_pass = [&](const pass_record& pass, graph& g) -> result<void> {
            if (!stages.contains(pass.name)) return {};
            CAPTURE(std::string(pass.name));
            CHECK(round_trip(g) == "");
            ++graphs;
            return {};
        };
        static_cast<void>(try_lowering([&] { return read_model(path); }, options));
    }
    CHECK(programs > 12);
    CHECK(graphs > 30);
}
