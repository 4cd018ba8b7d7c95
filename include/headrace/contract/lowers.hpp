// SPDX-License-Identifier: MIT
// Defines headrace::lowers, which checks whether a pipeline lowers every op of a model.
#ifndef HEADRACE_CONTRACT_LOWERS_HPP
#define HEADRACE_CONTRACT_LOWERS_HPP

#include <type_traits>

#include <headrace/contract/diagnoses.hpp>
#include <headrace/contract/model_contract.hpp>

namespace headrace {

namespace detail {

template <class Pipeline>
struct lacks_lowering {
    template <class Op>
    static constexpr bool find() {
        if constexpr (op_tag<Op>) {
            return !Pipeline::supported.template contains<Op>();
        } else {
            return true;
        }
    }
    template <class Op>
    using of = std::bool_constant<find<Op>()>;
};

template <class Pipeline, class Op>
auto survivor_of() {
    if constexpr (requires { typename Pipeline::template last_pass_for<Op>; }) {
        return held<survives<Op, typename Pipeline::template last_pass_for<Op>>>{};
    } else {
        return held<survives<Op, no_pass>>{};
    }
}

template <class Pipeline>
held<no_fault> diagnose_lowering(ops<>);
template <class Pipeline, class A>
auto diagnose_lowering(ops<A>)
    -> held<pipeline_does_not_lower<Pipeline, typename decltype(survivor_of<Pipeline, A>())::type>>;
template <class Pipeline, class A, class B>
auto diagnose_lowering(ops<A, B>)
    -> held<pipeline_does_not_lower<Pipeline, typename decltype(survivor_of<Pipeline, A>())::type,
        typename decltype(survivor_of<Pipeline, B>())::type>>;
template <class Pipeline, class A, class B, class... More>
    requires(sizeof...(More) != 0)
auto diagnose_lowering(ops<A, B, More...>)
    -> held<pipeline_does_not_lower<Pipeline, typename decltype(survivor_of<Pipeline, A>())::type,
        typename decltype(survivor_of<Pipeline, B>())::type, and_more<sizeof...(More)>>>;

}  // namespace detail

/// The exported ops that a pipeline does not provably lower, as a list ops<...>.
template <class Pipeline, model_contract Model>
using ops_not_lowered = typename decltype(detail::filter_ops<detail::lacks_lowering<Pipeline>::template of>(
    typename Model::exported_ops{}))::type;

namespace detail {

template <class Pipeline, class Model>
constexpr auto lowering_verdict() {
    using diagnosis =
        typename decltype(diagnose_lowering<Pipeline>(ops_not_lowered<Pipeline, Model>{}))::type;
    return verdict<diagnosis, diagnosis>();
}
}  // namespace detail

/// `true` if a pipeline lowers every exported op of a model; else static_assert fails with one error that
/// names the ops, and for each the last pass that targets it.
template <class Pipeline, model_contract Model>
inline constexpr auto lowers = detail::lowering_verdict<Pipeline, Model>();

}  // namespace headrace

#endif
