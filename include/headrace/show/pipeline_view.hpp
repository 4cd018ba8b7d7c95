// SPDX-License-Identifier: MIT
// Declares headrace::flow_of, headrace::groups_of and others, which view a static pipeline op by op: a
// pipeline_description says what each pass does; these say what happens to each op.
#ifndef HEADRACE_SHOW_PIPELINE_VIEW_HPP
#define HEADRACE_SHOW_PIPELINE_VIEW_HPP

#include <compare>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/pass/description.hpp>

namespace headrace {

using op_name_list = pmr_vector<std::string_view>;

/// A pass that can find an op in the graph and has it among its targets.
struct meeting {
    std::size_t pass;
    bool removes;  ///< its handler for the op always rewrites it
    friend auto operator<=>(const meeting&, const meeting&) = default;
};

/// Ops that the same passes meet and remove.
struct op_group {
    std::vector<meeting> met_by;
    op_name_list ops;
};

/// A pass on an op's way: which of the ops that it has become the pass meets, removes and may emit.
struct flow_step {
    std::size_t pass;
    op_name_list met;
    op_name_list gone;
    op_name_list made;
};

/// Returns the ops in both lists, in the order of `a`.
[[nodiscard]] op_name_list ops_in_both(const op_name_list& a, const op_name_list& b);

/// Returns the ops in `a` that are not in `b`, in the order of `a`.
[[nodiscard]] op_name_list ops_without(const op_name_list& a, const op_name_list& b);

/// Returns every op that can ever be in the graph, in the order in which they can appear.
[[nodiscard]] op_name_list ops_of(const pipeline_description& d);

/// Returns the targets of a pass that can be in the graph when it runs.
[[nodiscard]] inline op_name_list met_by(const pass_description& p) {
    return ops_in_both(p.targets, p.before);
}

/// Returns the passes that can meet an op, in order.
[[nodiscard]] std::vector<meeting> meetings_of(const pipeline_description& d, std::string_view op);

/// Returns the ops of a pipeline in groups, in the order of the first pass that meets them; ops that no pass
/// meets are last.
[[nodiscard]] std::vector<op_group> groups_of(const pipeline_description& d);

/// Returns what an op can become, pass by pass: a pass that meets one op of it may emit everything that it
/// produces. `left` receives the ops that can remain at the end.
[[nodiscard]] std::vector<flow_step> flow_of(
    const pipeline_description& d, std::string_view op, op_name_list& left);

/// Returns max.dim for aten.max.dim.
[[nodiscard]] inline std::string_view in_dialect(std::string_view op) { return op.substr(op.find('.') + 1); }
/// Returns aten.max for aten.max.dim.
[[nodiscard]] inline std::string_view without_overload(std::string_view op) {
    return op.substr(0, op.rfind('.'));
}

/// Returns the op that a user's text names; dialect and overload may be left out if it is unambiguous.
/// Otherwise returns none, and `candidates` are the possible ops.
[[nodiscard]] std::optional<std::string_view> find_op(
    const pipeline_description& d, std::string_view text, op_name_list& candidates);

/// True if there is a pass of that name. Otherwise `candidates` are the passes whose names contain it.
[[nodiscard]] bool has_pass(const pipeline_description& d, std::string_view name, op_name_list& candidates);

}  // namespace headrace

#endif
