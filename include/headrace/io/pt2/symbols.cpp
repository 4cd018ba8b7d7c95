// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pt2/symbols.hpp.

#include <headrace/io/pt2/symbols.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>

#include <headrace/base/strings.hpp>
#include <headrace/io/dynamic_sizes.hpp>
#include <headrace/io/file/json.hpp>
#include <headrace/io/pt2/expression.hpp>

namespace headrace::pt2 {

void symbol_table::read_ranges(std::string_view constraints, json_parser& json) {
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

void symbol_table::add_size(
    std::string name, bool is_first_axis, std::string_view expression, std::optional<std::int64_t> example) {
    for (const std::string_view s : symbols_of(expression)) symbol(s).axes.push_back(name);
    axes_.push_back({std::move(name), is_first_axis, std::string(expression), example});
}

void symbol_table::choose(const size_choices& choices) {
    for (const chosen_size& c : choices.sizes) choose_one(c);
    if (choices.examples) {
        for (const axis& a : axes_) {
            if (a.example && !has_values(a.expression)) solve(a, *a.example);
        }
    }
    require_all();
}

scalar symbol_table::evaluate(std::string_view expression) const {
    return evaluate_expression(expression, [this](std::string_view s) {
        const auto found = find(s);
        return found == symbols_.end() ? std::optional<std::int64_t>() : found->value;
    });
}

bool symbol_table::set_computed(std::string_view expression, std::int64_t value) {
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

bool symbol_table::is_symbol(std::string_view name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    });
}

dynamic_size& symbol_table::symbol(std::string_view name) {
    const auto found = std::ranges::find(symbols_, name, &dynamic_size::symbol);
    if (symbols_.size() == most_symbols) fail_malformed("it has too many dynamic sizes");
    return found != symbols_.end() ? *found : symbols_.emplace_back(dynamic_size{std::string(name)});
}

bool symbol_table::has_values(std::string_view expression) const {
    return std::ranges::all_of(symbols_of(expression),
        [&](std::string_view s) { return find(s) != symbols_.end() && find(s)->value.has_value(); });
}

void symbol_table::choose_one(const chosen_size& c) {
    if (const auto a = std::ranges::find(axes_, c.name, &axis::name); a != axes_.end())
        return solve(*a, c.value);
    if (const auto s = find(c.name); s != symbols_.end()) return set(symbol(c.name), c.value, c.name);
    if (c.name == "batch") return choose_batch(c.value);
    std::string known;
    for (const axis& a : axes_) known += (known.empty() ? "" : ", ") + a.name;
    fail_unsupported("it has no dynamic size " + in_quotes(c.name) +
        (known.empty() ? ": all of its sizes are fixed" : "; it has " + known));
}

void symbol_table::choose_batch(std::int64_t value) {
    const axis* first = nullptr;
    for (const axis& a : axes_) {
        if (!a.is_first) continue;
        if (first != nullptr && first->expression != a.expression)
            fail_unsupported("'batch' may be " + first->name + " or " + a.name + ", which differ; name one");
        first = &a;
    }
    if (first == nullptr) fail_unsupported("it has no dynamic size 'batch': axis 0 of its inputs is fixed");
    solve(*first, value);
}

std::int64_t symbol_table::size_with(const axis& a, std::int64_t value) const {
    return evaluate_expression(a.expression, [&](std::string_view s) {
        const auto found = find(s);
        return found == symbols_.end() ? std::optional<std::int64_t>() : found->value.value_or(value);
    }).to_int();
}

void symbol_table::solve(const axis& a, std::int64_t wanted) {
    std::string_view open;
    for (const std::string_view s : symbols_of(a.expression)) {
        if (find(s)->value) continue;
        if (!open.empty())
            fail_unsupported(
                a.name + " depends on " + std::string(open) + " and " + std::string(s) + "; choose these");
        open = s;
    }
    const std::int64_t first = size_with(a, 1);
    const std::int64_t step = subtract(size_with(a, 2), first);
    if (open.empty() || step == 0) {
        if (first != wanted)
            fail_unsupported(join_text("the size ", a.name, " is ", first, " then, not ", wanted));
        return;
    }
    const std::int64_t value = add(1, floor_quotient(subtract(wanted, first), step));
    const std::int64_t nearest = size_with(a, value);
    if (nearest != wanted)
        fail_unsupported(join_text(
            "the size ", a.name, " cannot be ", wanted, ", but ", nearest, " or ", add(nearest, step)));
    set(symbol(open), value, a.name);
}

void symbol_table::set(dynamic_size& s, std::int64_t value, const std::string& name) const {
    const std::int64_t lowest = s.lowest > 2 ? s.lowest : 1;
    if (value < lowest || (s.highest && value > *s.highest))
        fail_unsupported("the size " + name + " is out of range: " + range_text(s));
    if (s.value && *s.value != value)
        fail_unsupported(
            join_text("the size ", name, " is chosen twice: ", s.symbol, " is ", *s.value, " and ", value));
    s.value = value;
}

std::string symbol_table::range_text(const dynamic_size& s) {
    std::string text = s.symbol;
    if (s.axes.size() != 1 || s.axes[0] != s.symbol) {
        for (std::size_t i = 0; i != s.axes.size(); ++i) text += (i == 0 ? " (" : ", ") + s.axes[i];
        if (!s.axes.empty()) text += ')';
    }
    text += join_text(" is ", s.lowest);
    return text + (s.highest ? join_text(" to ", *s.highest) : std::string(" or more"));
}

void symbol_table::require_all() const {
    std::string open;
    std::string first;
    for (const dynamic_size& s : symbols_) {
        if (s.axes.empty() || s.value) continue;
        open += (open.empty() ? "" : ", ") + range_text(s);
        if (first.empty()) first = s.axes[0];
    }
    if (open.empty()) return;
    fail_unsupported("it has a dynamic size that is not chosen: " + open + "; choose with --dim " + first +
        "=SIZE, or export with static shapes");
}

}  // namespace headrace::pt2
