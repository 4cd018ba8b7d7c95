// SPDX-License-Identifier: MIT
// What the program does as a process: standard streams, and signals that end it.
#ifndef HEADRACE_EXAMPLES_CLI_PROCESS_HPP
#define HEADRACE_EXAMPLES_CLI_PROCESS_HPP

namespace headrace::cli {

/// Gives standard streams that the caller has closed a place of their own. Otherwise the first file to be
/// opened would get the number of one, and what is printed would go into it. To write to a pipe that nobody
/// reads is an error from then on, not a signal.
void open_standard_streams();

/// Keeps memory that is freed: tensors come and go while a model is lowered, and the kernel clears what it
/// gives anew.
void keep_freed_memory();

/// Removes temporary files before SIGINT, SIGTERM or SIGHUP end the program, unless they are ignored. To be
/// called before any thread is started.
void remove_temporary_files_at_end();

/// Writes what is left to be written to standard output. Returns `status`, or that of an output which cannot
/// be written if that is so and nothing else has failed.
[[nodiscard]] int flush_output(int status);

}  // namespace headrace::cli

#endif
