// SPDX-License-Identifier: MIT
// Defines headrace::pt2::symbol_table, the sizes that an export leaves open and the values chosen for them.
#ifndef HEADRACE_IO_PT2_SYMBOLS_HPP
#define HEADRACE_IO_PT2_SYMBOLS_HPP

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/printable.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/io/dynamic_sizes.hpp>
#include <headrace/io/file/json.hpp>
#include <headrace/io/pt2/expression.hpp>

namespace headrace::pt2 {

/// The symbols of a program, their ranges and values. Functions throw failure.
class symbol_table {
public:
    /// Reads an export's 'range_constraints'. Ranges of formulas follow from those of their symbols.
    void read_ranges(std::string_view constraints, json_parser& json) {
        json_cursor at(constraints);
        at.members([&](std::string_view key) {
            const std::string name(json.text(key));
            const simdjson::dom::object range = json.parse_object(at.skip());
            if (!is_symbol(name)) return;
            dynamic_size& s = symbol(name);
            std::int64_t limit = 0;
            if (range["min_val"].get(limit) == simdjson::SUCCESS) s.lowest = limit;
            if (range["max_val"].get(limit) == simdjson::SUCCESS) s.highest = limit;
        });
        at.finish();
    }
    [[nodiscard]] bool empty() const { return symbols_.empty(); }

    /// Adds a size of an input, or an input that is a number, with its formula; `example` is its value when
    /// the program was exported.
    void add_size(std::string name, bool is_first_axis, std::string_view expression,
        std::optional<std::int64_t> example) {
        for (const std::string_view s : symbols_of(expression)) symbol(s).axes.push_back(name);
        axes_.push_back({std::move(name), is_first_axis, std::string(expression), example});
    }

    /// Sets the values of symbols: first those that are chosen, then, if asked for, those of the examples.
    /// Fails if a symbol of an input is left without a value.
    void choose(const size_choices& choices) {
        for (const chosen_size& c : choices.sizes) choose_one(c);
        if (choices.examples) {
            for (const axis& a : axes_) {
                if (a.example && !has_values(a.expression)) solve(a, *a.example);
            }
        }
        require_all();
    }

    [[nodiscard]] scalar evaluate(std::string_view expression) const {
        return evaluate_expression(expression, [this](std::string_view s) {
            const auto found = find(s);
            return found == symbols_.end() ? std::optional<std::int64_t>() : found->value;
        });
    }
    [[nodiscard]] const std::vector<dynamic_size>& symbols() const { return symbols_; }
    /// True if all symbols of a formula have values.
    [[nodiscard]] bool is_known(std::string_view expression) const { return has_values(expression); }

    /// Gives a value that was computed while reading to the only symbol of a formula that has none; false if
    /// several symbols have none, or if the formula then has another value.
    bool set_computed(std::string_view expression, std::int64_t value) {
        std::string_view open;
        for (const std::string_view s : symbols_of(expression)) {
            if (const auto found = find(s); found != symbols_.end() && found->value) continue;
            if (!open.empty()) return false;
            open = s;
        }
        if (open.empty()) return evaluate(expression).to_int() == value;
        symbol(open).value = value;
        return evaluate(expression).to_int() == value;
    }

private:
    struct axis {
        std::string name;
        bool is_first;
        std::string expression;
        std::optional<std::int64_t> example;
    };

    static bool is_symbol(std::string_view name) {
        return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
            return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        });
    }
    [[nodiscard]] std::vector<dynamic_size>::const_iterator find(std::string_view name) const {
        return std::ranges::find(symbols_, name, &dynamic_size::symbol);
    }
    dynamic_size& symbol(std::string_view name) {
        const auto found = std::ranges::find(symbols_, name, &dynamic_size::symbol);
        if (symbols_.size() == most_symbols) fail_malformed("it has too many dynamic sizes");
        return found != symbols_.end() ? *found : symbols_.emplace_back(dynamic_size{std::string(name)});
    }
    [[nodiscard]] bool has_values(std::string_view expression) const {
        return std::ranges::all_of(symbols_of(expression),
            [&](std::string_view s) { return find(s) != symbols_.end() && find(s)->value.has_value(); });
    }

    void choose_one(const chosen_size& c) {
        if (const auto a = std::ranges::find(axes_, c.name, &axis::name); a != axes_.end())
            return solve(*a, c.value);
        if (const auto s = find(c.name); s != symbols_.end()) return set(symbol(c.name), c.value, c.name);
        if (c.name == "batch") return choose_batch(c.value);
        std::string known;
        for (const axis& a : axes_) known += (known.empty() ? "" : ", ") + a.name;
        fail_unsupported("it has no dynamic size " + in_quotes(c.name) +
            (known.empty() ? ": all of its sizes are fixed" : "; it has " + known));
    }
    void choose_batch(std::int64_t value) {
        const axis* first = nullptr;
        for (const axis& a : axes_) {
            if (!a.is_first) continue;
            if (first != nullptr && first->expression != a.expression)
                fail_unsupported(
                    "'batch' may be " + first->name + " or " + a.name + ", which differ; name one");
            first = &a;
        }
        if (first == nullptr)
            fail_unsupported("it has no dynamic size 'batch': axis 0 of its inputs is fixed");
        solve(*first, value);
    }

    // Returns the size of an axis if all symbols without a value have this one.
    [[nodiscard]] std::int64_t size_with(const axis& a, std::int64_t value) const {
        return evaluate_expression(a.expression, [&](std::string_view s) {
            const auto found = find(s);
            return found == symbols_.end() ? std::optional<std::int64_t>() : found->value.value_or(value);
        }).to_int();
    }
    // Sizes of inputs are linear in their symbol (torch.export.Dim): two points determine which value gives
    // `wanted`.
    void solve(const axis& a, std::int64_t wanted) {
        std::string_view open;
        for (const std::string_view s : symbols_of(a.expression)) {
            if (find(s)->value) continue;
            if (!open.empty())
                fail_unsupported(a.name + " depends on " + std::string(open) + " and " + std::string(s) +
                    "; choose these");
            open = s;
        }
        const std::int64_t first = size_with(a, 1);
        const std::int64_t step = detail::subtract(size_with(a, 2), first);
        if (open.empty() || step == 0) {
            if (first != wanted)
                fail_unsupported(join_text("the size ", a.name, " is ", first, " then, not ", wanted));
            return;
        }
        const std::int64_t value =
            detail::add(1, detail::floor_quotient(detail::subtract(wanted, first), step));
        const std::int64_t nearest = size_with(a, value);
        if (nearest != wanted)
            fail_unsupported(join_text("the size ", a.name, " cannot be ", wanted, ", but ", nearest, " or ",
                detail::add(nearest, step)));
        set(symbol(open), value, a.name);
    }

    // PyTorch treats 0 and 1 as special and reports 2 as the minimum size, but does not demand it of inputs
    // either (torch._export.utils._check_input_constraints_for_graph).
    void set(dynamic_size& s, std::int64_t value, const std::string& name) const {
        const std::int64_t lowest = s.lowest > 2 ? s.lowest : 1;
        if (value < lowest || (s.highest && value > *s.highest))
            fail_unsupported("the size " + name + " is out of range: " + range_text(s));
        if (s.value && *s.value != value)
            fail_unsupported(join_text(
                "the size ", name, " is chosen twice: ", s.symbol, " is ", *s.value, " and ", value));
        s.value = value;
    }
    [[nodiscard]] static std::string range_text(const dynamic_size& s) {
        std::string text = s.symbol;
        if (s.axes.size() != 1 || s.axes[0] != s.symbol) {
            for (std::size_t i = 0; i != s.axes.size(); ++i) text += (i == 0 ? " (" : ", ") + s.axes[i];
            if (!s.axes.empty()) text += ')';
        }
        text += join_text(" is ", s.lowest);
        return text + (s.highest ? join_text(" to ", *s.highest) : std::string(" or more"));
    }

    void require_all() const {
        std::string open;
        std::string first;
        for (const dynamic_size& s : symbols_) {
            if (s.axes.empty() || s.value) continue;
            open += (open.empty() ? "" : ", ") + range_text(s);
            if (first.empty()) first = s.axes[0];
        }
        if (open.empty()) return;
        fail_unsupported("it has a dynamic size that is not chosen: " + open + "; choose with --dim " +
            first + "=SIZE, or export with static shapes");
    }

    std::vector<dynamic_size> symbols_;
    std::vector<axis> axes_;
};

}  // namespace headrace::pt2

#endif
