// SPDX-License-Identifier: MIT
// Defines headrace::to_backend, which hands the partitions of methods to their backends.
#ifndef HEADRACE_PARTITION_TO_BACKEND_HPP
#define HEADRACE_PARTITION_TO_BACKEND_HPP

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/base/text.hpp>
#include <headrace/partition/backend.hpp>
#include <headrace/partition/capability_partitioner.hpp>
#include <headrace/partition/delegate_border.hpp>
#include <headrace/partition/named_data_store.hpp>
#include <headrace/partition/partitioner.hpp>

namespace headrace {

/// One delegate of a method: its call in the method's graph, or null if it is the whole method.
struct lowered_delegate {
    delegation_spec delegation;
    graph* program = nullptr;
    node* call = nullptr;
    preprocess_result processed{};
};

struct lowered_method {
    graph* host = nullptr;  ///< calls the delegates; the program itself if all of it is a delegate
    std::vector<lowered_delegate> delegates{};
    bool is_whole = false;
};

struct lowered_methods {
    std::map<std::string, lowered_method, std::less<>> methods{};
    named_data_store_output data{};  ///< of all delegates, each content once
};

namespace detail {

class lowering_to_backends {
public:
    lowering_to_backends(
        const std::map<std::string, graph*, std::less<>>& methods, const backend_registry& backends)
        : methods_(methods), backends_(backends) {}

    result<void> find(const std::string& method, const partitioner& p) {
        graph* g = methods_.find(method)->second;
        auto found = p.partition(*g);
        if (!found) return in_method(method, found.error());
        if (found.value().whole) {
            if (!found.value().partitions.empty())
                return invalid({"method ", method, ": partitions beside the whole program"});
            HEADRACE_TRY(check(method, *found.value().whole));
        }
        for (const delegated_partition& part : found.value().partitions) {
            HEADRACE_TRY(check(method, part.delegation));
        }
        found_.emplace(method, std::move(found).value());
        return {};
    }

    result<lowered_methods> lower() {
        for (const auto& [method, g] : methods_) {
            HEADRACE_TRY(fuse(method, *g));
        }
        for (const std::string& name : used_) {
            HEADRACE_TRY(preprocess(name));
        }
        for (auto& [method, lowered] : lowered_.methods) {
            for (lowered_delegate& d : lowered.delegates) {
                if (d.call != nullptr) delegate_border(*d.call->owner, *d.call).write();
            }
        }
        lowered_.data = data_.output();
        return std::move(lowered_);
    }

private:
    static error in_method(const std::string& method, const error& e) {
        return e.in(text_of({"method ", method}));
    }

    result<void> check(const std::string& method, const delegation_spec& d) {
        if (!backends_.contains(d.backend)) {
            return invalid({"method ", method, ": backend '", d.backend,
                "' is not registered; these are: ", backends_.names()});
        }
        used_.insert(d.backend);
        return {};
    }

    result<void> fuse(const std::string& method, graph& g) {
        lowered_method& lowered = lowered_.methods[method];
        lowered.host = &g;
        const auto found = found_.find(method);
        if (found == found_.end()) return {};
        if (found->second.whole) {
            lowered.is_whole = true;
            lowered.delegates.push_back({.delegation = *found->second.whole, .program = &g});
            return {};
        }
        HEADRACE_TRY(calls, fuse_partitions_of(method, g, found->second.partitions));
        for (std::size_t i = 0; i != calls.size(); ++i) {
            auto& a = *static_cast<args<delegate::call_delegate>*>(calls[i]->arguments);
            a.backend = g.own(found->second.partitions[i].delegation.backend);
            lowered.delegates.push_back({.delegation = found->second.partitions[i].delegation,
                .program = a.lowered_graph,
                .call = calls[i]});
        }
        return {};
    }
    // Creates one call per partition, in the graph that contains its nodes: the method's, or a region.
    static result<std::vector<node*>> fuse_partitions_of(
        const std::string& method, graph& g, std::span<const delegated_partition> partitions) {
        std::vector<std::pair<graph*, std::vector<std::size_t>>> by_graph;
        for (std::size_t i = 0; i != partitions.size(); ++i) {
            graph* const owner = partitions[i].nodes.empty() ? &g : partitions[i].nodes.front()->owner;
            auto known = std::find_if(
                by_graph.begin(), by_graph.end(), [&](const auto& entry) { return entry.first == owner; });
            if (known == by_graph.end()) known = by_graph.insert(known, {owner, {}});
            known->second.push_back(i);
        }
        std::vector<node*> calls(partitions.size());
        for (const auto& [owner, positions] : by_graph) {
            std::vector<node_group> groups;
            for (const std::size_t i : positions) groups.push_back(partitions[i].nodes);
            auto made = fuse_partitions(*owner, groups);
            if (!made) return in_method(method, made.error());
            for (std::size_t k = 0; k != positions.size(); ++k) calls[positions[k]] = made.value()[k];
        }
        return calls;
    }

    result<void> preprocess(const std::string& name) {
        method_programs programs;
        method_compile_specs specs;
        for (auto& [method, lowered] : lowered_.methods) {
            for (const lowered_delegate& d : lowered.delegates) {
                if (d.delegation.backend != name) continue;
                programs[method].push_back(d.program);
                specs[method].push_back(d.delegation.specs);
            }
        }
        HEADRACE_TRY(results, backends_.preprocess(name, programs, specs));
        for (const auto& [method, graphs] : programs) {
            const auto made = results.find(method);
            if (made == results.end()) {
                return invalid({"method ", method, ": backend '", name, "' gave nothing for it"});
            }
            if (made->second.size() != graphs.size()) {
                return invalid({"method ", method, ": backend '", name, "' gave ", made->second.size(),
                    " results for ", graphs.size(), " programs"});
            }
            HEADRACE_TRY(take(method, name, made->second));
        }
        return {};
    }
    result<void> take(
        const std::string& method, const std::string& name, std::vector<preprocess_result>& made) {
        std::size_t next = 0;
        for (lowered_delegate& d : lowered_.methods.find(method)->second.delegates) {
            if (d.delegation.backend != name) continue;
            d.processed = std::move(made[next++]);
            if (auto merged = data_.merge(d.processed.data); !merged)
                return in_method(method, merged.error());
            for (const std::string& key : d.processed.data_keys) {
                if (data_.find(key) == data_.size()) {
                    return invalid({"method ", method, ": backend '", name,
                        "' refers to data that it does not give, '", key, "'"});
                }
            }
        }
        return {};
    }

    const std::map<std::string, graph*, std::less<>>& methods_;
    const backend_registry& backends_;
    std::map<std::string, partition_result, std::less<>> found_;
    std::set<std::string> used_;  // backends
    named_data_store data_;
    lowered_methods lowered_;
};

}  // namespace detail

/// Lowers several methods. First all partitions of all methods are found; each becomes a call in its method's
/// graph. Then each backend preprocesses all of its programs together, so that it can share data between
/// them. A method without a partitioner is left unchanged.
///
/// If a backend has changed an input or output of its program from real numbers to integers
/// (ir/signature.hpp), or to a narrower type, the host graph quantizes, dequantizes and casts.
///
/// The nodes of a partition are in one graph: the method's, or a region of a node that is in no partition,
/// such as a branch of a condition that stays on the host.
///
/// Compile specs may differ between partitions: the backend gets each program with its own.
///
/// The error names the method: a partitioner for a method that does not exist, a method without a program, a
/// backend that is not registered, overlapping partitions, or a backend without a result for a method. The
/// graphs have then been rewritten if the partitions were valid.
[[nodiscard]] inline result<lowered_methods> to_backend(
    const std::map<std::string, graph*, std::less<>>& methods,
    const std::map<std::string, partitioner, std::less<>>& partitioners, const backend_registry& backends) {
    for (const auto& [method, p] : partitioners) {
        if (!methods.contains(method))
            return invalid({"method ", method, ": a partitioner, but no such method"});
    }
    for (const auto& [method, g] : methods) {
        if (g == nullptr) return invalid({"method ", method, ": no program"});
    }
    detail::lowering_to_backends lowering(methods, backends);
    for (const auto& [method, p] : partitioners) {
        HEADRACE_TRY(lowering.find(method, p));
    }
    return lowering.lower();
}

/// Lowers several methods with one partitioner for all.
[[nodiscard]] inline result<lowered_methods> to_backend(
    const std::map<std::string, graph*, std::less<>>& methods, const partitioner& p,
    const backend_registry& backends) {
    std::map<std::string, partitioner, std::less<>> partitioners;
    for (const auto& [method, g] : methods) partitioners.emplace(method, p);
    return to_backend(methods, partitioners, backends);
}

}  // namespace headrace

#endif
