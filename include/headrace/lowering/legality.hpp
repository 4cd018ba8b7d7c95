// SPDX-License-Identifier: MIT
// Defines headrace::report_unlowered and report_illegal, the last checks before emission, which report the
// nodes that the target does not take.
#ifndef HEADRACE_LOWERING_LEGALITY_HPP
#define HEADRACE_LOWERING_LEGALITY_HPP

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/ir/unknown_op.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/pass/pass_context.hpp>
#include <headrace/target/tosa_verify.hpp>

namespace headrace {

namespace detail {

// True if the node computes real numbers because the exporter wrote it so. Quantization at the graph's
// interface does not count.
[[nodiscard]] inline bool computes_floats(const node& n) {
    if (is<builtin::constant>(n) || is<builtin::placeholder>(n)) return false;
    const auto* origin = n.find_annotation<provenance>();
    if (origin != nullptr &&
        (origin->op_name.starts_with("quantized_decomposed") || origin->op_name.starts_with("builtin")))
        return false;
    const std::span<const result_slot> results(n.results, n.result_count);
    return std::any_of(results.begin(), results.end(),
        [](const result_slot& r) { return r.meta && is_floating(r.meta->dtype); });
}

// True if the node's operand is dequantized, or its result quantized, by ops that have become casts.
[[nodiscard]] inline bool is_between_casts(const node& n) {
    constexpr std::size_t most = 32;
    const auto reaches_cast = [&](auto&& add_neighbours) {
        pmr_vector<const node*> seen{&n};
        for (std::size_t i = 0; i != seen.size() && i != most; ++i) {
            if (is<tosa::cast>(*seen[i])) return true;
            add_neighbours(*seen[i], seen);
        }
        return false;
    };
    return reaches_cast([](const node& at, auto& seen) {
        for (const edge& e : at.operand_edges()) seen.push_back(e.source);
    }) &&
        reaches_cast([](const node& at, auto& seen) {
            for (const edge& e : at.uses()) seen.push_back(e.target);
        });
}

// In a quantized program, one float op makes dozens of its neighbours illegal. Its author needs to be told
// only of the float op.
inline bool report_floats(graph& g, pass_context& context) {
    bool found = false;
    for_each_graph(g, [&](graph& sub) {
        for (const node& n : sub.nodes()) {
            if (!computes_floats(n)) continue;
            found = true;
            context.report(n,
                is_between_casts(n)
                    ? "it is quantized, but has no form in integers here, and the target does "
                      "not have floating point; lower to TOSA-1.0+INT+FP"
                    : "it computes in floating point, which the target does not have; quantize "
                      "it, or lower to TOSA-1.0+INT+FP");
        }
    });
    return found;
}

}  // namespace detail

/// Reports each node of a TOSA graph whose types, sizes or constants the graph's target does not allow.
inline void report_illegal_types(graph& g, pass_context& context) {
    if (!g.target().has(target_feature::profile_fp) && detail::report_floats(g, context)) return;
    for_each_graph(g, [&](graph& sub) {
        for (const node& n : sub.nodes()) {
            const auto legal = verify_tosa(n, g.target());
            if (legal) continue;
            const std::pmr::string& reason = legal.error().message;
            const std::pmr::string prefix = message_prefix(n);
            context.report(
                n, std::string_view(reason).substr(reason.starts_with(prefix) ? prefix.size() : 0));
        }
    });
}

/// Reports each node that is left after a pipeline and may not be, with a reason: no `lacking` ("lowering",
/// "kernel") for an op that no dialect has, or `illegal`.
template <class Pipeline>
void report_unlowered(graph& g, pass_context& context, std::string_view lacking, std::string_view illegal) {
    std::pmr::unordered_set<std::pmr::string> refused;
    for (const diagnostic& d : context.diagnostics()) refused.insert(d.node);
    Pipeline::for_each_illegal(g, [&](node& n) {
        // The pass that refused it has given the reason.
        if (!refused.insert(std::pmr::string(origin_name(n))).second) return;
        context.report(n, is<builtin::opaque>(n) ? unknown_op_reason(n, lacking) : std::pmr::string(illegal));
    });
}

/// Reports each node that is left after a pipeline and is not TOSA; if there is none, each node that the
/// target does not take.
template <class Pipeline>
void report_illegal(graph& g, pass_context& context) {
    report_unlowered<Pipeline>(g, context, "lowering", "no pass lowers this op to TOSA");
    if (context.diagnostics().empty()) report_illegal_types(g, context);
}

}  // namespace headrace

#endif
