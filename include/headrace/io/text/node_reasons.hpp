// SPDX-License-Identifier: MIT
// Defines headrace::write_node_reasons, shared by the reports of refused nodes and of host nodes.
#ifndef HEADRACE_IO_TEXT_NODE_REASONS_HPP
#define HEADRACE_IO_TEXT_NODE_REASONS_HPP

#include <string_view>

#include <headrace/io/file/json_writer.hpp>

namespace headrace {

/// Writes nodes, each with a reason, as the member `key` of an object: diagnostics, or host_notes.
template <class Reasons>
void write_node_reasons(json_writer& w, std::string_view key, const Reasons& reasons) {
    w.begin_array(key);
    for (const auto& r : reasons) {
        w.begin_object();
        w.member("node", r.node);
        w.member("op", r.op);
        w.member("reason", r.reason);
        if (!r.source.empty()) w.member("source", r.source);
        w.end_object();
    }
    w.end_array();
}

}  // namespace headrace

#endif
