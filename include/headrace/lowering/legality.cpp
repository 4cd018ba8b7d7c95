// SPDX-License-Identifier: MIT
// Defines the functions of headrace/lowering/legality.hpp.

#include <headrace/lowering/legality.hpp>

#include <algorithm>
#include <span>
#include <string_view>
#include <unordered_set>

#include <headrace/dialect/tosa.hpp>
#include <headrace/pass/driver.hpp>

namespace headrace {

namespace {

// True if the node computes real numbers because the exporter wrote it so. Quantization at the graph's
// signature does not count.
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

// True if the node's operand is dequantized, or its result quantized, by ops that have become casts.
bool is_between_casts(const node& n) {
    constexpr std::size_t max_seen = 32;
    const auto reaches_cast = [&](auto&& add_neighbours) {
        pmr_vector<const node*> seen{&n};
        for (std::size_t i = 0; i != seen.size() && i != max_seen; ++i) {
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
bool report_floats(graph& g, pass_context& context) {
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

}  // namespace

void report_illegal_types(graph& g, pass_context& context) {
    if (!g.target().has(target_feature::profile_fp) && report_floats(g, context)) return;
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

}  // namespace headrace
