// SPDX-License-Identifier: MIT
// What a static pipeline says of itself, turned round: not what each pass does, but what becomes of each op.
#ifndef HEADRACE_EXAMPLES_CLI_PIPELINE_VIEW_HPP
#define HEADRACE_EXAMPLES_CLI_PIPELINE_VIEW_HPP

#include <compare>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/pass/description.hpp>

namespace headrace::cli {

using op_names = std::pmr::vector<std::string_view>;

/// A pass that can find an op in the graph and has it among its targets.
struct meeting {
    std::size_t pass;
    bool removes;  ///< its handler for the op always rewrites it
    friend auto operator<=>(const meeting&, const meeting&) = default;
};

/// Ops that the same passes meet, and remove.
struct op_group {
    std::vector<meeting> met_by;
    op_names ops;
};

/// A pass on the way of an op: what it meets of what has become of the op, and what it may make of that.
struct flow_step {
    std::size_t pass;
    op_names met;
    op_names gone;
    op_names made;
};

/// Every op that can ever be in the graph, in the order in which they can appear.
[[nodiscard]] op_names ops_of(const pipeline_description& d);

/// The targets of a pass that can be in the graph when it runs.
[[nodiscard]] op_names met_by(const pass_description& p);
[[nodiscard]] std::vector<meeting> meetings_of(const pipeline_description& d, std::string_view op);
/// The ops of a pipeline, grouped, in the order of the first pass that meets them; those that none meets come
/// last.
[[nodiscard]] std::vector<op_group> groups_of(const pipeline_description& d);

/// What an op becomes, pass by pass, at the most: a pass that meets one op of it may emit all that it
/// produces. `left` is what of that leaves the pipeline.
[[nodiscard]] std::vector<flow_step> flow_of(const pipeline_description& d, std::string_view op,
                                             op_names& left);

/// What is in both, in the order of `a`.
[[nodiscard]] op_names common(const op_names& a, const op_names& b);
[[nodiscard]] op_names without(const op_names& a, const op_names& b);

/// The op or the pass that a user means: its name, of an op also without dialect or overload if that is
/// enough. Otherwise none, and `candidates` are what it could be.
[[nodiscard]] std::optional<std::string_view> find_op(const pipeline_description& d, std::string_view text,
                                                      op_names& candidates);
[[nodiscard]] bool has_pass(const pipeline_description& d, std::string_view name, op_names& candidates);

}  // namespace headrace::cli

#endif
