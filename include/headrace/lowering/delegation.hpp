// SPDX-License-Identifier: MIT
// Defines headrace::delegate_to_tosa: methods, or what can be lowered of them, as TOSA delegates.
#ifndef HEADRACE_LOWERING_DELEGATION_HPP
#define HEADRACE_LOWERING_DELEGATION_HPP

#include <functional>
#include <map>
#include <optional>
#include <string>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/result.hpp>
#include <headrace/base/target_spec.hpp>
#include <headrace/lowering/lowering_observer.hpp>
#include <headrace/lowering/method_report.hpp>
#include <headrace/partition/backend.hpp>
#include <headrace/pass/pass_context.hpp>

namespace headrace {

struct delegation_options {
    std::optional<target_spec> target{};  ///< none: for each method, what it is lowered to alone
    bool partition = false;        ///< what cannot be lowered stays in a host graph; if not, it is refused
    lowering_observer observer{};  ///< of the delegates
    /// With partition: asked of each node that the pipeline has passes for; one that it denies stays on the
    /// host. None: all may be delegated.
    std::function<bool(const node&)> may_delegate{};
};

struct delegated_methods {
    lowered_methods lowered;  ///< its host graphs are those that were given
    std::map<std::string, method_report, std::less<>> reports{};
    pmr_vector<diagnostic> refusals{};  ///< nodes that cannot be lowered: then nothing is
};

// delegation_definition.hpp defines this function: include it in exactly one translation unit of a program,
// as well as standard_pipeline_definition.hpp, execution_definition.hpp and lower_definition.hpp.

/// Lowers methods, by name, to delegates of the backend "tosa" (io/tosa_backend.hpp), which share constants.
/// The graphs are changed: they become what calls the delegates.
[[nodiscard]] result<delegated_methods> delegate_to_tosa(
    const std::map<std::string, graph*, std::less<>>& methods, const delegation_options& options = {});

/// The step in which a host graph got its calls of delegates, for who watches it.
[[nodiscard]] inline pass_record delegation_record(std::size_t delegates) {
    return {.name = "delegate_to_tosa", .status = pass_status::ran, .nodes = {.rewritten = delegates}};
}

}  // namespace headrace

#endif
