// SPDX-License-Identifier: MIT
// Defines headrace::program, the contents of a .pt2 file.
#ifndef HEADRACE_IO_PROGRAM_HPP
#define HEADRACE_IO_PROGRAM_HPP

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <headrace/io/dynamic_sizes.hpp>
#include <headrace/io/file/mapped_file.hpp>
#include <headrace/io/stream_signature.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// A value that the program writes back when it ends.
struct mutation {
    enum class kind_type : unsigned char { buffer, parameter, user_input };
    kind_type kind = kind_type::buffer;
    std::string name;          ///< name of the buffer, parameter or input that is written
    std::size_t position = 0;  ///< position of the new value among the output node's values
    std::string tensor{};      ///< the written tensor's name in the graph, if the graph reads it
};

/// An exported program. Its placeholders are the tensors among the user's inputs, in order; constants view
/// the file. The output node's values are the user's outputs, in order, then those of the mutations.
struct program {
    mapped_file file;
    std::unique_ptr<headrace::graph> graph;
    std::size_t user_outputs = 0;
    std::vector<mutation> mutations;
    std::string torch_version;
    std::vector<dynamic_size> sizes;           ///< left open by the export
    std::optional<stream_signature> stream{};  ///< of a program that computes a step
};

}  // namespace headrace

#endif
