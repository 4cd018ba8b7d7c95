// SPDX-License-Identifier: MIT
// Defines headrace::model_contract, the members of a model's contract, and headrace::tosa_target, what it is
// checked against.
#ifndef HEADRACE_CONTRACT_MODEL_CONTRACT_HPP
#define HEADRACE_CONTRACT_MODEL_CONTRACT_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <headrace/base/fixed_string.hpp>
#include <headrace/base/target_spec.hpp>
#include <headrace/ir/tensor_meta.hpp>
#include <headrace/op/op.hpp>
#include <headrace/target/op_facts.hpp>
#include <headrace/target/u55_rules.hpp>
#include <headrace/target/u85_rules.hpp>

namespace headrace {

/// An input or an output of a model. With a scale of 0 it is not quantized; otherwise its numbers are in
/// [lowest, highest] and mean (number - zero_point) * scale.
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

/// Matches those with a lowered part, which `fits` compares with a tosa_target.
template <class T>
concept lowered_contract = model_contract<T> && requires {
    typename T::lowered_ops;
    T::nodes.size();
    T::peak_memory;
    T::flatbuffer_bytes;
};

/// Matches those with the figures of a C++ type on a core, which `fits` compares with a core_target.
template <class T>
concept core_contract = model_contract<T> && requires {
    T::on_device::core;
    T::on_device::arena_bytes;
    T::on_device::state_bytes;
    T::on_device::constant_bytes;
};

/// A TOSA target at level 8K: `struct board : tosa_target<"TOSA-1.0+INT"> {};` A struct derived from it may
/// add budgets in bytes, `memory` for activations and `flash` for the flatbuffer, and limits of its own, as
/// ethos_u55 does.
template <fixed_string Spelling>
struct tosa_target {
private:
    static constexpr auto parsed = parse_target(Spelling.view());
    static_assert(parsed.has_value(), "target: this is not a target; write one such as TOSA-1.0+INT");

public:
    static constexpr target_spec target = parsed ? *parsed : target_spec{};
};

/// A microcontroller that executes the C++ type which `headrace lower -o NAME.hpp --core` writes: `struct
/// board : core_target<"cortex-m4"> {};`. A struct derived from it may add budgets in bytes: `memory` for the
/// arena and the states, and the stack where the contract has it, and `flash` for the constants, and the code
/// where the contract has it.
template <fixed_string Core>
struct core_target {
    static constexpr std::string_view core = Core.view();
};

/// Arm's Ethos-U55, with the rules of target/u55_rules.hpp.
struct ethos_u55 : tosa_target<"TOSA-1.0+INT+int16+int4"> {
    [[nodiscard]] static constexpr u55_limit violated(const op_facts& f) { return u55::violated(f); }
};

/// Arm's Ethos-U85, with the rules of target/u85_rules.hpp.
struct ethos_u85 : tosa_target<"TOSA-1.0+INT+int16+int4+cf"> {
    [[nodiscard]] static constexpr u85_limit violated(const op_facts& f) { return u85::violated(f); }
};

}  // namespace headrace

#endif
