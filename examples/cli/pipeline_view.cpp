// SPDX-License-Identifier: MIT
#include "pipeline_view.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <unordered_set>

namespace headrace::cli {

namespace {

using name_set = std::unordered_set<std::string_view>;

name_set set_of_names(const op_names& names) { return {names.begin(), names.end()}; }

bool contains(const op_names& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

// aten.max.dim without its dialect, and without its overload.
std::string_view in_dialect(std::string_view op) { return op.substr(op.find('.') + 1); }
std::string_view without_overload(std::string_view op) { return op.substr(0, op.rfind('.')); }

}  // namespace

op_names common(const op_names& a, const op_names& b) {
    const name_set other = set_of_names(b);
    op_names both;
    for (const std::string_view name : a) {
        if (other.contains(name)) both.push_back(name);
    }
    return both;
}

op_names without(const op_names& a, const op_names& b) {
    const name_set other = set_of_names(b);
    op_names rest;
    for (const std::string_view name : a) {
        if (!other.contains(name)) rest.push_back(name);
    }
    return rest;
}

op_names ops_of(const pipeline_description& d) {
    name_set known;
    op_names all;
    const auto add = [&](const op_names& names) {
        for (const std::string_view name : names) {
            if (known.insert(name).second) all.push_back(name);
        }
    };
    for (const pass_description& p : d.passes) add(p.before);
    add(d.result);
    return all;
}

op_names met_by(const pass_description& p) { return common(p.targets, p.before); }

std::vector<meeting> meetings_of(const pipeline_description& d, std::string_view op) {
    std::vector<meeting> found;
    for (std::size_t i = 0; i != d.passes.size(); ++i) {
        const pass_description& p = d.passes[i];
        if (contains(p.targets, op) && contains(p.before, op)) found.push_back({i, contains(p.removes, op)});
    }
    return found;
}

std::vector<op_group> groups_of(const pipeline_description& d) {
    std::map<std::string_view, std::vector<meeting>> met;
    for (std::size_t i = 0; i != d.passes.size(); ++i) {
        const name_set removed = set_of_names(d.passes[i].removes);
        for (const std::string_view op : met_by(d.passes[i])) met[op].push_back({i, removed.contains(op)});
    }
    std::map<std::vector<meeting>, op_names> grouped;
    for (const std::string_view op : ops_of(d)) grouped[met[op]].push_back(op);
    std::vector<op_group> groups;
    for (auto& [passes, ops] : grouped) groups.push_back({passes, std::move(ops)});
    // The group that no pass meets is the least.
    if (!groups.empty() && groups[0].met_by.empty())
        std::rotate(groups.begin(), groups.begin() + 1, groups.end());
    return groups;
}

std::vector<flow_step> flow_of(const pipeline_description& d, std::string_view op, op_names& left) {
    std::vector<flow_step> steps;
    op_names now{op};
    for (std::size_t i = 0; i != d.passes.size(); ++i) {
        const pass_description& p = d.passes[i];
        const op_names met = common(now, p.targets);
        if (met.empty()) continue;
        const op_names gone = common(met, p.removes);
        now = without(now, p.removes);
        const op_names made = without(p.produces, now);
        now.insert(now.end(), made.begin(), made.end());
        steps.push_back({i, met, gone, made});
    }
    left = std::move(now);
    return steps;
}

std::optional<std::string_view> find_op(const pipeline_description& d, std::string_view text,
                                        op_names& candidates) {
    const op_names all = ops_of(d);
    const auto pick = [&](auto matches) {
        candidates.clear();
        std::copy_if(all.begin(), all.end(), std::back_inserter(candidates), matches);
        return !candidates.empty();
    };
    const std::string by_default = std::string(text) + ".default";
    // From what is surely meant to what might be.
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

bool has_pass(const pipeline_description& d, std::string_view name, op_names& candidates) {
    candidates.clear();
    for (const pass_description& p : d.passes) {
        if (p.name == name) return true;
        if (p.name.find(name) != p.name.npos) candidates.push_back(p.name);
    }
    return false;
}

}  // namespace headrace::cli
