// SPDX-License-Identifier: MIT
// Declares headrace::lower_to_pte, which lowers exported programs to a program for ExecuTorch's runtime.
#ifndef HEADRACE_LOWERING_LOWER_PTE_HPP
#define HEADRACE_LOWERING_LOWER_PTE_HPP

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <headrace/banks/memory_map.hpp>
#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/result.hpp>
#include <headrace/io/program.hpp>
#include <headrace/io/pte/emitter.hpp>
#include <headrace/io/signature/io_description.hpp>
#include <headrace/lowering/delegation.hpp>
#include <headrace/lowering/lowering_observer.hpp>
#include <headrace/lowering/report.hpp>
#include <headrace/partition/to_backend.hpp>
#include <headrace/rewrite/pass_context.hpp>

namespace headrace {

/// Compiles a TOSA flatbuffer to a delegate of another backend.
using delegate_compiler = std::function<result<pte_delegate>(std::span<const std::byte> flatbuffer)>;

/// Hands parts of methods to backends, as headrace::to_backend does.
using delegating_function =
    std::function<result<lowered_methods>(const std::map<std::string, graph*, std::less<>>& methods)>;

struct pte_options {
    bool delegate = false;           ///< nodes that can be lowered become delegates of the backend "tosa"
    delegate_compiler compile{};     ///< compiles the delegates for another backend
    bool integer_signature = false;  ///< the caller quantizes inputs and dequantizes outputs
    bool channels_last = false;      ///< inputs and outputs with four axes are NHWC, not as exported
    std::optional<target_spec> target{};  ///< of the delegates; none: chosen by the contents of the graph
    /// The core whose integer kernels compute what is quantized and not delegated: INT+core, with +dsp or
    /// +mve if it has these. None: the portable kernels, in floating point.
    std::optional<target_spec> kernels{};
    /// Calls to_backend for other backends, with the graphs that it is given; instead of `delegate`. The file
    /// has their names, bytes, compile specs and named data, which the runtime passes to them. The graph of a
    /// method with states has these as further inputs and outputs (io/pte/method.hpp).
    delegating_function to_backends{};
    std::optional<memory_map> memory{};  ///< banks of the board: each is a memory of every method
    lowering_observer observer{};
};

struct lowered_pte {
    emitted_pte file;                                       ///< of `methods` and `data`, which it views
    std::map<std::string, program, std::less<>> methods{};  ///< graphs of the executorch dialect
    named_data_store_output data{};                         ///< constants and data of the delegates
    std::vector<std::unique_ptr<graph>> whole{};  ///< exported graphs of methods that are one delegate
    std::map<std::string, method_report, std::less<>> reports{};  ///< by method, if nodes may run elsewhere
    pmr_vector<diagnostic> refusals{};  ///< nodes without a kernel; if there are any, there is no file
    std::vector<stage_time> stages{};
    method_descriptions io{};  ///< inputs and outputs of each method, as its caller sees them
};

/// Lowers methods, by name, to one file that has each distinct constant once. The host's kernels compute the
/// nodes that are not delegated.
[[nodiscard]] result<lowered_pte> lower_to_pte(
    std::map<std::string, program, std::less<>> methods, const pte_options& options = {});

/// Writes the file, whole or not at all. A node without a kernel is an error that names the first.
[[nodiscard]] result<void> write_pte(const std::string& path, const lowered_pte& lowered);

}  // namespace headrace

#endif
