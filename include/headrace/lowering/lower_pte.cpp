// SPDX-License-Identifier: MIT
// Defines the functions of headrace/lowering/lower_pte.hpp.

#include <headrace/io/tosa/delegate.hpp>
#include <headrace/lowering/lower_pte.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/strings.hpp>
#include <headrace/dialect/delegate.hpp>
#include <headrace/dialect/executorch.hpp>
#include <headrace/io/pte/tosa_delegates.hpp>
#include <headrace/io/unread_nodes.hpp>
#include <headrace/ir/dead_code.hpp>
#include <headrace/lowering/executorch_pipeline.hpp>
#include <headrace/lowering/integer_interface.hpp>
#include <headrace/lowering/pte_copies.hpp>
#include <headrace/lowering/state.hpp>
#include <headrace/run/execution.hpp>

namespace headrace {

namespace detail {

/// The state of a lowering of methods to one file.
class pte_lowering {
public:
    pte_lowering(std::map<std::string, program, std::less<>> methods, const pte_options& options)
        : options_(options) {
        made_.methods = std::move(methods);
    }

    [[nodiscard]] result<lowered_pte> run() {
        for (auto& [name, p] : made_.methods) {
            eliminate_dead_code(*p.graph);
            HEADRACE_TRY(refuse_unread(*p.graph));
            leave_inputs_unwritten(p);
            if (options_.integer_interface) {
                HEADRACE_TRY(take_integers(p));
            }
        }
        for (auto& [name, p] : made_.methods) {
            states_[name] = states_as_inputs(p);
            HEADRACE_TRY(options_.observer.begin(*p.graph));
        }
        if (options_.delegate) {
            HEADRACE_TRY(find_delegates());
            clock_.end("delegate");
        }
        for (auto& [name, p] : made_.methods) {
            pass_context context(&infer_node);
            HEADRACE_TRY(run_executorch_pipeline(*p.graph, context, options_.observer.watched_run()));
            HEADRACE_TRY(options_.observer.end(*p.graph, context.diagnostics()));
            for (const diagnostic& d : context.diagnostics()) made_.refusals.push_back(explained(name, d));
            copy_kept_inputs(*p.graph, states_[name].size());
            copy_carried_values(*p.graph);
            written_.push_back({name, p.graph.get(), delegates_[name], states_[name]});
        }
        clock_.end("lower");
        if (made_.refusals.empty()) {
            HEADRACE_TRY(file, emit_pte(written_));
            made_.file = std::move(file);
        }
        for (const auto& [name, p] : made_.methods) {
            HEADRACE_TRY(p.file.check());
        }
        clock_.end("emit");
        made_.stages = clock_.stages();
        return std::move(made_);
    }

private:
    result<void> find_delegates() {
        std::map<std::string, graph*, std::less<>> graphs;
        for (auto& [name, p] : made_.methods) graphs.emplace(name, p.graph.get());
        HEADRACE_TRY(delegated, delegate_to_tosa(graphs, {options_.target, true, options_.observer}));
        made_.reports = std::move(delegated.reports);
        made_.data = std::move(delegated.lowered.data);
        for (auto& [name, m] : delegated.lowered.methods) {
            std::vector<pte_delegate>& delegates = delegates_[name];
            for (lowered_delegate& d : m.delegates) {
                replace_call(*d.call, delegates.size());
                HEADRACE_TRY(made, stored(d.processed));
                made_.reports[name].delegates[delegates.size()].backend = made.id;
                delegates.push_back(std::move(made));
            }
            HEADRACE_TRY(options_.observer.see(delegation_record(delegates.size()), *m.host));
        }
        return {};
    }

    // The delegate's graph is in its bytes: the host's passes need not see it.
    static void replace_call(node& call, std::size_t number) {
        graph& g = *call.owner;
        const args<executorch::call_delegate> arguments{
            static_cast<std::int64_t>(number), args_of<delegate::call_delegate>(call).operands};
        node& made = g.create<executorch::call_delegate>(arguments, call.result_count, &call);
        for (std::uint32_t i = 0; i != call.result_count; ++i) {
            made.results[i] = call.results[i];
            g.replace_all_uses(call.result(i), made.result(i));
        }
        g.inherit_annotations(made, call);
        g.erase(call);
    }
    [[nodiscard]] result<pte_delegate> stored(preprocess_result& processed) const {
        pte_delegate d{std::string(tosa_backend_id), std::move(processed.processed_bytes)};
        for (const std::string& key : processed.data_keys)
            d.constants.emplace_back(made_.data.buffers[made_.data.keys.find(key)->second]->bytes);
        if (!options_.compile) return d;
        HEADRACE_TRY(flatbuffer, join_tosa(d.bytes, d.constants));
        return options_.compile(flatbuffer);
    }
    // Gives both reasons if neither the runtime nor TOSA has the op.
    [[nodiscard]] diagnostic explained(std::string_view method, diagnostic d) const {
        // Passes that both pipelines share give TOSA's reasons.
        if (d.reason.find("TOSA") != std::pmr::string::npos)
            d.reason =
                "ExecuTorch's runtime has no kernel for this op, and rewriting it to others fails as it does "
                "for TOSA: " +
                d.reason;
        const auto told = made_.reports.find(method);
        if (told == made_.reports.end()) return d;
        for (const host_note& n : told->second.host_nodes) {
            if (n.node != std::string_view(d.node)) continue;
            d.reason += "; not delegated to TOSA: " + n.reason;
            break;
        }
        return d;
    }

    pte_options options_;
    lowered_pte made_;
    stage_clock clock_;
    std::map<std::string, std::vector<pte_delegate>, std::less<>> delegates_;
    std::map<std::string, std::vector<pte_state>, std::less<>> states_;
    std::vector<pte_method> written_;
};

}  // namespace detail

result<lowered_pte> lower_to_pte(
    std::map<std::string, program, std::less<>> methods, const pte_options& options) {
    return detail::pte_lowering(std::move(methods), options).run();
}

}  // namespace headrace
