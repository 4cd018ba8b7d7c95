// SPDX-License-Identifier: MIT
// Defines headrace::flow_of, headrace::groups_of and others, which view a static pipeline op by op: a
// pipeline_description says what each pass does; these say what happens to each op.
#ifndef HEADRACE_SHOW_PIPELINE_VIEW_HPP
#define HEADRACE_SHOW_PIPELINE_VIEW_HPP

#include <algorithm>
#include <compare>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
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

namespace detail {

using name_set = std::unordered_set<std::string_view>;

[[nodiscard]] inline name_set set_of_names(const op_name_list& names) { return {names.begin(), names.end()}; }

[[nodiscard]] inline bool is_among(std::string_view name, const op_name_list& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

// For aten.max.dim, these return max.dim and aten.max.
[[nodiscard]] inline std::string_view in_dialect(std::string_view op) { return op.substr(op.find('.') + 1); }
[[nodiscard]] inline std::string_view without_overload(std::string_view op) {
    return op.substr(0, op.rfind('.'));
}

}  // namespace detail

/// Returns the ops in both lists, in the order of `a`.
[[nodiscard]] inline op_name_list ops_in_both(const op_name_list& a, const op_name_list& b) {
    const detail::name_set other = detail::set_of_names(b);
    op_name_list both;
    for (const std::string_view name : a) {
        if (other.contains(name)) both.push_back(name);
    }
    return both;
}

/// Returns the ops in `a` that are not in `b`, in the order of `a`.
[[nodiscard]] inline op_name_list ops_without(const op_name_list& a, const op_name_list& b) {
    const detail::name_set other = detail::set_of_names(b);
    op_name_list rest;
    for (const std::string_view name : a) {
        if (!other.contains(name)) rest.push_back(name);
    }
    return rest;
}

/// Returns every op that can ever be in the graph, in the order in which they can appear.
[[nodiscard]] inline op_name_list ops_of(const pipeline_description& d) {
    detail::name_set known;
    op_name_list all;
    const auto add = [&](const op_name_list& names) {
        for (const std::string_view name : names) {
            if (known.insert(name).second) all.push_back(name);
        }
    };
    for (const pass_description& p : d.passes) add(p.before);
    add(d.result);
    return all;
}

/// Returns the targets of a pass that can be in the graph when it runs.
[[nodiscard]] inline op_name_list met_by(const pass_description& p) {
    return ops_in_both(p.targets, p.before);
}

/// Returns the passes that can meet an op, in order.
[[nodiscard]] inline std::vector<meeting> meetings_of(const pipeline_description& d, std::string_view op) {
    std::vector<meeting> found;
    for (std::size_t i = 0; i != d.passes.size(); ++i) {
        const pass_description& p = d.passes[i];
        if (detail::is_among(op, p.targets) && detail::is_among(op, p.before))
            found.push_back({i, detail::is_among(op, p.removes)});
    }
    return found;
}

/// Returns the ops of a pipeline in groups, in the order of the first pass that meets them; ops that no pass
/// meets are last.
[[nodiscard]] inline std::vector<op_group> groups_of(const pipeline_description& d) {
    std::map<std::string_view, std::vector<meeting>> met;
    for (std::size_t i = 0; i != d.passes.size(); ++i) {
        const detail::name_set removed = detail::set_of_names(d.passes[i].removes);
        for (const std::string_view op : met_by(d.passes[i])) met[op].push_back({i, removed.contains(op)});
    }
    std::map<std::vector<meeting>, op_name_list> grouped;
    for (const std::string_view op : ops_of(d)) grouped[met[op]].push_back(op);
    std::vector<op_group> groups;
    for (auto& [passes, ops] : grouped) groups.push_back({passes, std::move(ops)});
    // The map has the group that no pass meets first.
    if (!groups.empty() && groups[0].met_by.empty())
        std::rotate(groups.begin(), groups.begin() + 1, groups.end());
    return groups;
}

/// Returns what an op can become, pass by pass: a pass that meets one op of it may emit everything that it
/// produces. `left` receives the ops that can remain at the end.
[[nodiscard]] inline std::vector<flow_step> flow_of(
    const pipeline_description& d, std::string_view op, op_name_list& left) {
    std::vector<flow_step> steps;
    op_name_list now{op};
    for (std::size_t i = 0; i != d.passes.size(); ++i) {
        const pass_description& p = d.passes[i];
        const op_name_list met = ops_in_both(now, p.targets);
        if (met.empty()) continue;
        const op_name_list gone = ops_in_both(met, p.removes);
        now = ops_without(now, p.removes);
        const op_name_list made = ops_without(p.produces, now);
        now.insert(now.end(), made.begin(), made.end());
        steps.push_back({i, met, gone, made});
    }
    left = std::move(now);
    return steps;
}

/// Returns the op that a user's text names; dialect and overload may be left out if it is unambiguous.
/// Otherwise returns none, and `candidates` are the possible ops.
[[nodiscard]] inline std::optional<std::string_view> find_op(
    const pipeline_description& d, std::string_view text, op_name_list& candidates) {
    const op_name_list all = ops_of(d);
    const auto pick = [&](auto matches) {
        candidates.clear();
        std::copy_if(all.begin(), all.end(), std::back_inserter(candidates), matches);
        return !candidates.empty();
    };
    const std::string by_default = std::string(text) + ".default";
    // From the most to the least certain reading.
    if (pick([&](std::string_view op) { return op == text || op == by_default; }) ||
        pick([&](std::string_view op) {
            return detail::in_dialect(op) == text || detail::in_dialect(op) == by_default;
        }) ||
        pick([&](std::string_view op) {
            return detail::without_overload(op) == text ||
                detail::without_overload(detail::in_dialect(op)) == text;
        })) {
        return candidates.size() == 1 ? std::optional(candidates[0]) : std::nullopt;
    }
    pick([&](std::string_view op) { return op.find(text) != op.npos; });
    return std::nullopt;
}

/// True if there is a pass of that name. Otherwise `candidates` are the passes whose names contain it.
[[nodiscard]] inline bool has_pass(
    const pipeline_description& d, std::string_view name, op_name_list& candidates) {
    candidates.clear();
    for (const pass_description& p : d.passes) {
        if (p.name == name) return true;
        if (p.name.find(name) != p.name.npos) candidates.push_back(p.name);
    }
    return false;
}

}  // namespace headrace

#endif
