// SPDX-License-Identifier: MIT
// Declares headrace::lower_to_pte, which lowers exported programs to a program for ExecuTorch's runtime.
#ifndef HEADRACE_LOWERING_LOWER_PTE_HPP
#define HEADRACE_LOWERING_LOWER_PTE_HPP

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/result.hpp>
#include <headrace/io/program.hpp>
#include <headrace/io/pte/emitter.hpp>
#include <headrace/lowering/delegation.hpp>
#include <headrace/lowering/lowering_observer.hpp>
#include <headrace/lowering/report.hpp>
#include <headrace/rewrite/pass_context.hpp>

namespace headrace {

/// Compiles a TOSA flatbuffer to a delegate of another backend.
using delegate_compiler = std::function<result<pte_delegate>(std::span<const std::byte> flatbuffer)>;

struct pte_options {
    bool delegate = false;           ///< nodes that can be lowered become delegates of the backend "tosa"
    delegate_compiler compile{};     ///< compiles the delegates for another backend
    bool integer_signature = false;  ///< the caller quantizes inputs and dequantizes outputs
    std::optional<target_spec> target{};  ///< of the delegates; none: chosen by the contents of the graph
    /// The core whose integer kernels compute what is quantized and not delegated: INT+core, with +dsp or
    /// +mve if it has these. None: the portable kernels, in floating point.
    std::optional<target_spec> kernels{};
    lowering_observer observer{};
};

struct lowered_pte {
    emitted_pte file;                                             ///< of `methods` and `data`, which it views
    std::map<std::string, program, std::less<>> methods{};        ///< graphs of the executorch dialect
    named_data_store_output data{};                               ///< constants of the delegates
    std::map<std::string, method_report, std::less<>> reports{};  ///< with delegates or kernels, by method
    pmr_vector<diagnostic> refusals{};  ///< nodes without a kernel; if there are any, there is no file
    std::vector<stage_time> stages{};
};

/// Lowers methods, by name, to one file that has each distinct constant once. The host's kernels compute the
/// nodes that are not delegated.
[[nodiscard]] result<lowered_pte> lower_to_pte(
    std::map<std::string, program, std::less<>> methods, const pte_options& options = {});

}  // namespace headrace

#endif
