// SPDX-License-Identifier: MIT
// Defines headrace::write_host_nodes, which reports of packages and of .pte files share.
#ifndef HEADRACE_LOWERING_DELEGATION_REPORT_HPP
#define HEADRACE_LOWERING_DELEGATION_REPORT_HPP

#include <headrace/io/json_writer.hpp>
#include <headrace/lowering/delegation.hpp>

namespace headrace {

/// What stays on the host, and why, as the member `host_nodes` of an object.
inline void write_host_nodes(json_writer& w, const method_report& m) {
    w.begin_array("host_nodes");
    for (const host_note& n : m.host_nodes) {
        w.begin_object();
        w.member("node", n.node);
        w.member("op", n.op);
        w.member("reason", n.reason);
        w.end_object();
    }
    w.end_array();
}

}  // namespace headrace

#endif
