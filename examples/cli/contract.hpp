// SPDX-License-Identifier: MIT
// A model's contract as a C++ header.
#ifndef HEADRACE_EXAMPLES_CLI_CONTRACT_HPP
#define HEADRACE_EXAMPLES_CLI_CONTRACT_HPP

#include <set>
#include <string>
#include <string_view>

#include <headrace/base/error.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::cli {

/// The ops of a graph as the contract's `exported_ops` spells them, and the headers that define them.
struct exported_ops {
    std::set<std::string> types;
    std::set<std::string> headers;
};
[[nodiscard]] exported_ops exported_ops_of(graph& g);

struct contract_source {
    std::string_view name;       ///< of the struct
    std::string_view file_name;  ///< of the model, for the first line
    const exported_ops& exported;
    graph& model;
    std::size_t user_outputs;            ///< the first of the model's outputs
    bool lowered = false;                ///< is `model` TOSA
    std::uint64_t flatbuffer_bytes = 0;  ///< of a lowered model
};

/// Fails where the model has what no C++ constant can hold.
[[nodiscard]] result<std::string> contract_text(const contract_source& source);

/// Can a struct have that name in any program?
[[nodiscard]] bool is_identifier(std::string_view name);

/// A name for the contract of the model in that file: its own, or that of its directory if it is `model`.
[[nodiscard]] std::string contract_name(const std::string& model);

}  // namespace headrace::cli

#endif
