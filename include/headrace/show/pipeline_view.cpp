// SPDX-License-Identifier: MIT
// Defines the functions of headrace/show/pipeline_view.hpp.

#include <headrace/show/pipeline_view.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <range/v3/range/conversion.hpp>
#include <range/v3/view/enumerate.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/remove_if.hpp>

namespace headrace {

namespace {

using name_set = std::unordered_set<std::string_view>;

name_set set_of_names(const op_name_list& names) { return {names.begin(), names.end()}; }

bool is_among(std::string_view name, const op_name_list& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

op_name_list ops_in_both(const op_name_list& a, const op_name_list& b) {
    const name_set other = set_of_names(b);
    return a | ranges::views::filter([&](std::string_view op) { return other.contains(op); }) |
        ranges::to<op_name_list>();
}

op_name_list ops_without(const op_name_list& a, const op_name_list& b) {
    const name_set other = set_of_names(b);
    return a | ranges::views::remove_if([&](std::string_view op) { return other.contains(op); }) |
        ranges::to<op_name_list>();
}

op_name_list ops_of(const pipeline_description& d) {
    name_set known;
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

std::vector<meeting> meetings_of(const pipeline_description& d, std::string_view op) {
    std::vector<meeting> found;
    for (const auto& [i, p] : ranges::views::enumerate(d.passes)) {
        if (is_among(op, p.targets) && is_among(op, p.before)) found.push_back({i, is_among(op, p.removes)});
    }
    return found;
}

std::vector<op_group> groups_of(const pipeline_description& d) {
    std::map<std::string_view, std::vector<meeting>> met;
    for (const auto& [i, p] : ranges::views::enumerate(d.passes)) {
        const name_set removed = set_of_names(p.removes);
        for (const std::string_view op : met_by(p)) met[op].push_back({i, removed.contains(op)});
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

std::vector<flow_step> flow_of(const pipeline_description& d, std::string_view op, op_name_list& left) {
    std::vector<flow_step> steps;
    op_name_list now{op};
    for (const auto& [i, p] : ranges::views::enumerate(d.passes)) {
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

std::optional<std::string_view> find_op(
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
        pick([&](std::string_view op) { return in_dialect(op) == text || in_dialect(op) == by_default; }) ||
        pick([&](std::string_view op) {
            return without_overload(op) == text || without_overload(in_dialect(op)) == text;
        })) {
        return candidates.size() == 1 ? std::optional(candidates[0]) : std::nullopt;
    }
    pick([&](std::string_view op) { return op.find(text) != op.npos; });
    return std::nullopt;
}

bool has_pass(const pipeline_description& d, std::string_view name, op_name_list& candidates) {
    candidates.clear();
    for (const pass_description& p : d.passes) {
        if (p.name == name) return true;
        if (p.name.find(name) != p.name.npos) candidates.push_back(p.name);
    }
    return false;
}

}  // namespace headrace
