// SPDX-License-Identifier: MIT
// Defines headrace::fits: does a target take every operator of a lowered model?
#ifndef HEADRACE_CONTRACT_FITS_HPP
#define HEADRACE_CONTRACT_FITS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include <headrace/contract/banks.hpp>
#include <headrace/contract/diagnoses.hpp>
#include <headrace/contract/model_contract.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/target/tosa_rules.hpp>

namespace headrace {

namespace detail {

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

// Returns a feature that a row demands and the target lacks: an extension if one is missing, else a profile.
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

// The part of a node's name that an error shows.
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
        return held<refused<op, level.limit, where, above<level.size, level.max>, rest>>{};
    }
}

/// Bytes that a model needs of a budget: as operators of TOSA, and as a C++ type on a core.
template <class Model>
struct tosa_needs {
    static constexpr std::uint64_t memory = Model::peak_memory, flash = Model::flatbuffer_bytes;
    static constexpr std::uint64_t arena = memory, state = 0, stack = 0, constants = flash;
};
template <class Figures>
struct core_needs {
    static constexpr std::uint64_t arena = Figures::arena_bytes, state = Figures::state_bytes;
    static constexpr std::uint64_t constants = Figures::constant_bytes;
    static constexpr std::uint64_t stack = [] {
        if constexpr (requires { Figures::stack_bytes; }) {
            return static_cast<std::uint64_t>(Figures::stack_bytes);
        } else {
            return std::uint64_t{0};
        }
    }();
    static constexpr std::uint64_t memory = [] {
        std::uint64_t bytes = Figures::arena_bytes + Figures::state_bytes;
        if constexpr (requires { Figures::stack_bytes; }) bytes += Figures::stack_bytes;
        return bytes;
    }();
    static constexpr std::uint64_t flash = [] {
        std::uint64_t bytes = Figures::constant_bytes;
        if constexpr (requires { Figures::code_bytes; }) bytes += Figures::code_bytes;
        return bytes;
    }();
};

template <class Limits, class Needs>
constexpr bool memory_is_short() {
    if constexpr (requires { Limits::memory; }) {
        return Needs::memory > static_cast<std::uint64_t>(Limits::memory);
    } else {
        return false;
    }
}
template <class Limits, class Needs>
constexpr bool flash_is_short() {
    if constexpr (requires { Limits::flash; }) {
        return Needs::flash > static_cast<std::uint64_t>(Limits::flash);
    } else {
        return false;
    }
}
template <class Limits, class Needs>
auto diagnose_budgets() {
    if constexpr (memory_is_short<Limits, Needs>()) {
        return held<over_budget<budget::memory, needs_bytes<Needs::memory>, has_bytes<Limits::memory>>>{};
    } else if constexpr (flash_is_short<Limits, Needs>()) {
        return held<over_budget<budget::flash, needs_bytes<Needs::flash>, has_bytes<Limits::flash>>>{};
    } else if constexpr (requires { typename Limits::memory_map; }) {
        return diagnose_banks<typename Limits::memory_map, Needs>();
    } else {
        return held<no_fault>{};
    }
}

template <class Target>
concept has_core = requires { Target::core; };

// The C++ type has a kernel for each operator: only the core and the budgets are left to ask.
template <class Target, class Model>
auto diagnose_core() {
    constexpr std::string_view mine = Target::core, its = Model::on_device::core;
    if constexpr (mine != its) {
        return held<differs_in_core<has_figures_of<fixed_string<its.size() + 1>(its)>,
            board_has<fixed_string<mine.size() + 1>(mine)>>>{};
    } else {
        return diagnose_budgets<Target, core_needs<typename Model::on_device>>();
    }
}

template <class Target, class Model>
auto diagnose_fit() {
    constexpr std::size_t chunks = (Model::nodes.size() + nodes_at_once - 1) / nodes_at_once;
    constexpr refusals found = refusals_of<Target, Model>(std::make_index_sequence<chunks>{});
    if constexpr (found.count != 0) {
        return diagnose_node<Target, Model, found.first, found.count>();
    } else {
        return diagnose_budgets<Target, tosa_needs<Model>>();
    }
}

}  // namespace detail

namespace detail {

template <class Target, class Model>
auto diagnose() {
    if constexpr (is_banks<Target> && core_contract<Model>) {
        return diagnose_banks<Target, core_needs<typename Model::on_device>>();
    } else if constexpr (is_banks<Target>) {
        return diagnose_banks<Target, tosa_needs<Model>>();
    } else if constexpr (has_core<Target>) {
        return diagnose_core<Target, Model>();
    } else {
        return diagnose_fit<Target, Model>();
    }
}

template <class Target, class Model>
inline constexpr bool can_be_asked = is_banks<Target> ? core_contract<Model> || lowered_contract<Model>
    : has_core<Target>                                ? core_contract<Model>
                                                      : lowered_contract<Model>;

}  // namespace detail

/// The diagnosis that `fits` fails with, or no_fault: to decide by instead of failing.
template <class Target, model_contract Model>
    requires detail::can_be_asked<Target, Model>
using misfit = typename decltype(detail::diagnose<Target, Model>())::type;

namespace detail {

template <class Target, class Model>
constexpr auto fitting_verdict() {
    if constexpr (can_be_asked<Target, Model>) {
        return verdict<misfit<Target, Model>, target_does_not_take_model<Target, misfit<Target, Model>>>();
    } else if constexpr (has_core<Target>) {
        return contract_has_no_core<Model>{};
    } else {
        return contract_has_no_lowered_part<Model>{};
    }
}
}  // namespace detail

/// True if a target takes every operator of a lowered model and has the memory for it. If not,
/// static_assert fails with one error that names the first operator, its position in `nodes`, the limit, and
/// how many are refused; or the budget. Figures are those of the contract's lowered part; for
/// a core_target, those of the C++ type on that core.
///
/// A target may describe its banks of memory, `using memory_map = banks<bank<"dtcm", 64_KiB,
/// memory_use::arena>, …>`, or be such a list itself, which asks for the memory alone: of the C++ type if the
/// contract has it.
template <class Target, model_contract Model>
inline constexpr auto fits = detail::fitting_verdict<Target, Model>();

}  // namespace headrace

#endif
