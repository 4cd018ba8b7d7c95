// SPDX-License-Identifier: MIT
// Declares headrace::read_pt2, which reads the archives of torch.export.save.
#ifndef HEADRACE_IO_PT2_PT2_HPP
#define HEADRACE_IO_PT2_PT2_HPP

#include <filesystem>

#include <headrace/base/result.hpp>
#include <headrace/io/dynamic_sizes.hpp>
#include <headrace/io/file/mapped_file.hpp>
#include <headrace/io/program.hpp>
#include <headrace/io/pt2/constant_truth.hpp>

namespace headrace {

/// Reads a mapped .pt2 archive; `path` is for messages, which begin with it. Ops that no dialect knows become
/// builtin::opaque, and so do nodes that cannot be read, with an unread_reason (ir/unread.hpp): refuse_unread
/// (io/unread_nodes.hpp) turns these into an error. `choices` has the sizes that the export leaves open: a
/// missing one is an error. `truth` computes masks that are constants; without it, nodes that select by a
/// mask cannot be read.
[[nodiscard]] result<program> read_pt2(mapped_file file, const std::filesystem::path& path,
    const size_choices& choices = {}, constant_truth truth = nullptr);

/// Reads the archive at a path, as above.
[[nodiscard]] result<program> read_pt2(
    const std::filesystem::path& path, const size_choices& choices = {}, constant_truth truth = nullptr);

}  // namespace headrace

#endif
