// SPDX-License-Identifier: MIT
// Defines headrace::lower_to_pte: from exported programs to a program for ExecuTorch's runtime.
#ifndef HEADRACE_LOWERING_LOWER_PTE_HPP
#define HEADRACE_LOWERING_LOWER_PTE_HPP

#include <functional>
#include <map>
#include <memory_resource>
#include <string>
#include <vector>

#include <headrace/base/error.hpp>
#include <headrace/io/pt2_program.hpp>
#include <headrace/io/pte_emitter.hpp>
#include <headrace/lowering/report.hpp>
#include <headrace/pass/pass_context.hpp>

namespace headrace {

struct lowered_pte {
    emitted_pte file;                                       ///< of `methods`, which have its constants
    std::map<std::string, program, std::less<>> methods{};  ///< graphs of the executorch dialect
    std::pmr::vector<diagnostic> refusals{};                ///< nodes without a kernel: then there is no file
    std::vector<stage_time> stages{};
};

// lower_pte_definition.hpp defines this function: include it in exactly one translation unit of a program, as
// well as executorch_pipeline_definition.hpp.

/// Lowers methods, by name, to one file in which each distinct constant is once. The host's kernels compute
/// all of it.
[[nodiscard]] result<lowered_pte> lower_to_pte(std::map<std::string, program, std::less<>> methods);

}  // namespace headrace

#endif
