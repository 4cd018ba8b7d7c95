// SPDX-License-Identifier: MIT
// Defines headrace::read_model, which reads a model of any kind that Headrace knows, and
// headrace::model_inputs.
#ifndef HEADRACE_LOWERING_MODELS_HPP
#define HEADRACE_LOWERING_MODELS_HPP

#include <memory>
#include <string>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/eval/tensor.hpp>
#include <headrace/io/pt2_program.hpp>

namespace headrace {

class package;

// models_definition.hpp defines these functions, with the readers of all formats: include it in exactly one
// translation unit of a program, as well as execution_definition.hpp.

/// Reads a .pt2 or a .tosa file, or a graph's text (io/graph_text.hpp), told apart by their content, and
/// checks the metadata of each node. `choices` are for what a .pt2 file leaves open. Of a .pt2 file, nodes
/// that nothing needs are dropped before any is judged; a node that cannot be read is an error, which names
/// all of them. With `choices.examples`, which is for looking at programs, all nodes are kept, even unread
/// ones. Errors begin with the path.
[[nodiscard]] result<program> read_model(const std::string& path, const size_choices& choices = {});

/// A program, and the package that its constants lie in if it comes from one.
struct loaded_model {
    loaded_model();
    loaded_model(loaded_model&&) noexcept;
    ~loaded_model();
    /// An error if a file has become shorter since it was read, see mapped_file.
    [[nodiscard]] result<void> check() const;

    std::unique_ptr<package> source;
    program model;
};
/// Reads what read_model reads, or a method of a package. The method's name may be empty if there is one.
[[nodiscard]] result<loaded_model> load_model(const std::string& path, const std::string& method,
                                              const size_choices& choices = {});

/// Whose tensors a file has: those that the graph takes, or those of the exported program that it was made
/// from, whose images are NCHW. Integers for real numbers fit both.
enum class interface_side : unsigned char { graph, exported };

/// Inputs as the graph takes them.
struct given_inputs {
    std::vector<tensor> tensors{};
    bool quantized_here = false;  ///< a file had real numbers, and the graph says how they are quantized
};

/// One tensor for each placeholder: the given .npy files, in order, or numbers from a fixed seed if no file
/// is given. Real numbers for a placeholder that takes integers are quantized as its annotation says
/// (ir/signature.hpp). An error says which elements an input takes, and with which scale and zero point.
[[nodiscard]] result<given_inputs> read_inputs(const graph& g, const std::vector<std::string>& files,
                                               interface_side side = interface_side::graph);

/// Only the tensors.
[[nodiscard]] result<std::vector<tensor>> model_inputs(const graph& g, const std::vector<std::string>& files);

}  // namespace headrace

#endif
