// SPDX-License-Identifier: MIT
#include "legality.hpp"

#include <algorithm>
#include <span>

#include <headrace/pass/driver.hpp>
#include <headrace/target/tosa_verify.hpp>

namespace headrace::cli {

namespace {

// What the exporter wrote as a computation of real numbers, not what stands at its border.
bool computes_floats(const node& n) {
    if (is<builtin::constant>(n) || is<builtin::placeholder>(n)) return false;
    const auto* origin = n.find_annotation<provenance>();
    if (origin != nullptr &&
        (origin->op_name.starts_with("quantized_decomposed") || origin->op_name.starts_with("builtin")))
        return false;
    const std::span<const result_slot> results(n.results, n.result_count);
    return std::any_of(results.begin(), results.end(),
                       [](const result_slot& r) { return r.meta && is_floating(r.meta->dtype); });
}

// In a quantized program one float op makes dozens of illegal operators of its neighbours: it is what the
// author has to know.
bool report_floats(graph& g, pass_context& context) {
    bool found = false;
    detail::for_each_graph(g, [&](graph& sub) {
        for (const node& n : sub.nodes()) {
            if (!computes_floats(n)) continue;
            found = true;
            context.report(n,
                           "it computes in floating point, which the target does not have; quantize it, or "
                           "lower to TOSA-1.0+INT+FP");
        }
    });
    return found;
}

}  // namespace

void report_illegal_types(graph& g, pass_context& context) {
    if (!g.target().has(target_feature::profile_fp) && report_floats(g, context)) return;
    detail::for_each_graph(g, [&](graph& sub) {
        for (const node& n : sub.nodes()) {
            auto legal = verify_tosa(n, g.target());
            if (legal) continue;
            const std::pmr::string& reason = legal.error().message;
            const std::pmr::string prefix = message_prefix(n);
            context.report(n,
                           std::string_view(reason).substr(reason.starts_with(prefix) ? prefix.size() : 0));
        }
    });
}

}  // namespace headrace::cli
