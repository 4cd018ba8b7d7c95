// SPDX-License-Identifier: MIT
// Defines headrace::traces_of.

#include <headrace/show/op_trace.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <headrace/dialect/builtin.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/lowering/lower.hpp>
#include <headrace/show/op_programs.hpp>

namespace headrace {

namespace {

op_name_list ops_in(const graph& g) {
    op_name_list ops;
    for (const node& n : g.nodes()) {
        if (is_of_dialect<builtin::dialect>(n)) continue;
        if (std::ranges::find(ops, n.op->name) == ops.end()) ops.push_back(n.op->name);
    }
    return ops;
}

// Returns the passes that changed the program, none if it cannot be lowered.
std::vector<traced_pass> trace(const program_source& source, const element_class& elements) {
    std::vector<traced_pass> changes;
    op_name_list last;
    const lowering_observer observer{.before_passes = [&](graph& g) -> result<void> {
                                         changes.clear();
                                         last = ops_in(g);
                                         return {};
                                     },
        .after_pass = [&](const pass_record& pass, graph& g) -> result<void> {
            op_name_list ops = ops_in(g);
            if (ops != last) changes.push_back({pass.name, ops});
            last = std::move(ops);
            return {};
        }};
    const lowering_outcome outcome =
        try_lowering(source, {.target = elements.target(), .observer = observer});
    if (outcome.failure || !outcome.refusals.empty()) changes.clear();
    return changes;
}

}  // namespace

std::vector<op_trace> traces_of(const op_info& op) {
    // Images and matrices are what an op mostly meets.
    static constexpr std::array<std::size_t, 7> ranks{4, 2, 3, 1, 5, 0, 6};
    std::vector<op_trace> traces;
    for (const element_class& elements : element_classes) {
        if (elements.name != "float32" && elements.name != "quantized") continue;
        for (const std::size_t rank : ranks) {
            samples::op_programs programs(op, elements, rank);
            const auto all = programs.next();
            if (!all || !programs.make(*all)) continue;
            auto passes = trace([&] { return *programs.make(*all); }, elements);
            if (passes.empty()) continue;
            traces.push_back({elements.name, std::move(passes)});
            break;
        }
    }
    return traces;
}

}  // namespace headrace
