// SPDX-License-Identifier: MIT
// Defines the function of lowering/lower_pte.hpp. Include it in exactly one translation unit of a program.
#ifndef HEADRACE_LOWERING_LOWER_PTE_DEFINITION_HPP
#define HEADRACE_LOWERING_LOWER_PTE_DEFINITION_HPP

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <headrace/base/strings.hpp>
#include <headrace/lowering/execution.hpp>
#include <headrace/lowering/executorch_pipeline.hpp>
#include <headrace/lowering/lower_pte.hpp>

namespace headrace {

namespace detail {

inline result<void> refuse_state(const program& p) {
    if (p.mutations.empty()) return boost::outcome_v2::success();
    return unsupported(join_text(p.mutations.front().name,
                                 ": the program writes it back when it ends, which is not supported for .pte "
                                 "files; return the new value as an output instead"));
}

}  // namespace detail

result<lowered_pte> lower_to_pte(std::map<std::string, program, std::less<>> methods) {
    lowered_pte made;
    stage_clock clock;
    std::vector<pte_method> written;
    made.methods = std::move(methods);
    for (auto& [name, p] : made.methods) {
        BOOST_OUTCOME_TRY(detail::refuse_state(p));
        pass_context context(&infer_node);
        BOOST_OUTCOME_TRYV(run_executorch_pipeline(*p.graph, context, {.clock = &steady_nanoseconds}));
        for (const diagnostic& d : context.diagnostics()) made.refusals.push_back(d);
        written.push_back({name, p.graph.get()});
    }
    clock.end("lower");
    if (made.refusals.empty()) {
        BOOST_OUTCOME_TRY(file, emit_pte(written));
        made.file = std::move(file);
    }
    for (const auto& [name, p] : made.methods) {
        BOOST_OUTCOME_TRY(p.file.check());
    }
    clock.end("emit");
    made.stages = clock.stages();
    return made;
}

}  // namespace headrace

#endif
