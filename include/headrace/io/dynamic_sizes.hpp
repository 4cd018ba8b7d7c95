// SPDX-License-Identifier: MIT
// Defines headrace::dynamic_size, a size that an export leaves open, and headrace::size_choices.
#ifndef HEADRACE_IO_DYNAMIC_SIZES_HPP
#define HEADRACE_IO_DYNAMIC_SIZES_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headrace {

/// A size that an exported program leaves open, a symbol such as s77, and what was chosen for it.
struct dynamic_size {
    std::string symbol;
    std::vector<std::string> axes{};  ///< axes of the inputs that have this size: "x:0" is axis 0 of x
    std::int64_t lowest = 1;
    std::optional<std::int64_t> highest{};  ///< none: no limit
    std::optional<std::int64_t> value{};
};

/// The size chosen for one dynamic size of an exported program.
struct chosen_size {
    /// An axis of an input ("x:0"), "batch" for axis 0 of the inputs, or a symbol of the export ("s77").
    std::string name;
    std::int64_t value = 0;
};

/// The sizes chosen for a program whose export leaves them open.
struct size_choices {
    std::vector<chosen_size> sizes{};
    bool examples = false;  ///< sizes not chosen are those that the program was exported with
};

}  // namespace headrace

#endif
