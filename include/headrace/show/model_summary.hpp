// SPDX-License-Identifier: MIT
// Declares headrace::summary_of: the size of a model, and what running it takes.
#ifndef HEADRACE_SHOW_MODEL_SUMMARY_HPP
#define HEADRACE_SHOW_MODEL_SUMMARY_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <headrace/ir/graph.hpp>

namespace headrace {

/// One op of a model.
struct op_summary {
    std::string op;
    std::size_t count = 0;
    std::uint64_t macs = 0;
};

struct model_summary {
    std::size_t nodes = 0;
    std::vector<op_summary> ops{};  ///< those with the most MACs first, then the most frequent ones
    /// Multiply-accumulates of convolutions, matrix products and attention.
    std::uint64_t macs = 0;
    std::size_t uncounted = 0;     ///< einsums, whose MACs are not counted
    std::uint64_t parameters = 0;  ///< elements of constants, except scales, zero points and tables
    std::uint64_t parameter_bytes = 0;
    std::optional<std::uint64_t> peak_bytes{};  ///< of a greedy memory plan; nothing if there is none
    std::vector<std::string> inputs{};          ///< "x: int8<0.05, -3>[1, 16]"
    std::vector<std::string> outputs{};
};

/// Summarizes a model. Nodes of regions and delegates count as well, each once.
[[nodiscard]] model_summary summary_of(const graph& g);

}  // namespace headrace

#endif
