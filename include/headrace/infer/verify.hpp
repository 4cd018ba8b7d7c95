// SPDX-License-Identifier: MIT
// Defines headrace::verify, which finds what a pass has broken in a graph.
#ifndef HEADRACE_INFER_VERIFY_HPP
#define HEADRACE_INFER_VERIFY_HPP

#include <headrace/base/error.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// What verify checks beyond the structure of a graph.
struct verify_options {
    /// The inference rule of an op, or null if none is known; `&find_rule<Dialects...>`. Without it, metadata
    /// is not compared with inference.
    inference_rule (*rule_of)(const op_info&) = nullptr;
    /// Checks one node by the rules of a dialect, such as TOSA's legality, after all of the structure.
    result<void> (*check_node)(const graph&, const node&) = nullptr;
    /// Must each value have metadata? Otherwise what is missing is passed over.
    bool metadata_required = false;
};

/// Checks what every pass must leave true: operands belong to the graph and lie before their users, uses and
/// census agree with the nodes, one output node and it is last, names of inputs and of outputs differ, and,
/// where `options` say so, metadata is what inference gives. The error names the first node that fails.
[[nodiscard]] result<void> verify(const graph& g, const verify_options& options = {});

/// The same, with the inference rules of these dialects, whose rules must have been included.
template <class... Dialects>
    requires(sizeof...(Dialects) != 0)
[[nodiscard]] result<void> verify(const graph& g, verify_options options = {}) {
    options.rule_of = &find_rule<Dialects...>;
    return verify(g, static_cast<const verify_options&>(options));
}

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/infer/verify_definition.hpp>
#endif

#endif
