// SPDX-License-Identifier: MIT
// Defines headrace::conforms, which checks whether a model can replace another.
#ifndef HEADRACE_CONTRACT_CONFORMS_HPP
#define HEADRACE_CONTRACT_CONFORMS_HPP

#include <cstddef>
#include <type_traits>

#include <headrace/contract/diagnoses.hpp>
#include <headrace/contract/fits.hpp>
#include <headrace/contract/model_contract.hpp>

namespace headrace {

namespace detail {

struct first_difference {
    std::size_t index = 0;
    tensor_part in = tensor_part::dtype;
    bool found = false;
};
template <class Given, class Accepted>
constexpr first_difference difference_between(const Given& given, const Accepted& accepted) {
    for (std::size_t i = 0; i != accepted.size() && i != given.size(); ++i) {
        const contract_tensor& g = given[i];
        const contract_tensor& a = accepted[i];
        if (g.dtype != a.dtype) return {i, tensor_part::dtype, true};
        if (g.shape.size() != a.shape.size()) return {i, tensor_part::rank, true};
        if (g.shape != a.shape) return {i, tensor_part::shape, true};
        if (a.scale != 0 && (g.scale != a.scale || g.zero_point != a.zero_point))
            return {i, tensor_part::quantization, true};
    }
    return {};
}

template <class Accepted>
struct lacks_acceptance {
    template <class Op, class... Ops>
    static constexpr bool is_missing(ops<Ops...>) {
        return !(__is_same(Op, Ops) || ...);
    }
    template <class Op>
    using of = std::bool_constant<is_missing<Op>(typename Accepted::lowered_ops{})>;
};
template <class Accepted, class Model>
auto strange_ops() {
    if constexpr (requires { typename Accepted::lowered_ops; }) {
        return decltype(filter_ops<lacks_acceptance<Accepted>::template of>(typename Model::lowered_ops{})){};
    } else {
        return held<ops<>>{};
    }
}
template <class... Ops>
held<not_accepted<Ops...>> diagnose_ops(ops<Ops...>);

template <class Accepted>
concept limits_lowered_part = requires { typename Accepted::lowered_ops; } ||
    requires { Accepted::memory; } || requires { Accepted::flash; };

template <class Model, class Accepted>
auto diagnose_acceptance() {
    constexpr first_difference input = difference_between(Model::inputs, Accepted::inputs);
    constexpr first_difference output = difference_between(Model::outputs, Accepted::outputs);
    if constexpr (Model::inputs.size() != Accepted::inputs.size()) {
        return held<
            differs_in_number<contract_part::inputs, Model::inputs.size(), Accepted::inputs.size()>>{};
    } else if constexpr (Model::outputs.size() != Accepted::outputs.size()) {
        return held<
            differs_in_number<contract_part::outputs, Model::outputs.size(), Accepted::outputs.size()>>{};
    } else if constexpr (input.found) {
        return held<differs<contract_part::inputs, input.index, input.in>>{};
    } else if constexpr (output.found) {
        return held<differs<contract_part::outputs, output.index, output.in>>{};
    } else if constexpr (!limits_lowered_part<Accepted>) {
        return held<no_fault>{};
    } else if constexpr (!lowered_contract<Model>) {
        return held<contract_has_no_lowered_part<Model>>{};
    } else {
        using strange = typename decltype(strange_ops<Accepted, Model>())::type;
        if constexpr (strange::size != 0) {
            return decltype(diagnose_ops(strange{})){};
        } else {
            return diagnose_budgets<Accepted, tosa_needs<Model>>();
        }
    }
}

}  // namespace detail

/// The diagnosis with which `conforms` fails, or no_fault.
template <class Model, class Accepted>
using difference_from = typename decltype(detail::diagnose_acceptance<Model, Accepted>())::type;

namespace detail {

template <class Model, class Accepted>
constexpr auto acceptance_verdict() {
    return verdict<difference_from<Model, Accepted>,
        model_is_not_accepted<difference_from<Model, Accepted>>>();
}

}  // namespace detail

/// `true` if a model has the inputs and outputs of another contract, no other operators, and keeps within the
/// contract's budgets; else static_assert fails with one error. Names are not compared. Quantization is
/// compared if the accepted tensor's scale is not 0; operators and each budget are compared only if the
/// accepted contract has `lowered_ops`, `memory` or `flash`.
template <class Model, class Accepted>
inline constexpr auto conforms = detail::acceptance_verdict<Model, Accepted>();

}  // namespace headrace

#endif
