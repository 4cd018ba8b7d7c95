// SPDX-License-Identifier: MIT
// Defines headrace::partitioner, which assigns the nodes of a method to backends.
#ifndef HEADRACE_PARTITION_PARTITIONER_HPP
#define HEADRACE_PARTITION_PARTITIONER_HPP

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/partition/capability_partitioner.hpp>
#include <headrace/partition/compile_spec.hpp>
#include <headrace/partition/operator_support.hpp>

namespace headrace {

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

}  // namespace headrace

#endif
