// SPDX-License-Identifier: MIT
// Declares headrace::read_pt2, the reader of what torch.export.save writes.
#ifndef HEADRACE_IO_PT2_HPP
#define HEADRACE_IO_PT2_HPP

#include <filesystem>

#include <headrace/base/result.hpp>
#include <headrace/io/dynamic_sizes.hpp>
#include <headrace/io/mapped_file.hpp>
#include <headrace/io/pt2_program.hpp>

namespace headrace {

/// Reads a .pt2 archive that has been mapped; `path` is for messages, which begin with it. Ops of no dialect
/// that is known become builtin::opaque. `choices` has the sizes that the export leaves open: one that it
/// lacks is an error.
[[nodiscard]] result<program> read_pt2(mapped_file file, const std::filesystem::path& path,
                                       const size_choices& choices = {});

/// The same, from a path.
[[nodiscard]] result<program> read_pt2(const std::filesystem::path& path, const size_choices& choices = {});

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/io/pt2_definition.hpp>
#endif

#endif
