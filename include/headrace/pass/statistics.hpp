// SPDX-License-Identifier: MIT
// Defines headrace::pass_record, the statistics of one pass after a run.
#ifndef HEADRACE_PASS_STATISTICS_HPP
#define HEADRACE_PASS_STATISTICS_HPP

#include <cstdint>
#include <string_view>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/pass/driver.hpp>

namespace headrace {

/// Whether a pass ran, and why not.
enum class pass_status : std::uint8_t {
    ran,
    no_target,  ///< skipped: the graph has none of its targets
    declined,   ///< skipped: its own should_run returned false
    pruned      ///< no code was generated: it can never fire for the pipeline's source
};

[[nodiscard]] constexpr std::string_view name_of(pass_status s) {
    switch (s) {
        case pass_status::ran:
            return "ran";
        case pass_status::no_target:
            return "no target in the graph";
        case pass_status::declined:
            return "should_run returned false";
        case pass_status::pruned:
            return "can never fire for this source";
    }
    return "";
}

struct pass_record {
    std::string_view name;
    pass_status status = pass_status::pruned;
    node_counts nodes;
    std::uint64_t nanoseconds = 0;  ///< 0 without a clock, see run_options
};

/// One record per pass of the pipeline, in order.
using run_statistics = pmr_vector<pass_record>;

}  // namespace headrace

#endif
