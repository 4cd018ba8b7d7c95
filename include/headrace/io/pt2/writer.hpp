// SPDX-License-Identifier: MIT
// Declares headrace::write_pt2, which writes programs that torch.export.load reads.
#ifndef HEADRACE_IO_PT2_WRITER_HPP
#define HEADRACE_IO_PT2_WRITER_HPP

#include <cstddef>
#include <string>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/io/program.hpp>

namespace headrace {

/// Returns the archive of a program, in version 8 of torch.export's schema. Every constant becomes a buffer;
/// inputs are a tuple of tensors, and so are outputs, unless there is one. Equal programs give equal bytes.
/// The signature has the values that the program writes back to buffers and inputs. Programs that hold nested
/// regions are refused, since those need more than the graph knows.
[[nodiscard]] result<std::vector<std::byte>> pt2_archive(const program& p);

/// Writes the archive to a file, whole or not at all.
[[nodiscard]] result<void> write_pt2(const std::string& path, const program& p);

}  // namespace headrace

#endif
