// SPDX-License-Identifier: MIT
// The program as a process: standard streams, and signals that end it.
#ifndef HEADRACE_EXAMPLES_CLI_PROCESS_HPP
#define HEADRACE_EXAMPLES_CLI_PROCESS_HPP

#include <cstddef>
#include <string>

namespace headrace::cli {

/// Returns the path of this program; empty if the system does not tell.
[[nodiscard]] std::string program_path();

/// Counts the processors that this process may use.
[[nodiscard]] std::size_t processor_count();

/// Opens standard streams that the caller has closed. Otherwise the first file to be opened would get the
/// number of one, and printed text would go into it. From then on, writing to a pipe without a reader is an
/// error, not a signal.
void open_standard_streams();

/// Keeps freed memory: tensors are allocated and freed often during lowering, and the kernel clears new
/// memory.
void keep_freed_memory();

/// Removes temporary files when SIGINT, SIGTERM or SIGHUP end the program, unless they are ignored. Must be
/// called before any thread is started.
void remove_temporary_files_at_end();

/// Ends the program silently by SIGPIPE, as `headrace show | head` expects of each program in a pipe.
[[noreturn]] void end_without_reader();

/// Flushes standard output. Returns `status`, or the status for an output that cannot be written if nothing
/// else has failed. Ends the program if the output has no reader.
[[nodiscard]] int flush_output(int status);

}  // namespace headrace::cli

#endif
