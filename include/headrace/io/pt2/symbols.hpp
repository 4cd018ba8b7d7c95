// SPDX-License-Identifier: MIT
// Defines headrace::pt2::symbol_table, the sizes that an export leaves open and the values chosen for them.
#ifndef HEADRACE_IO_PT2_SYMBOLS_HPP
#define HEADRACE_IO_PT2_SYMBOLS_HPP

#include <algorithm>
#include <cstdint>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/io/dynamic_sizes.hpp>
#include <headrace/io/file/json.hpp>
#include <headrace/op/value.hpp>

namespace headrace::pt2 {

/// The symbols of a program, their ranges and values. Functions throw failure.
class symbol_table {
public:
    /// Reads an export's 'range_constraints'. Ranges of formulas follow from those of their symbols.
    void read_ranges(std::string_view constraints, json_parser& json);
    [[nodiscard]] bool empty() const { return symbols_.empty(); }

    /// Adds a size of an input, or an input that is a number, with its formula; `example` is its value when
    /// the program was exported.
    void add_size(std::string name, bool is_first_axis, std::string_view expression,
        std::optional<std::int64_t> example);

    /// Sets the values of symbols: first those that are chosen, then, if asked for, those of the examples.
    /// Fails if a symbol of an input is left without a value.
    void choose(const size_choices& choices);

    [[nodiscard]] scalar evaluate(std::string_view expression) const;
    [[nodiscard]] const std::vector<dynamic_size>& symbols() const { return symbols_; }
    /// True if all symbols of a formula have values.
    [[nodiscard]] bool is_known(std::string_view expression) const { return has_values(expression); }

    /// Gives a value that was computed while reading to the only symbol of a formula that has none; false if
    /// several symbols have none, or if the formula then has another value.
    bool set_computed(std::string_view expression, std::int64_t value);

private:
    struct axis {
        std::string name;
        bool is_first;
        std::string expression;
        std::optional<std::int64_t> example;
    };

    static bool is_symbol(std::string_view name);
    [[nodiscard]] std::vector<dynamic_size>::const_iterator find(std::string_view name) const {
        return std::ranges::find(symbols_, name, &dynamic_size::symbol);
    }
    dynamic_size& symbol(std::string_view name);
    [[nodiscard]] bool has_values(std::string_view expression) const;

    void choose_one(const chosen_size& c);
    void choose_batch(std::int64_t value);

    // Returns the size of an axis if all symbols without a value have this one.
    [[nodiscard]] std::int64_t size_with(const axis& a, std::int64_t value) const;
    // Sizes of inputs are linear in their symbol (torch.export.Dim): two points determine which value gives
    // `wanted`.
    void solve(const axis& a, std::int64_t wanted);

    // PyTorch treats 0 and 1 as special and reports 2 as the minimum size, but does not demand it of inputs
    // either (torch._export.utils._check_input_constraints_for_graph).
    void set(dynamic_size& s, std::int64_t value, const std::string& name) const;
    [[nodiscard]] static std::string range_text(const dynamic_size& s);

    void require_all() const;

    std::vector<dynamic_size> symbols_;
    std::vector<axis> axes_;
};

}  // namespace headrace::pt2

#endif
