// SPDX-License-Identifier: MIT
// Tests that headrace::graph is a graph of Boost.Graph.

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

#include <boost/graph/graph_concepts.hpp>
#include <boost/graph/reverse_graph.hpp>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/ir/boost_graph.hpp>

using namespace headrace;

namespace {

BOOST_CONCEPT_ASSERT((boost::VertexListGraphConcept<graph>));
BOOST_CONCEPT_ASSERT((boost::BidirectionalGraphConcept<graph>));
BOOST_CONCEPT_ASSERT((boost::EdgeListGraphConcept<graph>));
BOOST_CONCEPT_ASSERT((boost::ReadablePropertyGraphConcept<graph, node*, boost::vertex_index_t>));
BOOST_CONCEPT_ASSERT((boost::ReadablePropertyGraphConcept<graph, edge*, operand_position_t>));
BOOST_CONCEPT_ASSERT((boost::ReadablePropertyGraphConcept<graph, edge*, result_index_t>));
BOOST_CONCEPT_ASSERT((boost::VertexListGraphConcept<boost::reverse_graph<graph>>));

// x -> max.dim -> { values, indices } -> ...: x + values, then the output takes both results.
struct sample {
    graph g;
    node& x = g.create<builtin::placeholder>({});
    node& max = g.create<aten::max_dim>({.self = x.result(), .dim = 1});
    node& gone = g.create<aten::relu>({.self = x.result()});
    node& sum = g.create<aten::add_tensor>({.self = x.result(), .other = max.result(0)});
    node& out = g.create<builtin::output>({.values = {sum.result(), max.result(1)}}, nullptr);
};

TEST_CASE("a graph's vertices are its nodes, in execution order") {
    sample s;
    s.g.erase(s.gone);
    const auto [first, last] = vertices(s.g);
    CHECK(pmr_vector<node*>(first, last) == pmr_vector<node*>{&s.x, &s.max, &s.sum, &s.out});
    CHECK(num_vertices(s.g) == 4);
    CHECK(get(boost::vertex_index, s.g, &s.out) == 4);
    CHECK(s.g.id_bound() == 5);
}

TEST_CASE("a graph's edges are operands that know their position and their result") {
    sample s;
    const auto [first, last] = edges(s.g);
    CHECK(static_cast<std::size_t>(std::distance(first, last)) == num_edges(s.g));
    CHECK(num_edges(s.g) == 6);

    const auto [in, in_end] = in_edges(&s.out, s.g);
    REQUIRE(std::distance(in, in_end) == 2);
    const edge* const second = *std::next(in);
    CHECK(source(second, s.g) == &s.max);
    CHECK(target(second, s.g) == &s.out);
    CHECK(get(operand_position, s.g, second) == 1);
    CHECK(get(result_index, s.g, second) == 1);

    CHECK(in_degree(&s.sum, s.g) == 2);
    CHECK(out_degree(&s.x, s.g) == 3);
    CHECK(degree(&s.max, s.g) == 3);
    const auto [use, use_end] = out_edges(&s.max, s.g);
    CHECK(std::all_of(use, use_end, [&](const edge* e) { return source(e, s.g) == &s.max; }));
}

TEST_CASE("an empty graph has neither vertices nor edges") {
    const graph g;
    CHECK(vertices(g).first == vertices(g).second);
    CHECK(edges(g).first == edges(g).second);
    CHECK(num_edges(g) == 0);
}

TEST_CASE("a colour map has room for the ids of erased nodes") {
    sample s;
    s.g.erase(s.gone);
    node_colors colors(s.g);
    put(colors.map(), &s.out, boost::black_color);
    CHECK(colors[&s.out] == boost::black_color);
    CHECK(colors[&s.x] == boost::white_color);
}

}  // namespace
