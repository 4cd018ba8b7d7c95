// SPDX-License-Identifier: MIT
// Defines the functions of headrace/quantization/quantization_points.hpp.

#include <headrace/quantization/quantization_points.hpp>

#include <cstddef>
#include <vector>

namespace headrace {

std::vector<quantization_point> quantization_points_of(const graph& g, const quantization_groups& groups) {
    std::vector<quantization_point> points;
    std::vector<std::vector<std::size_t>> of_node(g.id_bound());  // the points of a node's results
    const auto point_of = [&](value v, quantization_groups::key group) -> std::size_t {
        for (const std::size_t i : of_node[v.producer->id]) {
            if (points[i].source == v && points[i].group == group) return i;
        }
        return no_point;
    };
    for (node& n : g.nodes()) {
        for (edge& e : std::span(n.operands, n.operand_count)) {
            const value v = *e.slot;
            const auto own = groups.of(v);
            const auto wanted = groups.of(e);
            const auto group = wanted != quantization_groups::none ? wanted : own;
            if (group == quantization_groups::none) continue;
            std::size_t at = point_of(v, group);
            if (at == no_point) {
                const std::size_t inner = own == quantization_groups::none ? no_point : point_of(v, own);
                at = points.size();
                points.push_back({v, group, &n, {}, inner});
                of_node[v.producer->id].push_back(at);
            }
            points[at].readers.push_back(&e);
        }
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            const auto own = groups.of(n.result(i));
            if (own == quantization_groups::none) continue;
            of_node[n.id].push_back(points.size());
            points.push_back({n.result(i), own, n.next, {}, no_point});
        }
    }
    return points;
}
}  // namespace headrace
