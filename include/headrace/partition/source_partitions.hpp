// SPDX-License-Identifier: MIT
// Defines headrace::get_source_partitions, which finds the nodes that came from one call of a module or
// function of the model.
#ifndef HEADRACE_PARTITION_SOURCE_PARTITIONS_HPP
#define HEADRACE_PARTITION_SOURCE_PARTITIONS_HPP

#include <algorithm>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <headrace/ir/graph.hpp>
#include <headrace/ir/source_location.hpp>
#include <headrace/partition/extract.hpp>

namespace headrace {

/// One frame of a module stack.
struct module_frame {
    std::string_view call;  ///< tells calls apart: "L__self__linear1", and "L__self__linear1@1" in the second
    std::string_view path;  ///< of the module in the model: "encoder.linear1"
    std::string_view type;  ///< "torch.nn.modules.linear.Linear"
};

/// Parses a `nn_module_stack` as written by torch.export: "call,path,type;call,path,type", outermost first.
[[nodiscard]] inline std::vector<module_frame> module_frames(std::string_view text) {
    std::vector<module_frame> frames;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(';'), text.size());
        const std::string_view frame = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::size_t first = frame.find(',');
        const std::size_t last = frame.rfind(',');
        if (first == std::string_view::npos || first == last) continue;
        frames.push_back(
            {frame.substr(0, first), frame.substr(first + 1, last - first - 1), frame.substr(last + 1)});
    }
    return frames;
}

/// A call of a function, as recorded by the export.
struct function_call {
    std::string_view call;      ///< tells calls apart: "linear_3"
    std::string_view function;  ///< "torch._C._nn.linear", or what is left of that: "linear"
};

/// Returns the call that a node was traced from: the last of `source_fn_stack` or, if absent, `torch_fn`, as
/// in PyTorch's get_source_partitions. Both members are empty if the export has neither. (A strict export has
/// modules in `source_fn_stack` if one of PyTorch's modules makes the call.)
[[nodiscard]] inline function_call call_of(const traced_call& from) {
    std::string_view last = from.source_fn_stack;
    last.remove_prefix(std::min(last.size(), last.rfind(';') + 1));
    if (const std::size_t comma = last.find(','); comma != std::string_view::npos)
        return {last.substr(0, comma), last.substr(comma + 1)};
    const std::size_t split = from.torch_fn.find(';');
    if (split == std::string_view::npos) return {};
    const std::string_view function = from.torch_fn.substr(split + 1);  // "builtin_function_or_method.linear"
    return {from.torch_fn.substr(0, split), function.substr(function.rfind('.') + 1)};
}

/// The nodes that came from one call of a module or function, and constants that only these use.
struct source_partition {
    std::vector<node*> nodes{};         ///< in execution order
    std::string module_type{};          ///< or function, as in the export
    std::string path{};                 ///< of the module, or of the one that calls the function
    std::vector<node*> input_nodes{};   ///< outside of the partition, used by it
    std::vector<node*> output_nodes{};  ///< of the partition, used outside
    std::vector<std::string> params{};  ///< names of the constants in use
};

namespace detail {

[[nodiscard]] inline bool is_type(std::string_view type, std::string_view wanted) {
    // "Linear", "nn.Linear" and the full name all refer to torch.nn.modules.linear.Linear.
    if (type == wanted) return true;
    if (!type.starts_with("torch.nn.")) return false;
    const std::string_view last = type.substr(type.rfind('.') + 1);
    return wanted == last || (wanted.starts_with("torch.nn.") && wanted.substr(9) == last) ||
        (wanted.starts_with("nn.") && wanted.substr(3) == last);
}

[[nodiscard]] inline bool is_function(std::string_view function, std::string_view wanted) {
    // "torch.nn.functional.linear" and "F.linear" refer to the function that exports record as
    // torch._C._nn.linear or linear.
    if (function.empty() || function == wanted) return !function.empty();
    const std::size_t prefix = wanted.rfind('.') + 1;  // 0 without a prefix
    const std::string_view from = wanted.substr(0, prefix);
    const bool known = from == "torch." || from == "torch.nn.functional." || from == "F." || from.empty();
    const bool of_torch = function.find('.') == std::string_view::npos || function.starts_with("torch.");
    return known && of_torch && function.substr(function.rfind('.') + 1) == wanted.substr(prefix);
}

/// The call of a requested source that a node came from.
struct source_call {
    std::string_view call;  ///< empty: the node comes from another source
    std::string_view source;
    std::string_view path;
};

[[nodiscard]] inline source_call call_of_source(const node& n, std::string_view wanted) {
    const auto* stack = n.find_annotation<module_stack>();
    const auto frames = module_frames(stack == nullptr ? std::string_view() : stack->text);
    const auto frame = std::find_if(
        frames.rbegin(), frames.rend(), [&](const module_frame& f) { return is_type(f.type, wanted); });
    if (frame != frames.rend()) return {frame->call, frame->type, frame->path};
    const auto* traced = n.find_annotation<traced_call>();
    if (traced == nullptr) return {};
    const function_call made = call_of(*traced);
    if (!is_function(made.function, wanted)) return {};
    return {made.call, made.function, frames.empty() ? std::string_view() : frames.back().path};
}

inline void find_border(source_partition& p) {
    const std::unordered_set<const node*> inside(p.nodes.begin(), p.nodes.end());
    std::unordered_set<const node*> seen;
    std::vector<node*> constants;
    for (node* n : p.nodes) {
        for (const edge& e : n->operand_edges()) {
            if (inside.contains(e.source) || !seen.insert(e.source).second) continue;
            if (is<builtin::constant>(*e.source)) {
                p.params.emplace_back(e.source->name());
                bool only_here = true;
                for (const edge& use : e.source->uses()) only_here = only_here && inside.contains(use.target);
                if (only_here) constants.push_back(e.source);
            } else {
                p.input_nodes.push_back(e.source);
            }
        }
        bool used_elsewhere = false;
        for (const edge& e : n->uses()) used_elsewhere = used_elsewhere || !inside.contains(e.target);
        if (used_elsewhere) p.output_nodes.push_back(n);
    }
    p.nodes.insert(p.nodes.begin(), constants.begin(), constants.end());
}

}  // namespace detail

/// Returns, for each requested source (the type of a module, or a function), the partitions of its calls, in
/// execution order of their first nodes. A type is written as in the export,
/// "torch.nn.modules.linear.Linear", or short, "torch.nn.Linear" and "Linear". A function is written as in a
/// model, "torch.nn.functional.linear", "F.linear", "torch.add" and "linear", or as in the export. Sources
/// that do not occur have no entry. A module that is called twice has two partitions, since the export
/// numbers its calls. Functions called by PyTorch's own modules count in exports that are not strict, because
/// only those record them.
[[nodiscard]] inline std::map<std::string, std::vector<source_partition>, std::less<>> get_source_partitions(
    const graph& g, std::span<const std::string_view> wanted_sources) {
    std::map<std::string, std::vector<source_partition>, std::less<>> found;
    for (const std::string_view wanted : wanted_sources) {
        if (found.contains(wanted)) continue;
        std::vector<source_partition> partitions;
        std::map<std::string_view, std::size_t> of_call;
        for (node& n : g.nodes()) {
            if (is<builtin::constant>(n) || is<builtin::placeholder>(n) || is<builtin::output>(n)) continue;
            const detail::source_call from = detail::call_of_source(n, wanted);
            if (from.call.empty()) continue;
            const auto [at, is_new] = of_call.emplace(from.call, partitions.size());
            if (is_new) {
                partitions.push_back(
                    {.module_type = std::string(from.source), .path = std::string(from.path)});
            }
            partitions[at->second].nodes.push_back(&n);
        }
        for (source_partition& p : partitions) detail::find_border(p);
        if (!partitions.empty()) found.emplace(std::string(wanted), std::move(partitions));
    }
    return found;
}
[[nodiscard]] inline auto get_source_partitions(
    const graph& g, std::initializer_list<std::string_view> wanted_sources) {
    return get_source_partitions(g, std::span(wanted_sources.begin(), wanted_sources.size()));
}

}  // namespace headrace

#endif
