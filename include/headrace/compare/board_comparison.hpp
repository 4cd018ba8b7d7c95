// SPDX-License-Identifier: MIT
// Declares headrace::compare_with_board, which finds the first layer that a board computed differently.
#ifndef HEADRACE_COMPARE_BOARD_COMPARISON_HPP
#define HEADRACE_COMPARE_BOARD_COMPARISON_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/eval/tensor.hpp>
#include <headrace/io/board/dump.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// A tensor that both the board and the CPU have.
struct board_layer {
    std::string name{};  ///< of the value in the TOSA flatbuffer
    std::string op{};
    std::string source{};  ///< "net.py:42" if the model says it
    dtype type = dtype::unknown;
    std::vector<std::int64_t> shape{};
    std::size_t elements = 0;
    std::size_t differing = 0;          ///< elements that differ
    double largest = 0;                 ///< the largest difference
    std::vector<std::int64_t> first{};  ///< the index of the first element that differs
    double expected = 0, got = 0;       ///< there
    std::string kind{};                 ///< a guess at the fault
    /// Elements that differ from what the layer gives for the board's own operands: 0 if it passes on the
    /// difference of another layer.
    std::size_t own = 0;
};

struct board_comparison {
    std::vector<board_layer> layers{};  ///< in the order of execution; inputs are layers, too
    std::size_t not_dumped = 0;         ///< results of operators that the dump does not have

    /// Returns the first layer that differs by itself, or null. Floats that differ by a rounding may become
    /// other booleans and integers.
    [[nodiscard]] const board_layer* first() const;
    [[nodiscard]] std::size_t differing() const;
};

/// Returns "instruction 3", or "instruction 3, result 1", the name of a value in a .pte file.
[[nodiscard]] std::string instruction_text(std::uint32_t number, std::uint32_t result);

/// Returns the values of a graph with their names, which are those of its flatbuffer; values of a .pte file
/// are named after their instructions. Constants are left out.
[[nodiscard]] std::vector<std::pair<std::string, value>> named_values(const graph& g);

/// Returns the line of the source for a value's name and node; empty if it is not known.
using source_finder = std::function<std::string(std::string_view name, const node& n)>;

/// Executes the graph and compares each value that the board dumped. The inputs are those of `inputs`, or if
/// there are none, those of the dump. Errors name the record: no value of that name, another size, a name
/// twice, no input.
[[nodiscard]] result<board_comparison> compare_with_board(const graph& g,
    std::span<const board_record> records, const std::optional<std::vector<tensor>>& inputs,
    const source_finder& source_of);

/// Returns all figures as JSON.
[[nodiscard]] std::string board_json(const board_comparison& c);

}  // namespace headrace

#endif
