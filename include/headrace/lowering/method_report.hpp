// SPDX-License-Identifier: MIT
// Defines headrace::method_report, which describes a method that was lowered to delegates.
#ifndef HEADRACE_LOWERING_METHOD_REPORT_HPP
#define HEADRACE_LOWERING_METHOD_REPORT_HPP

#include <cstddef>
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

struct method_report {
    std::string target;
    std::vector<delegate_report> delegates{};
    std::vector<host_note> host_nodes{};  ///< nodes that stay on the host, with reasons
};

}  // namespace headrace

#endif
