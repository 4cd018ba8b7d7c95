// SPDX-License-Identifier: MIT
// Declares headrace::read_model and headrace::load_model, which read a model in any format that Headrace
// knows, and headrace::model_inputs.
#ifndef HEADRACE_RUN_MODELS_HPP
#define HEADRACE_RUN_MODELS_HPP

#include <memory>
#include <string>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/eval/tensor.hpp>
#include <headrace/io/program.hpp>

namespace headrace {

class package;

/// Reads a .pt2 or .tosa file, or a graph's text (io/text/graph_text.hpp), distinguished by content, and
/// checks the metadata of each node. `choices` set the sizes that a .pt2 file leaves open. Nodes of a .pt2
/// file that nothing needs are dropped before any is judged; nodes that cannot be read are an error, which
/// names all of them. With `choices.examples`, which is for inspecting programs, all nodes are kept, even
/// unread ones. Errors begin with the path.
[[nodiscard]] result<program> read_model(const std::string& path, const size_choices& choices = {});

/// A program, and the package that holds its constants, if any.
struct loaded_model {
    loaded_model();
    loaded_model(loaded_model&&) noexcept;
    ~loaded_model();
    /// Returns an error if a file has shrunk since it was read; see mapped_file.
    [[nodiscard]] result<void> check() const;

    std::unique_ptr<package> source;
    program model;
};
/// Reads what read_model reads, or a method of a package. The method's name may be empty if there is only
/// one.
[[nodiscard]] result<loaded_model> load_model(
    const std::string& path, const std::string& method, const size_choices& choices = {});

/// Reads what load_model reads. `data` is the .ptd file of a .pte file; if it is empty and the .pte file has
/// external constants, the .ptd file of the same stem in its folder is read.
[[nodiscard]] result<loaded_model> load_model_with_data(const std::string& path, const std::string& method,
    const std::string& data, const size_choices& choices = {});

/// The signature that the tensors in a file belong to: that of the graph, or that of the exported program,
/// whose images are NCHW. Integers for real numbers suit both.
enum class signature_side : unsigned char { graph, exported };

/// Inputs in the form that the graph takes.
struct given_inputs {
    std::vector<tensor> tensors{};
    bool quantized_here = false;  ///< a file had real numbers, which were quantized as the graph says
};

/// Returns one tensor for each placeholder: from the given .npy files, in order, or random numbers of a fixed
/// seed if no file is given. Real numbers for a placeholder that takes integers are quantized as its
/// annotation says (ir/signature.hpp). Errors state the dtype that an input takes, with its scale and zero
/// point.
[[nodiscard]] result<given_inputs> read_inputs(
    const graph& g, const std::vector<std::string>& files, signature_side side = signature_side::graph);

/// Returns the error of an execution with random inputs: a valid model may have no result for them, if it
/// divides or indexes by them.
[[nodiscard]] error unfit_random_inputs(const error& e);

/// Returns only the tensors.
[[nodiscard]] result<std::vector<tensor>> model_inputs(const graph& g, const std::vector<std::string>& files);

}  // namespace headrace

#endif
