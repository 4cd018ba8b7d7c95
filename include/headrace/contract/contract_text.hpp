// SPDX-License-Identifier: MIT
// Defines headrace::contract_text, which writes the contract of a model as a C++ header.
#ifndef HEADRACE_CONTRACT_CONTRACT_TEXT_HPP
#define HEADRACE_CONTRACT_CONTRACT_TEXT_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <headrace/base/result.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// The ops of a graph as a contract's `exported_ops` spells them, and the headers that define them.
struct exported_ops {
    std::set<std::string> types{};
    std::set<std::string> headers{};
};

/// The ops of a graph and of the graphs nested in it, in alphabetical order.
[[nodiscard]] exported_ops exported_ops_of(graph& g);

/// The memory that the C++ type of a model needs on a core, in bytes. Code and stack depend on the compiler:
/// they are known only if they were measured.
struct core_figures {
    std::string core;
    std::uint64_t arena_bytes = 0;
    std::uint64_t arena_lower_bound = 0;  ///< what no plan goes below
    std::uint64_t state_bytes = 0;        ///< in the model beside the arena
    std::uint64_t constant_bytes = 0;
    std::optional<std::uint64_t> code_bytes{};
    std::optional<std::uint64_t> stack_bytes{};
    std::optional<std::uint64_t> instructions{};  ///< of one inference
};

/// Whether the integers of a lowered model are proven not to overflow, as `headrace prove` says.
struct certificate_figures {
    bool no_overflow = false;
    bool needs_valid_indices = false;        ///< the proof is for inputs whose indices are valid
    std::uint64_t accumulator_bits = 0;      ///< without the sign, of the largest sum
    std::uint64_t accumulator_capacity = 0;  ///< of its type
};

/// The model that a contract is written from.
struct contract_source {
    std::string_view name;       ///< of the struct: an identifier
    std::string_view file_name;  ///< of the model, for the first line
    const exported_ops& exported;
    graph& model;
    std::size_t user_outputs;            ///< how many of the model's outputs, from the first, are the user's
    bool lowered = false;                ///< is `model` TOSA
    std::uint64_t flatbuffer_bytes = 0;  ///< of a lowered model
    const core_figures* on_device = nullptr;
    const certificate_figures* certificate = nullptr;  ///< of a lowered model
};

/// The header that `headrace contract` writes. An error where the model has what no C++ constant can hold.
[[nodiscard]] result<std::string> contract_text(const contract_source& source);

/// A name for the contract of the model in that file: the file's own, or its folder's if that is `model`.
[[nodiscard]] std::string contract_name(const std::string& model);

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/contract/contract_text_definition.hpp>
#endif

#endif
