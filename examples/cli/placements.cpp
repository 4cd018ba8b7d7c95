// SPDX-License-Identifier: MIT
#include "placements.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include <headrace/base/printable.hpp>
#include <headrace/firmware/report.hpp>
#include <headrace/rewrite/pass_context.hpp>
#include <headrace/show/refusal_lines.hpp>

#include "messages.hpp"

namespace headrace::cli {

namespace {

std::string_view name_of(node_place place, std::string_view delegate) {
    switch (place) {
        case node_place::delegate:
            return delegate;
        case node_place::cortex_m:
            return "cortex_m";
        case node_place::portable:
            break;
    }
    return "portable";
}

// Returns "12.3 M MACs"; counts below 1000 in full.
std::string format_macs(std::uint64_t macs) {
    double count = static_cast<double>(macs);
    const char* unit = "";
    for (const char* next : {" k", " M", " G", " T"}) {
        if (count < 999.5) break;
        count /= 1000;
        unit = next;
    }
    return fmt::format("{:.3g}{} MACs", count, unit);
}

// Returns "99.9 %", rounded down, so that 100 % means all.
std::string format_share(double share) { return fmt::format("{:g} %", std::floor(share * 1000) / 10); }

std::vector<diagnostic> in_floats(const method_report& m) {
    std::vector<diagnostic> nodes;
    for (const node_placement& n : m.nodes) {
        if (n.in_integers || n.place == node_place::delegate || n.kernels.empty() || n.reason.empty() ||
            n.is_border)
            continue;
        nodes.push_back({std::pmr::string(n.node), std::pmr::string(n.op), std::pmr::string(n.reason),
            error_kind::unsupported, std::pmr::string(n.source)});
    }
    return nodes;
}

std::string summary_of(const method_report& m, std::uint64_t planned_bytes) {
    std::string text;
    if (!m.delegates.empty()) text = counted(m.delegates.size(), "delegate") + ", ";
    text += fmt::format("{}, {}, ", counted(m.cortex_m_kernels, "Cortex-M kernel"),
        counted(m.portable_kernels, "portable kernel"));
    if (m.macs.total != 0)
        text += fmt::format(
            "{} of {} in integers, ", format_share(m.macs.integer_share()), format_macs(m.macs.total));
    return text +
        fmt::format("{} bytes planned{}", firmware::with_commas(planned_bytes),
            m.delegates.empty() ? "" : " beside the delegates' own memory");
}

}  // namespace

void write_placements(json_writer& w, const method_report& m, std::string_view delegate) {
    w.begin_object("macs");
    w.member("total", m.macs.total);
    w.member(delegate, m.macs.delegated);
    w.member("cortex_m", m.macs.cortex_m);
    w.member("portable", m.macs.portable);
    w.end_object();
    w.member("integer_macs", m.macs.in_integers);
    w.member("integer_share", m.macs.integer_share());
    w.member("cortex_m_kernels", m.cortex_m_kernels);
    w.member("portable_kernels", m.portable_kernels);
    w.begin_array("nodes");
    for (const node_placement& n : m.nodes) {
        w.begin_object();
        w.member("node", n.node);
        w.member("op", n.op);
        w.member("runs_on", name_of(n.place, delegate));
        w.member("in_integers", n.in_integers);
        if (!n.kernels.empty()) w.member("kernels", n.kernels);
        if (n.macs != 0) w.member("macs", n.macs);
        if (!n.reason.empty()) w.member("reason", n.reason);
        if (!n.source.empty()) w.member("source", n.source);
        w.end_object();
    }
    w.end_array();
}

void print_placements(const lowered_pte& made, const std::string& output) {
    if (is_quiet()) return;
    std::FILE* const stream = report_stream(output);
    for (const pte_method_size& size : made.file.methods()) {
        const auto told = made.reports.find(size.name);
        if (told == made.reports.end()) continue;
        fmt::print(stream, "{}: {}\n", printable(size.name), summary_of(told->second, size.planned_bytes));
        for (const std::string& line : refusal_lines(in_floats(told->second)))
            fmt::print(stream, "  {}\n", printable(line, max_printed_message));
    }
}

}  // namespace headrace::cli
