// SPDX-License-Identifier: MIT
// Defines headrace::backend, which processes the programs that are delegated to it, and
// headrace::backend_registry.
#ifndef HEADRACE_PARTITION_BACKEND_HPP
#define HEADRACE_PARTITION_BACKEND_HPP

#include <concepts>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/base/text.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/partition/named_data_store.hpp>
#include <headrace/partition/partitioner.hpp>

namespace headrace {

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

}  // namespace headrace

#endif
