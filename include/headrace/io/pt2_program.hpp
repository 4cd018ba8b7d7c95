// SPDX-License-Identifier: MIT
// Defines headrace::program, what a .pt2 file holds.
#ifndef HEADRACE_IO_PT2_PROGRAM_HPP
#define HEADRACE_IO_PT2_PROGRAM_HPP

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <headrace/io/dynamic_sizes.hpp>
#include <headrace/io/mapped_file.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// A value that the program writes back when it ends.
struct mutation {
    enum class kind_type : unsigned char { buffer, parameter, user_input };
    kind_type kind = kind_type::buffer;
    std::string name;          ///< of the buffer, the parameter or the input that is written
    std::size_t position = 0;  ///< of the new value among the output node's values
    std::string tensor{};      ///< the graph's name for what is written; only what is read is in the graph
};

/// An exported program. Its placeholders are the tensors among the user's inputs, in order; constants view
/// the file. The output node's values are the user's outputs, in order, then those of the mutations.
struct program {
    mapped_file file;
    std::unique_ptr<headrace::graph> graph;
    std::size_t user_outputs = 0;
    std::vector<mutation> mutations;
    std::string torch_version;
    std::vector<dynamic_size> sizes;  ///< that the export left open
};

}  // namespace headrace

#endif
