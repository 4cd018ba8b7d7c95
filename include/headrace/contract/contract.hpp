// SPDX-License-Identifier: MIT
// Defines headrace::lowers, fits and conforms, which check the contract of a model: what `headrace contract`
// knows of it, as types and constants.
#ifndef HEADRACE_CONTRACT_CONTRACT_HPP
#define HEADRACE_CONTRACT_CONTRACT_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include <headrace/base/fixed_string.hpp>
#include <headrace/base/target_spec.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/ir/tensor_meta.hpp>
#include <headrace/op/op.hpp>
#include <headrace/target/op_facts.hpp>
#include <headrace/target/tosa_rules.hpp>
#include <headrace/target/u55_rules.hpp>
#include <headrace/target/u85_rules.hpp>

namespace headrace {

/// An input or an output of a model. A scale of 0 means that its numbers are the user's own; another, that
/// they stand for (number - zero_point) * scale and lie in [lowest, highest].
struct contract_tensor {
    std::string_view name;
    headrace::dtype dtype;
    int_list shape;
    double scale = 0;
    std::int64_t zero_point = 0;
    std::int64_t lowest = 0;
    std::int64_t highest = 0;
};

/// An operator of a lowered model. Its operands and then its results are `uses[first]` and what follows,
/// which are positions among the contract's `tensors`.
struct contract_node {
    const op_info* op;
    std::string_view name;  ///< of the exported node that it descends from
    std::uint32_t first;
    std::uint16_t operand_count;
    std::uint16_t result_count;
    std::uint64_t constants;   ///< bit i: operand i is a constant
    std::uint16_t attributes;  ///< position among the contract's `attributes`
    std::uint32_t list_length = 0;
};

/// In an `exported_ops` list, an op of no dialect that Headrace knows.
template <fixed_string Name>
struct foreign_op {};

/// Matches contracts of models. `headrace contract` writes them; by hand, `inputs`, `outputs` and
/// `exported_ops` are enough for `lowers` and `conforms`.
template <class T>
concept model_contract = requires {
    typename T::exported_ops;
    T::inputs.size();
    T::outputs.size();
};

/// Matches those with a lowered part, which `fits` is about.
template <class T>
concept lowered_contract = model_contract<T> && requires {
    typename T::lowered_ops;
    T::nodes.size();
    T::peak_memory;
    T::flatbuffer_bytes;
};

/// A TOSA target at level 8K: `struct board : tosa_target<"TOSA-1.0+INT"> {};` What derives from it may add
/// budgets in bytes: `memory` for activations, `flash` for the flatbuffer; and limits of its own, as
/// ethos_u55 does.
template <fixed_string Spelling>
struct tosa_target {
private:
    static constexpr auto parsed = parse_target(Spelling.view());
    static_assert(parsed.has_value(),
                  "target: its spelling is not understood; write TOSA-1.0+INT or the like");

public:
    static constexpr target_spec target = parsed ? *parsed : target_spec{};
};

/// Arm's Ethos-U55, with the rules of target/u55_rules.hpp.
struct ethos_u55 : tosa_target<"TOSA-1.0+INT+int16+int4"> {
    [[nodiscard]] static constexpr u55_limit violated(const op_facts& f) { return u55::violated(f); }
};

/// Arm's Ethos-U85, with the rules of target/u85_rules.hpp.
struct ethos_u85 : tosa_target<"TOSA-1.0+INT+int16+int4+cf"> {
    [[nodiscard]] static constexpr u85_limit violated(const op_facts& f) { return u85::violated(f); }
};

/// What `lowers`, `fits` and `conforms` are if they do not hold: no bool, so that static_assert names it in
/// its one error, at the line that asks.
template <class Pipeline, class... Survivors>
struct pipeline_does_not_lower {};
template <class Target, class Diagnosis>
struct target_does_not_take_model {};
template <class Model>
struct contract_has_no_lowered_part {};
template <class Diagnosis>
struct model_is_not_accepted {};

/// What these name.
template <class Op, class LastPass>
struct survives;
struct no_pass;
template <std::size_t Count>
struct and_more {};

template <std::size_t Index, fixed_string Name>
struct at_node {};  ///< the operator at `nodes[Index]`, and the exported node that it descends from
template <std::size_t Count>
struct refused_nodes {};  ///< how many the target refuses
template <std::int64_t Size, std::int64_t Most>
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

// The ops of a list that are kept, in their order.
template <template <class> class Keep, class... Ops>
auto filter_ops(ops<Ops...>)
    -> decltype((held<ops<>>{} + ... + held<std::conditional_t<Keep<Ops>::value, ops<Ops>, ops<>>>{}));

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
requires(sizeof...(More) != 0) auto diagnose_lowering(ops<A, B, More...>) -> held<
    pipeline_does_not_lower<Pipeline, typename decltype(survivor_of<Pipeline, A>())::type,
                            typename decltype(survivor_of<Pipeline, B>())::type, and_more<sizeof...(More)>>>;

/// The facts of an operator of a contract.
template <class Model>
constexpr op_facts facts_at(std::size_t i) {
    const contract_node& n = Model::nodes[i];
    op_facts f;
    f.op = n.op;
    f.operand_count = n.operand_count;
    f.result_count = n.result_count;
    for (std::size_t k = 0; k != f.operand_count + f.result_count; ++k)
        f.tensors[k] = &Model::tensors[Model::uses[n.first + k]];
    f.constants = n.constants;
    f.list_length = n.list_length;
    f.attributes = Model::attributes[n.attributes];
    return f;
}

// By a target's own rules; by none if it has no such rules.
template <class Target>
constexpr auto own_limit(const op_facts& f) {
    if constexpr (requires { Target::violated(f); }) {
        return Target::violated(f);
    } else {
        return type_limit::none;
    }
}

template <class Target>
constexpr bool is_refused(const op_facts& f) {
    const auto own = own_limit<Target>(f);
    if (own != decltype(own_limit<Target>(f)){}) return true;
    return type_fault_of(f, Target::target).limit != type_limit::none || level_fault_of(f);
}

/// Which operators a target refuses: the first, and how many.
struct refusals {
    std::size_t first = static_cast<std::size_t>(-1);
    std::size_t count = 0;
};

// A part of the operators at a time: compilers bound the steps of one constant expression.
inline constexpr std::size_t nodes_at_once = 32;
template <class Target, class Model, std::size_t Chunk>
inline constexpr refusals refusals_in = [] {
    refusals found;
    constexpr std::size_t begin = Chunk * nodes_at_once;
    for (std::size_t i = begin; i != Model::nodes.size() && i != begin + nodes_at_once; ++i) {
        if (!is_refused<Target>(facts_at<Model>(i))) continue;
        if (found.count++ == 0) found.first = i;
    }
    return found;
}();
template <class Target, class Model, std::size_t... Chunks>
constexpr refusals refusals_of(std::index_sequence<Chunks...>) {
    refusals all;
    constexpr refusals found[] = {refusals_in<Target, Model, Chunks>..., refusals{}};
    for (const refusals& part : found) {
        if (all.count == 0) all.first = part.first;
        all.count += part.count;
    }
    return all;
}

// The feature that a target lacks of those that a row demands: an extension if one is missing, else a
// profile.
constexpr target_feature missing_feature(const tosa::legality_row& row, const target_spec& target) {
    for (const target_feature_name& n : target_feature_names) {
        if ((row.extensions & static_cast<std::uint16_t>(n.feature)) != 0 && !target.has(n.feature))
            return n.feature;
    }
    for (const target_feature_name& n : target_feature_names) {
        if ((row.profiles & static_cast<std::uint16_t>(n.feature)) != 0) return n.feature;
    }
    return target_feature::profile_int;
}

// Of a node's name, as much as belongs in an error.
template <class Model, std::size_t I>
inline constexpr std::size_t named_length = std::min<std::size_t>(Model::nodes[I].name.size(), 60);

template <class Target, class Model, std::size_t I, std::size_t Count>
auto diagnose_node() {
    constexpr op_facts f = facts_at<Model>(I);
    using op = typename type_at<f.op->index, tosa::dialect::all_ops>::type;
    using where = at_node<I, fixed_string<named_length<Model, I> + 1>(Model::nodes[I].name)>;
    using rest = refused_nodes<Count>;
    constexpr auto own = own_limit<Target>(f);
    constexpr type_fault types = type_fault_of(f, Target::target);
    constexpr level_fault level = level_fault_of(f);
    if constexpr (own != decltype(own_limit<Target>(f)){}) {
        return held<refused<op, own, where, rest>>{};
    } else if constexpr (types.limit == type_limit::profile) {
        constexpr target_feature missing = missing_feature(*types.row, Target::target);
        return held<refused<op, types.limit, where, lacks<missing>, rest>>{};
    } else if constexpr (types.limit != type_limit::none) {
        return held<refused<op, types.limit, where, rest>>{};
    } else {
        return held<refused<op, level.limit, where, above<level.size, level.most>, rest>>{};
    }
}

template <class Limits, class Model>
constexpr bool memory_is_short() {
    if constexpr (requires { Limits::memory; }) {
        return Model::peak_memory > static_cast<std::uint64_t>(Limits::memory);
    } else {
        return false;
    }
}
template <class Limits, class Model>
constexpr bool flash_is_short() {
    if constexpr (requires { Limits::flash; }) {
        return Model::flatbuffer_bytes > static_cast<std::uint64_t>(Limits::flash);
    } else {
        return false;
    }
}
template <class Limits, class Model>
auto diagnose_budgets() {
    if constexpr (memory_is_short<Limits, Model>()) {
        return held<
            over_budget<budget::memory, needs_bytes<Model::peak_memory>, has_bytes<Limits::memory>>>{};
    } else if constexpr (flash_is_short<Limits, Model>()) {
        return held<
            over_budget<budget::flash, needs_bytes<Model::flatbuffer_bytes>, has_bytes<Limits::flash>>>{};
    } else {
        return held<no_fault>{};
    }
}

template <class Target, class Model>
auto diagnose_fit() {
    constexpr std::size_t chunks = (Model::nodes.size() + nodes_at_once - 1) / nodes_at_once;
    constexpr refusals found = refusals_of<Target, Model>(std::make_index_sequence<chunks>{});
    if constexpr (found.count != 0) {
        return diagnose_node<Target, Model, found.first, found.count>();
    } else {
        return diagnose_budgets<Target, Model>();
    }
}

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
concept limits_lowered_part = requires {
    typename Accepted::lowered_ops;
}
|| requires { Accepted::memory; }
|| requires { Accepted::flash; };

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
            return diagnose_budgets<Accepted, Model>();
        }
    }
}

}  // namespace detail

/// The exported ops, a list ops<...>, that a pipeline does not provably lower.
template <class Pipeline, model_contract Model>
using ops_not_lowered = typename decltype(detail::filter_ops<detail::lacks_lowering<Pipeline>::template of>(
    typename Model::exported_ops{}))::type;

/// The diagnosis that `fits` fails with, or no_fault: for who wants to decide, not to fail.
template <class Target, lowered_contract Model>
using misfit = typename decltype(detail::diagnose_fit<Target, Model>())::type;

/// The diagnosis that `conforms` fails with, or no_fault.
template <class Model, class Accepted>
using difference_from = typename decltype(detail::diagnose_acceptance<Model, Accepted>())::type;

namespace detail {

template <class Diagnosis, class Verdict>
constexpr auto verdict() {
    if constexpr (__is_same(Diagnosis, no_fault)) {
        return true;
    } else {
        return Verdict{};
    }
}

template <class Pipeline, class Model>
constexpr auto lowering_verdict() {
    using diagnosis =
        typename decltype(diagnose_lowering<Pipeline>(ops_not_lowered<Pipeline, Model>{}))::type;
    return verdict<diagnosis, diagnosis>();
}
template <class Target, class Model>
constexpr auto fitting_verdict() {
    if constexpr (lowered_contract<Model>) {
        return verdict<misfit<Target, Model>, target_does_not_take_model<Target, misfit<Target, Model>>>();
    } else {
        return contract_has_no_lowered_part<Model>{};
    }
}
template <class Model, class Accepted>
constexpr auto acceptance_verdict() {
    return verdict<difference_from<Model, Accepted>,
                   model_is_not_accepted<difference_from<Model, Accepted>>>();
}

}  // namespace detail

/// Does a pipeline lower every exported op of a model? If so this is `true`. If not, static_assert fails with
/// one error that names the ops, and of each the last pass that targets it.
template <class Pipeline, model_contract Model>
inline constexpr auto lowers = detail::lowering_verdict<Pipeline, Model>();

/// Does a target take every operator of a lowered model, and has it the memory? If so this is `true`. If not,
/// static_assert fails with one error that names the first operator, its position in `nodes`, the limit, and
/// how many are refused; or the budget.
template <class Target, model_contract Model>
inline constexpr auto fits = detail::fitting_verdict<Target, Model>();

/// Has a model the inputs and outputs of another contract, no other operators, and does it keep to its
/// budgets? If so this is `true`; if not, static_assert fails with one error. Names are not compared;
/// quantization is where the accepted tensor's scale is not 0, operators and budgets where the accepted
/// contract has `lowered_ops`, `memory`, `flash`.
template <class Model, class Accepted>
inline constexpr auto conforms = detail::acceptance_verdict<Model, Accepted>();

}  // namespace headrace

#endif
