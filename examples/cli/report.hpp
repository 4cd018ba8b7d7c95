// SPDX-License-Identifier: MIT
// The JSON files beside a lowered model: --io and --report.
#ifndef HEADRACE_EXAMPLES_CLI_REPORT_HPP
#define HEADRACE_EXAMPLES_CLI_REPORT_HPP

#include <string>
#include <string_view>
#include <vector>

#include <headrace/ir/graph.hpp>
#include <headrace/pass/statistics.hpp>
#include <headrace/passes/layout/remaining_transposes.hpp>

namespace headrace::cli {

/// What a caller must know to run the flatbuffer: name, dtype and shape of each input and output, in its
/// order.
[[nodiscard]] std::string io_json(const graph& g);

/// The type that io_json calls so; unknown if there is none.
[[nodiscard]] dtype dtype_of_tosa_name(std::string_view name);

struct stage_time {
    std::string name;
    std::uint64_t nanoseconds;
};

struct lowering_report {
    std::string model;
    std::string target;
    std::size_t nodes_in = 0;
    std::size_t nodes_out = 0;
    std::size_t transposes_in = 0;
    std::pmr::vector<remaining_transpose> transposes_left;
    run_statistics passes;
    std::vector<stage_time> stages;
};

[[nodiscard]] std::string report_json(const lowering_report& report);

}  // namespace headrace::cli

#endif
