// SPDX-License-Identifier: MIT
// Defines the types that the errors of headrace::lowers, headrace::fits and headrace::conforms name.
#ifndef HEADRACE_CONTRACT_DIAGNOSES_HPP
#define HEADRACE_CONTRACT_DIAGNOSES_HPP

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <headrace/base/fixed_string.hpp>
#include <headrace/base/memory_use.hpp>
#include <headrace/base/target_spec.hpp>
#include <headrace/op/op.hpp>

namespace headrace {

/// The values of `lowers`, `fits` and `conforms` when the check fails. They are types other than bool, so
/// that the single error of static_assert, at the line of the check, names them.
template <class Pipeline, class... Survivors>
struct pipeline_does_not_lower {};
template <class Target, class Diagnosis>
struct target_does_not_take_model {};
template <class Model>
struct contract_has_no_lowered_part {};
template <class Model>
struct contract_has_no_core {};  ///< `headrace contract --core` writes one that has
template <class Diagnosis>
struct model_is_not_accepted {};

/// The parts of a diagnosis.
template <class Op, class LastPass, class... Origin>
struct survives;
struct no_pass;
template <std::size_t Count>
struct and_more {};

template <std::size_t Index, fixed_string Name>
struct at_node {};  ///< the operator at `nodes[Index]`, and the exported node that it comes from
template <std::size_t Count>
struct refused_nodes {};  ///< how many operators the target refuses
template <std::int64_t Size, std::int64_t Max>
struct above {};
template <target_feature Feature>
struct lacks {};
template <class Op, auto Limit, class Node, class... Details>
struct refused {};

enum class budget : std::uint8_t { memory, flash };
template <std::uint64_t Bytes>
struct needs_bytes {};
template <std::uint64_t Bytes>
struct has_bytes {};
template <budget Budget, class Needed, class Available>
struct over_budget {};

/// The largest bank that may hold the bytes of a use is too small for them, or all banks together are.
template <fixed_string Bank, memory_use Use, class Needed, class Available>
struct bank_too_small {};
template <memory_use Use>
struct no_bank_holds {};
template <class Needed, class Available>
struct banks_too_small {};

template <fixed_string Core>
struct has_figures_of {};
template <fixed_string Core>
struct board_has {};
template <class Contract, class Board>
struct differs_in_core {};

enum class contract_part : std::uint8_t { inputs, outputs };
enum class tensor_part : std::uint8_t { dtype, rank, shape, quantization };
template <contract_part Part, std::size_t Given, std::size_t Accepted>
struct differs_in_number {};
template <contract_part Part, std::size_t Index, tensor_part In>
struct differs {};
template <class... Ops>
struct not_accepted {};

namespace detail {

template <class Diagnosis>
using held = std::type_identity<Diagnosis>;

template <class... A, class... B>
held<ops<A..., B...>> operator+(held<ops<A...>>, held<ops<B...>>);

// Keeps the ops of a list for which `Keep` is true, in order.
template <template <class> class Keep, class... Ops>
auto filter_ops(ops<Ops...>)
    -> decltype((held<ops<>>{} + ... + held<std::conditional_t<Keep<Ops>::value, ops<Ops>, ops<>>>{}));

template <class Diagnosis, class Verdict>
constexpr auto verdict() {
    if constexpr (__is_same(Diagnosis, no_fault)) {
        return true;
    } else {
        return Verdict{};
    }
}

}  // namespace detail

}  // namespace headrace

#endif
