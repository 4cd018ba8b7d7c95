// SPDX-License-Identifier: MIT
// Defines headrace::prove::certificate, the proof that no integer of a TOSA graph overflows, or why there is
// none.
#ifndef HEADRACE_PROVE_CERTIFICATE_HPP
#define HEADRACE_PROVE_CERTIFICATE_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/eval/tensor.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/prove/claim.hpp>
#include <headrace/prove/exact.hpp>

namespace headrace::prove {

/// The claims of a kind.
struct kind_summary {
    claim_kind kind = claim_kind::accumulator;
    std::size_t count = 0;  ///< nodes
    claim fullest{};        ///< the one nearest to its limits
};

/// Inputs of a graph, in its order, for which a number does not fit: that was computed.
struct counterexample {
    std::vector<eval::tensor> inputs{};
    overflow number{};
};

/// A claim that does not follow from the ranges of the inputs.
struct unproven_claim {
    claim which{};
    std::optional<counterexample> refuted{};  ///< none: none was found, the bound may be too loose
};

/// It refers to the nodes of the graph.
struct certificate {
    std::vector<kind_summary> kinds{};
    std::vector<unproven_claim> unproven{};
    std::vector<claim> assumed{};        ///< about inputs: indices
    std::vector<const node*> foreign{};  ///< CUSTOM ops, which no certificate covers

    [[nodiscard]] bool no_overflow() const { return unproven.empty() && foreign.empty(); }
};

struct certificate_options {
    double search_seconds = 2;  ///< for counterexamples, in total; 0: none are sought
};

/// Proves of a TOSA graph that no integer overflows for any input of the declared ranges. Refuses graphs that
/// have nodes of other dialects.
[[nodiscard]] result<certificate> certify(const graph& g, const certificate_options& options = {});

/// Returns a line for each kind, one for each claim that is not proven, with what to do, and the conclusion.
[[nodiscard]] std::string certificate_text(const certificate& c);
/// Returns all of it as JSON; docs/prove.md describes the members.
[[nodiscard]] std::string certificate_json(const certificate& c);
/// Returns the conclusion alone: "certified: …", or "not certified: …" with the first reason.
[[nodiscard]] std::string certificate_conclusion(const certificate& c);

}  // namespace headrace::prove

#endif
