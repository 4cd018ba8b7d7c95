// SPDX-License-Identifier: MIT
// Defines headrace::verify, which finds broken invariants of a graph.
#ifndef HEADRACE_INFER_VERIFY_HPP
#define HEADRACE_INFER_VERIFY_HPP

#include <array>

#include <headrace/base/result.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// Options of verify, for checks beyond the structure of a graph.
struct verify_options {
    /// A function that returns the inference rule of an op, or null if there is none:
    /// `&find_rule<Dialects...>`. Without it, metadata is not compared with inference.
    inference_rule (*rule_of)(const op_info&) = nullptr;
    /// A function that checks one node by the rules of a dialect, such as TOSA's legality, after all
    /// structural checks; `&verify_by_op<Dialects...>` runs the verifiers of the ops.
    result<void> (*check_node)(const graph&, const node&) = nullptr;
    /// If true, missing metadata is an error; else it is skipped.
    bool metadata_required = false;
};

/// Checks the invariants that every pass must keep: operands belong to the graph and precede their users;
/// uses and census agree with the nodes; there is one output node, and it is last; names of inputs and of
/// outputs differ; and, if `options` ask for it, metadata equals inference. The error names the first node
/// that fails.
[[nodiscard]] result<void> verify(const graph& g, const verify_options& options = {});

/// Matches ops with a verifier of their own, for rules beyond inference: the limits of a machine, arguments
/// that exclude each other. It is declared next to the op:
///
///     result<void> verify_op(npu::conv, const args<npu::conv>& a, const node& n);
template <class Op>
concept verifiable = op_tag<Op> && requires(const args<Op>& a, const node& n) { verify_op(Op{}, a, n); };

namespace detail {

template <op_tag Op>
result<void> verify_erased(const node& n) {
    return verify_op(Op{}, *static_cast<const args<Op>*>(n.arguments), n);
}
template <class List>
struct verifiers_of;
template <class... Ops>
struct verifiers_of<ops<Ops...>> {
    using verifier = result<void> (*)(const node&);
    template <class Op>
    static constexpr verifier verifier_or_null() {
        if constexpr (verifiable<Op>) {
            return &verify_erased<Op>;
        } else {
            return nullptr;
        }
    }
    static constexpr std::array<verifier, sizeof...(Ops)> value{verifier_or_null<Ops>()...};
};

}  // namespace detail

/// Runs the verifier of a node's op, if the op is of these dialects and has one.
template <class... Dialects>
[[nodiscard]] result<void> verify_by_op(const graph&, const node& n) {
    result<void> sound;
    const auto look_in = [&]<class D>() {
        if (n.op->dialect != &info_of_dialect<D>) return;
        const auto ask = detail::verifiers_of<typename D::all_ops>::value[n.op->index];
        if (ask != nullptr) sound = ask(n);
    };
    (look_in.template operator()<Dialects>(), ...);
    if (!sound) return error{sound.error().kind, message_prefix(n) + sound.error().message};
    return sound;
}

/// Runs verify with the inference rules and verifiers of these dialects, whose headers must be included.
template <class... Dialects>
    requires(sizeof...(Dialects) != 0)
[[nodiscard]] result<void> verify(const graph& g, verify_options options = {}) {
    options.rule_of = &find_rule<Dialects...>;
    if (options.check_node == nullptr) options.check_node = &verify_by_op<Dialects...>;
    return verify(g, static_cast<const verify_options&>(options));
}

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/infer/verify_definition.hpp>
#endif

#endif
