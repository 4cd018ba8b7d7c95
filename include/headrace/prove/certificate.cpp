// SPDX-License-Identifier: MIT
// Defines headrace::prove::certify.

#include <headrace/prove/certificate.hpp>

#include <algorithm>
#include <array>
#include <chrono>

#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/prove/analysis.hpp>
#include <headrace/prove/counterexample.hpp>

namespace headrace::prove {

namespace {

result<void> check_dialects(const graph& g) {
    const node* other = nullptr;
    const node* unknown = nullptr;
    for_each_graph(g, [&](const graph& sub) {
        for (const node& n : sub.nodes()) {
            const bool is_frame =
                is<builtin::output>(n) || is<builtin::placeholder>(n) || is<builtin::constant>(n);
            if (!is_frame && !is_of_dialect<tosa::dialect>(n) && other == nullptr) other = &n;
            for (std::uint32_t i = 0; i != n.result_count; ++i) {
                if (n.results[i].meta == nullptr && !is<builtin::output>(n)) unknown = &n;
            }
        }
    });
    if (other != nullptr)
        return unsupported({message_prefix(*other),
            "it is not an op of TOSA, whose integers are proven; lower "
            "the model first"});
    if (unknown != nullptr) return malformed({message_prefix(*unknown), "its type is not known"});
    return {};
}

}  // namespace

result<certificate> certify(const graph& g, const certificate_options& options) {
    HEADRACE_TRY(check_dialects(g));
    certificate made;
    const findings found = analyze(g);
    std::array<kind_summary, claim_kind_count> kinds;
    for (const claim& c : found.claims) {
        kind_summary& kind = kinds[static_cast<std::size_t>(c.kind)];
        kind.kind = c.kind;
        if (kind.count++ == 0 || is_fuller(c, kind.fullest)) kind.fullest = c;
        if (c.assumed) made.assumed.push_back(c);
        if (!c.holds()) made.unproven.push_back({c});
    }
    std::ranges::copy_if(kinds, std::back_inserter(made.kinds), [](const auto& k) { return k.count != 0; });
    for_each_graph(g, [&](const graph& sub) {
        for (const node& n : sub.nodes_of(info_of<tosa::custom>)) made.foreign.push_back(&n);
    });
    if (options.search_seconds <= 0 || made.unproven.empty()) return made;
    const auto end = std::chrono::steady_clock::now() +
        std::chrono::duration_cast<std::chrono::steady_clock::duration>(
            std::chrono::duration<double>(options.search_seconds));
    counterexample_search search(g, end);
    for (unproven_claim& c : made.unproven) c.refuted = search.find(c.which);
    return made;
}

}  // namespace headrace::prove
