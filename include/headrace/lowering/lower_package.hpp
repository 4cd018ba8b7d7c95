// SPDX-License-Identifier: MIT
// Declares headrace::lower_to_package, which lowers several methods that share constants, or the parts of a
// model that can be lowered.
#ifndef HEADRACE_LOWERING_LOWER_PACKAGE_HPP
#define HEADRACE_LOWERING_LOWER_PACKAGE_HPP

#include <functional>
#include <map>
#include <optional>
#include <string>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/result.hpp>
#include <headrace/base/target_spec.hpp>
#include <headrace/io/package/package_writer.hpp>
#include <headrace/io/program.hpp>
#include <headrace/lowering/lowering_observer.hpp>
#include <headrace/lowering/method_report.hpp>
#include <headrace/pass/pass_registry.hpp>
#include <headrace/rewrite/pass_context.hpp>

namespace headrace {

struct package_options {
    std::optional<target_spec> target{};  ///< none: as for each method alone
    bool partition = false;    ///< nodes that cannot be lowered stay in a host graph, or are an error
    bool plan_memory = false;  ///< ops of host graphs write to buffers with planned offsets
    lowering_observer observer{};
};

struct lowered_package {
    package_writer files;  ///< to be written
    std::map<std::string, method_report, std::less<>> methods{};
    pmr_vector<diagnostic> refusals{};  ///< nodes that cannot be lowered; if any, there is no method
};

/// Lowers methods, by name, to a package. Names become file names: see is_plain_name.
[[nodiscard]] result<lowered_package> lower_to_package(
    std::map<std::string, program, std::less<>> methods, const package_options& options = {});

/// Returns the JSON that `headrace lower --report` writes for a package, without a final newline. `models`
/// has the file of each method.
[[nodiscard]] std::string package_report_json(
    const lowered_package& package, const std::map<std::string, std::string, std::less<>>& models);

/// Returns the passes that prepare a host graph for its runtime: to_out_variants and plan_memory.
[[nodiscard]] const pass_registry& host_passes();

}  // namespace headrace

#endif
