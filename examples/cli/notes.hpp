// SPDX-License-Identifier: MIT
// Notes and warnings about a model that has been read.
#ifndef HEADRACE_EXAMPLES_CLI_NOTES_HPP
#define HEADRACE_EXAMPLES_CLI_NOTES_HPP

#include <string>

#include <headrace/base/result.hpp>
#include <headrace/io/program.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::cli {

/// Prints what the reader has left out of a program, unless the program is quiet.
void say_notes(const std::string& model, const graph& g);

/// Warns about inputs that the program writes in place; a lowered program does not write them.
void warn_of_written_inputs(const std::string& model, const program& p);

/// Warns about nodes that behave differently in training, and are executed as in inference.
void warn_of_training(const graph& g);

/// Fails if the model was read from a .pte file. What its graph does not have would be lost in what is made of
/// it: first values of states, other methods, memories, devices, and fields of newer schemas.
[[nodiscard]] result<void> refuse_lowered(const std::string& path, const program& model);

}  // namespace headrace::cli

#endif
