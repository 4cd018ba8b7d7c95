// SPDX-License-Identifier: MIT
// Declares headrace::delegate_to_tosa, which lowers methods, or the parts that can be lowered, to TOSA
// delegates.
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
#include <headrace/partition/to_backend.hpp>
#include <headrace/rewrite/pass_context.hpp>

namespace headrace {

struct delegation_options {
    std::optional<target_spec> target{};  ///< none: as for each method alone
    bool partition = false;        ///< nodes that cannot be lowered stay in a host graph, or are refused
    lowering_observer observer{};  ///< observes the delegates
    /// With partition: called for each node that the pipeline can lower; a node for which it returns false
    /// stays on the host. Empty: all may be delegated.
    std::function<bool(const node&)> may_delegate{};
};

struct delegated_methods {
    lowered_methods lowered;  ///< its host graphs are the given ones
    std::map<std::string, method_report, std::less<>> reports{};
    pmr_vector<diagnostic> refusals{};  ///< nodes that cannot be lowered; if any, nothing is
};

/// Lowers methods, by name, to delegates of the backend "tosa" (io/tosa/backend.hpp), which share constants.
/// The given graphs are rewritten to call the delegates.
[[nodiscard]] result<delegated_methods> delegate_to_tosa(
    const std::map<std::string, graph*, std::less<>>& methods, const delegation_options& options = {});

/// Returns the stage that observers see once the host graph calls its delegates.
[[nodiscard]] inline pass_record delegation_record(std::size_t delegates) {
    return {.name = "delegate_to_tosa", .status = pass_status::ran, .nodes = {.rewritten = delegates}};
}

}  // namespace headrace

#endif
