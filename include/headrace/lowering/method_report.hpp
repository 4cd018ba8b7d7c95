// SPDX-License-Identifier: MIT
// Defines headrace::method_report, which describes a method that was lowered to delegates.
#ifndef HEADRACE_LOWERING_METHOD_REPORT_HPP
#define HEADRACE_LOWERING_METHOD_REPORT_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <headrace/io/package/package_parts.hpp>

namespace headrace {

/// A delegate of a method that was lowered.
struct delegate_report {
    std::string backend;
    std::size_t nodes_out = 0;              ///< operators of the flatbuffer
    std::optional<std::size_t> nodes_in{};  ///< of the exported graph, for a part of a method
};

/// The kind of code that computes a node of the exported graph.
enum class node_place {
    delegate,  ///< in a delegate
    cortex_m,  ///< by kernels for Cortex-M
    portable   ///< by ExecuTorch's portable kernels, or by none if nothing is left of it
};

struct node_placement {
    std::string node;
    std::string op;
    node_place place = node_place::portable;
    bool is_border = false;    ///< quantizes or dequantizes only for others that stay in floating point
    bool in_integers = false;  ///< in a delegate or a part of the graph that computes with integers
    std::vector<std::string> kernels{};  ///< that compute it on the host, each once
    std::string reason{};                ///< for which it is not delegated, or not computed with integers
    std::string source{};                ///< "net.py:42", the line of the model's source, or empty
    std::uint64_t macs = 0;              ///< multiply-accumulate operations
};

/// Sums of node_placement::macs.
struct mac_counts {
    std::uint64_t total = 0;
    std::uint64_t delegated = 0;
    std::uint64_t cortex_m = 0;
    std::uint64_t portable = 0;
    std::uint64_t in_integers = 0;

    /// Returns the share of all that are in integers: 1 is all of them, or that there are none.
    [[nodiscard]] double integer_share() const {
        return total == 0 ? 1 : static_cast<double>(in_integers) / static_cast<double>(total);
    }
};

struct method_report {
    std::string target;
    std::vector<delegate_report> delegates{};
    std::vector<host_note> host_nodes{};  ///< nodes that stay on the host, with reasons
    std::vector<node_placement> nodes{};  ///< of the exported graph, for a .pte file
    mac_counts macs{};                    ///< of these nodes
    std::size_t cortex_m_kernels = 0;     ///< calls of these in the program
    std::size_t portable_kernels = 0;
};

}  // namespace headrace

#endif
