// SPDX-License-Identifier: MIT
// Tests that a node that replaces several keeps all of their origins.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <headrace/ir/edits.hpp>
#include <headrace/ir/origins.hpp>
#include <headrace/ir/source_location.hpp>

#include "../support/pass_test.hpp"

using namespace headrace;

namespace {

std::vector<std::string> origins_of(const node& n) {
    std::vector<std::string> names;
    for_each_origin(
        n, [&](const annotation* origin) { names.emplace_back(find_in<provenance>(origin)->node_name); });
    return names;
}

// conv -> mul -> relu, each from a line of its own.
struct chain : program {
    value x, conv, product, bent;
    chain() {
        x = input(dtype::float32, {2});
        conv = step(make<aten::neg>({.self = x}), "conv", "File \"net.py\", line 1, in forward");
        product = step(make<aten::abs>({.self = conv}), "mul", "File \"net.py\", line 2, in forward");
        bent = step(make<aten::relu>({.self = product}), "relu", "File \"net.py\", line 3, in forward");
        output(bent);
        finish();
    }
    value step(value v, std::string_view name, std::string_view frame) {
        g.annotate(*v.producer, provenance{name, v.producer->op->name});
        g.annotate(*v.producer, source_location{frame});
        return v;
    }
};

// Fuses three nodes into one, like a handler that looks at the nodes before its own.
struct fuse : pass {
    using targeted_ops = ops<aten::relu>;
    using produces = ops<aten::sigmoid>;
    std::optional<value> operator()(const args<aten::relu>& a, emit<produces>& e) const {
        const auto* product = match<aten::abs>(a.self);
        const auto* conv = product == nullptr ? nullptr : match<aten::neg>(product->self);
        if (conv == nullptr) return std::nullopt;
        return e.make<aten::sigmoid>({.self = conv->self});
    }
};

}  // namespace

TEST_CASE("a fused node comes from all that it stands for, in both drivers", "[origins]") {
    for (const driver_kind driver : {driver_kind::in_place, driver_kind::retracing}) {
        chain c;
        pass_context context;
        REQUIRE(apply_pass(fuse{}, c.g, context, driver));
        const node& fused = *c.g.outputs()[0].producer;
        REQUIRE(is<aten::sigmoid>(fused));
        CHECK(origin_name(fused) == "relu");  // messages name one origin, with its line
        CHECK(source_line(fused) == "net.py:3");
        std::vector<std::string> lines;
        for_each_origin(fused, [&](const annotation* origin) {
            lines.emplace_back(line_of_frame(find_in<source_location>(origin)->text));
        });
        std::ranges::sort(lines);
        CHECK(lines == std::vector<std::string>{"net.py:1", "net.py:2", "net.py:3"});
    }
}

TEST_CASE("origins are joined once, and what has none joins nothing", "[origins]") {
    chain c;
    node& relu = *c.bent.producer;
    const node& conv = *c.conv.producer;
    c.g.join_origins(relu, conv);
    c.g.join_origins(relu, conv);
    c.g.join_origins(relu, *c.x.producer);
    CHECK(origins_of(relu) == std::vector<std::string>{"relu", "conv"});
    CHECK(origins_of(*c.x.producer).empty());
    c.g.join_origins(*c.x.producer, relu);
    CHECK(origins_of(*c.x.producer).empty());
    // Nodes made from a fused node have its origins; fusing two of these keeps each origin once.
    node& made = c.g.create<aten::neg>({.self = c.x}, c.g.output());
    c.g.inherit_annotations(made, relu);
    CHECK(origins_of(made) == std::vector<std::string>{"relu", "conv"});
    c.g.join_origins(made, *c.product.producer);
    c.g.join_origins(made, relu);
    std::vector<std::string> all = origins_of(made);
    std::ranges::sort(all);
    CHECK(all == std::vector<std::string>{"conv", "mul", "relu"});
    CHECK(origins_of(relu).size() == 2);
}

TEST_CASE("a node may join the origins of very many") {
    program p;
    const value x = p.input(dtype::float32, {2});
    const auto named = [&](const std::string& name) -> node& {
        node& n = *p.make<aten::neg>({.self = x}).producer;
        p.g.annotate(n, provenance{p.g.own(name), n.op->name});
        return n;
    };
    node& kept = named("kept");
    for (int i = 0; i != 1000; ++i) p.g.join_origins(kept, named("joined_" + std::to_string(i)));
    const std::vector<std::string> names = origins_of(kept);
    CHECK(names.size() == 1001);
    CHECK(names.front() == "kept");
    // Looking up its name must not visit all of them.
    std::size_t length = 0;
    for (const annotation* a = kept.annotations; a != nullptr; a = a->next) ++length;
    CHECK(length == 2);
}
