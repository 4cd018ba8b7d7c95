// SPDX-License-Identifier: MIT
// Declares headrace::reducing::rebuild, which copies a program without some of its nodes, and
// headrace::reducing::resize, which copies it with other sizes.
#ifndef HEADRACE_REDUCE_REBUILD_HPP
#define HEADRACE_REDUCE_REBUILD_HPP

#include <cstdint>
#include <optional>
#include <vector>

#include <headrace/io/program.hpp>

namespace headrace::reducing {

/// The stand-in for the results of a node in a copy.
enum class stand_in : unsigned char {
    none,      ///< the node itself
    input,     ///< new inputs of their types
    ones,      ///< constants of their types, all elements 1
    zeros,     ///< constants, all elements 0
    operand,   ///< its first operand of that type and shape, else a new input
    same_type  ///< of an input: the first input of its type and shape
};

/// An operand that a node may have: a bias, for instance.
struct optional_operand {
    std::uint32_t node = 0;  ///< its id
    const field_info* field = nullptr;
};
/// Returns the optional operands that the nodes of a graph have, in order.
[[nodiscard]] std::vector<optional_operand> optional_operands(const graph& g);

/// How to copy a program.
struct rebuild_plan {
    std::vector<stand_in> stand_ins;          ///< by node id
    std::vector<bool> outputs{};              ///< which of the output node's values stay; empty: all
    std::vector<optional_operand> without{};  ///< operands that go, if types stay as they are
    bool adds_outputs = false;                ///< results that nothing reads any more become outputs
    bool forgets_write_backs = false;         ///< values that are written back become outputs of the user
};

/// Returns a copy as the plan says, without the nodes and inputs that nothing needs; nothing if no output is
/// left, or an op needs the operand that is to go. Constants and annotations still refer to the memory of
/// `from`, or of what it is a copy of.
[[nodiscard]] std::optional<program> rebuild(const program& from, const rebuild_plan& plan);

/// A size of inputs and constants that becomes smaller.
struct size_change {
    std::int64_t from = 0;
    std::int64_t to = 0;
    const node* only = nullptr;  ///< the only input or constant that changes; null: all
};

/// Returns a copy in which a size is smaller, with types inferred again; constants keep their first elements.
/// Nothing if an op refuses its new operands, or if the program has nested graphs.
[[nodiscard]] std::optional<program> resize(const program& from, const size_change& change);

}  // namespace headrace::reducing

#endif
