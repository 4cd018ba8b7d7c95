// SPDX-License-Identifier: MIT
// Declares headrace::read_pt2, the reader of what torch.export.save writes.
#ifndef HEADRACE_IO_PT2_HPP
#define HEADRACE_IO_PT2_HPP

#include <filesystem>

#include <headrace/base/result.hpp>
#include <headrace/io/constant_truth.hpp>
#include <headrace/io/dynamic_sizes.hpp>
#include <headrace/io/mapped_file.hpp>
#include <headrace/io/pt2_program.hpp>

namespace headrace {

/// Reads a .pt2 archive that has been mapped; `path` is for messages, which begin with it. Ops of no dialect
/// that is known become builtin::opaque, and so do nodes that cannot be read, with an unread_reason
/// (ir/unread.hpp): refuse_unread (io/unread_nodes.hpp) makes an error of these. `choices` has the sizes that
/// the export leaves open: one that it lacks is an error. `truth` computes masks that are constants; without
/// it, what they select cannot be read.
[[nodiscard]] result<program> read_pt2(mapped_file file, const std::filesystem::path& path,
                                       const size_choices& choices = {}, constant_truth truth = nullptr);

/// Does this with a path.
[[nodiscard]] result<program> read_pt2(const std::filesystem::path& path, const size_choices& choices = {},
                                       constant_truth truth = nullptr);

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/io/pt2_definition.hpp>
#endif

#endif
