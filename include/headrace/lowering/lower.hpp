// SPDX-License-Identifier: MIT
// Declares headrace::lower_to_tosa, which turns an exported program into a TOSA flatbuffer, with a
// description of its inputs and outputs and a report.
#ifndef HEADRACE_LOWERING_LOWER_HPP
#define HEADRACE_LOWERING_LOWER_HPP

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/result.hpp>
#include <headrace/base/target_spec.hpp>
#include <headrace/io/program.hpp>
#include <headrace/io/signature/io_description.hpp>
#include <headrace/lowering/lowering_observer.hpp>
#include <headrace/lowering/report.hpp>
#include <headrace/lowering/state.hpp>
#include <headrace/rewrite/pass_context.hpp>

namespace headrace {

class streamed_tosa;

/// Returns a fresh copy of the exported program for each target that is tried: lowering consumes it.
using program_source = std::function<result<program>()>;

struct lowering_options {
    std::optional<target_spec> target{};  ///< none: the first of default_targets() that can hold the model
    target_spec beside{};                 ///< features that default targets have in addition to their own
    bool channels_last = false;           ///< inputs and outputs with four axes are NHWC, not as exported
    bool verify = false;                  ///< execute the model after each pass: see result_check
    std::vector<std::string> inputs{};    ///< for `verify`: .npy files; random tensors if there are none
    lowering_observer observer{};
    state_kind state = state_kind::refused;  ///< treatment of buffers that the program writes back
    bool streams = false;                    ///< for try_lowering: return a `stream`, not a `flatbuffer`
    bool strict = false;                     ///< integers that are not known to fit in 32 bits are refused
    bool any_order = false;                  ///< memory decides nothing: `report.memory` stays empty
};

/// Bytes and their owner. Copies share the bytes.
struct shared_bytes {
    std::shared_ptr<const void> owner{};
    std::span<const std::byte> bytes{};
};

struct lowered_model {
    shared_bytes flatbuffer;
    io_description io;
    lowering_report report;
    std::vector<std::string> warnings{};  ///< assumptions about inputs and values
};

/// The outcome for a model. It was lowered if there is a flatbuffer or a stream; otherwise `failure` is the
/// error, or `refusals` lists the nodes that cannot be lowered.
struct lowering_outcome {
    shared_bytes flatbuffer{};
    std::shared_ptr<const streamed_tosa> stream{};  ///< of `model`, which has its constants
    std::optional<error> failure{};
    pmr_vector<diagnostic> refusals{};
    std::vector<std::string> warnings{};  ///< assumptions about inputs and values
    program model{};           ///< in the state that the lowering reached: TOSA if there is a flatbuffer
    lowering_report report{};  ///< up to where the lowering came
};

/// Lowers an exported program as `headrace lower` does. If nodes cannot be lowered, the error is
/// `unsupported` and names each with the reason.
[[nodiscard]] result<lowered_model> lower_to_tosa(program model, const lowering_options& options = {});

/// Lowers an exported program, and returns everything that is known of a model that cannot be lowered. May be
/// called from several threads at once.
[[nodiscard]] lowering_outcome try_lowering(const program_source& source, const lowering_options& options);

/// Returns an error if the program writes to its buffers, at its end or in place, which a TOSA graph without
/// variables cannot do.
[[nodiscard]] result<void> refuse_mutations(const program& p);

}  // namespace headrace

#endif
