// SPDX-License-Identifier: MIT
// Defines headrace::to_backend, which hands the partitions of methods to their backends, and the interfaces
// of backends and partitioners.
#ifndef HEADRACE_PARTITION_BACKEND_HPP
#define HEADRACE_PARTITION_BACKEND_HPP

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/ir/signature.hpp>
#include <headrace/partition/capability_partitioner.hpp>
#include <headrace/partition/named_data_store.hpp>

namespace headrace {

// --- delegations -------------------------------------------------------------------------

/// An option of a backend.
struct compile_spec {
    std::string key;
    std::string value;

    friend bool operator==(const compile_spec&, const compile_spec&) = default;
};
using compile_specs = std::vector<compile_spec>;

/// The backend of a partition, and its options.
struct delegation_spec {
    std::string backend;
    compile_specs specs{};
};

struct delegated_partition {
    node_group nodes;
    delegation_spec delegation;
};

/// The result of a partitioner for one method: partitions, or the whole method, with its inputs and outputs,
/// for one backend.
struct partition_result {
    std::vector<delegated_partition> partitions{};
    std::optional<delegation_spec> whole{};
};

/// A partitioner, by value: any type with `result<partition_result> partition(graph&) const`.
class partitioner {
public:
    template <class T>
        requires(!std::same_as<T, partitioner> &&
            requires(const T& p, graph& g) {
                { p.partition(g) } -> std::same_as<result<partition_result>>;
            })
    partitioner(T p)
        : partition_(
              [held = std::make_shared<const T>(std::move(p))](graph& g) { return held->partition(g); }) {}

    [[nodiscard]] result<partition_result> partition(graph& g) const { return partition_(g); }

private:
    std::function<result<partition_result>(graph&)> partition_;
};

/// Delegates a whole method to one backend.
struct whole_program_partitioner {
    delegation_spec delegation;
    [[nodiscard]] result<partition_result> partition(graph&) const {
        return partition_result{.whole = delegation};
    }
};

/// Delegates the nodes that the support takes to one backend.
struct support_partitioner {
    operator_support support;
    delegation_spec delegation;
    partitioner_options options{};
    [[nodiscard]] result<partition_result> partition(graph& g) const {
        partition_result found;
        for (node_group& nodes : capability_based_partitioner(g, support, options).propose_partitions()) {
            found.partitions.push_back({std::move(nodes), delegation});
        }
        return found;
    }
};

// --- backends ----------------------------------------------------------------------------

/// A backend's result for one program. `data` has the content that is stored outside of its bytes, and
/// `data_keys` the keys to which these refer, in order.
struct preprocess_result {
    std::vector<std::byte> processed_bytes{};
    std::vector<std::string> data_keys{};
    named_data_store_output data{};
};

/// The programs of each method, in the order of its partitions, and the data for each program.
using method_programs = std::map<std::string, std::vector<graph*>, std::less<>>;
using method_compile_specs = std::map<std::string, std::vector<compile_specs>, std::less<>>;
using method_results = std::map<std::string, std::vector<preprocess_result>, std::less<>>;

/// Matches backends. A program is a separate graph, which the backend may rewrite; run_graph then executes
/// the rewritten graph in place of the partition.
template <class T>
concept backend = requires(const T& b, graph& program, std::span<const compile_spec> specs) {
    { b.name() } -> std::convertible_to<std::string_view>;
    { b.preprocess(program, specs) } -> std::same_as<result<preprocess_result>>;
};

/// Matches backends that process the programs of all methods together.
template <class T>
concept multimethod_backend =
    backend<T> && requires(const T& b, const method_programs& programs, const method_compile_specs& specs) {
        { b.preprocess_multimethod(programs, specs) } -> std::same_as<result<method_results>>;
    };

/// Calls `f(graph& program, std::span<const compile_spec> specs) -> result<preprocess_result>` for each
/// program of each method, and collects the results. The error names the method.
template <class F>
[[nodiscard]] result<method_results> preprocess_each(
    const method_programs& programs, const method_compile_specs& specs, F&& f) {
    method_results results;
    for (const auto& [method, graphs] : programs) {
        const auto given = specs.find(method);
        if (given == specs.end() || given->second.size() != graphs.size())
            return invalid({"method ", method, ": not as many compile specs as programs"});
        std::vector<preprocess_result>& made = results[method];
        for (std::size_t i = 0; i != graphs.size(); ++i) {
            result<preprocess_result> done = f(*graphs[i], std::span(std::as_const(given->second[i])));
            if (!done) return done.error().in(text_of({"method ", method}));
            made.push_back(std::move(done).value());
        }
    }
    return results;
}

/// Preprocesses all programs of all methods, by the backend's preprocess_multimethod if it has one, else one
/// by one. The error names the method.
template <backend Backend>
[[nodiscard]] result<method_results> preprocess_multimethod(
    const Backend& b, const method_programs& programs, const method_compile_specs& specs) {
    if constexpr (multimethod_backend<Backend>) {
        return b.preprocess_multimethod(programs, specs);
    } else {
        return preprocess_each(programs, specs, [&](graph& program, std::span<const compile_spec> given) {
            return b.preprocess(program, given);
        });
    }
}

/// Backends by name.
class backend_registry {
public:
    template <backend Backend>
    void add(Backend b) {
        auto held = std::make_shared<const Backend>(std::move(b));
        backends_[std::string(held->name())] = [held](const method_programs& programs,
                                                   const method_compile_specs& specs) {
            return headrace::preprocess_multimethod(*held, programs, specs);
        };
    }
    [[nodiscard]] bool contains(std::string_view name) const { return backends_.contains(name); }
    /// Preprocesses programs by a backend, which must be registered.
    [[nodiscard]] result<method_results> preprocess(
        std::string_view name, const method_programs& programs, const method_compile_specs& specs) const {
        return backends_.find(name)->second(programs, specs);
    }
    /// Returns "a, b".
    [[nodiscard]] std::string names() const {
        std::string text;
        for (const auto& [name, b] : backends_) (text += text.empty() ? "" : ", ") += name;
        return text.empty() ? "none" : text;
    }

private:
    using preprocess_function =
        std::function<result<method_results>(const method_programs&, const method_compile_specs&)>;
    std::map<std::string, preprocess_function, std::less<>> backends_;
};

// --- to_backend --------------------------------------------------------------------------

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

/// Adds the conversions between host and delegate to the host graph: quantize, dequantize, cast.
class delegate_border {
public:
    delegate_border(graph& host, node& call) : host_(host), call_(call) {}

    void write() {
        graph& program = *args_of<delegate::call_delegate>(call_).lowered_graph;
        std::size_t i = 0;
        for (node& input : program.inputs()) {
            if (i != call_.operand_count) write_input(input, call_.operands[i++]);
        }
        node* const out = program.output();
        const auto* quantized = out->find_annotation<output_quantizations>();
        for (std::uint32_t k = 0; k != call_.result_count; ++k) {
            const signature_quantization* q =
                quantized != nullptr && k < quantized->values.size() ? &quantized->values[k] : nullptr;
            write_output(k, meta_of(program.outputs()[k]), q != nullptr && q->scale != 0 ? q : nullptr);
        }
        if (quantized != nullptr) program.annotate(*out, output_quantizations{});
    }

private:
    void write_input(node& input, edge& operand) {
        const tensor_meta* wanted = meta_of(input.result());
        const value given = *operand.slot;
        if (wanted == nullptr || meta_of(given) == nullptr) return;
        const auto* q = input.find_annotation<signature_quantization>();
        node* made = nullptr;
        if (q != nullptr && q->scale != 0) {
            made = &host_.create<quantized_decomposed::quantize_per_tensor>(
                {given, q->scale, q->zero_point, q->lowest, q->highest, wanted->dtype}, &call_);
            input.owner->annotate(input, signature_quantization{});
        } else if (wanted->dtype != meta_of(given)->dtype) {
            made = &host_.create<aten::to_dtype>({.self = given, .dtype = wanted->dtype}, &call_);
        }
        if (made == nullptr) return;
        host_.set_meta(made->result(), *wanted);
        host_.set_operand(operand, made->result());
    }
    void write_output(std::uint32_t k, const tensor_meta* given, const signature_quantization* q) {
        const value before = call_.result(k);
        const tensor_meta* said = meta_of(before);
        if (given == nullptr || said == nullptr || (q == nullptr && given->dtype == said->dtype)) return;
        const tensor_meta wanted = *said;
        node& made = q != nullptr
            ? host_.create<quantized_decomposed::dequantize_per_tensor>(
                  {before, q->scale, q->zero_point, q->lowest, q->highest, given->dtype}, call_.next)
            : host_.create<aten::to_dtype>({.self = before, .dtype = wanted.dtype}, call_.next);
        host_.set_meta(before, *given);
        host_.set_meta(made.result(), wanted);
        host_.set_name(made.result(), before.producer->results[k].name);
        host_.set_name(before, {});
        host_.replace_all_uses(before, made.result(), &made);
    }

    graph& host_;
    node& call_;
};

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
