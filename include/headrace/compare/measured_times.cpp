// SPDX-License-Identifier: MIT
// Defines the functions of headrace/compare/measured_times.hpp.

#include <headrace/compare/measured_times.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>

#include <headrace/base/printable.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/io/file/json_writer.hpp>

namespace headrace {

namespace {

constexpr std::string_view name_columns[] = {"layer", "name", "node", "id"};
constexpr std::string_view counts[] = {"cycles", "instructions"};
constexpr std::string_view time_columns[] = {"cycles", "instructions", "us", "microseconds", "ms", "ns"};

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r\"");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r\"") + 1 - first);
}

std::vector<std::string_view> columns_of(std::string_view line) {
    std::vector<std::string_view> fields;
    for (std::size_t at = 0; at <= line.size();) {
        const std::size_t end = std::min(line.find(',', at), line.size());
        fields.push_back(trimmed(line.substr(at, end - at)));
        at = end + 1;
    }
    return fields;
}

// Returns the position of the first column that has one of the names; SIZE_MAX if there is none.
std::size_t find_column(
    const std::vector<std::string_view>& columns, std::span<const std::string_view> names) {
    const auto found = std::ranges::find_if(
        columns, [&](std::string_view c) { return std::ranges::find(names, c) != names.end(); });
    return found == columns.end() ? SIZE_MAX : static_cast<std::size_t>(found - columns.begin());
}

std::optional<double> time_of(std::string_view text) {
    double found = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), found);
    const bool is_number = fault == std::errc() && end == text.data() + text.size();
    if (!is_number || !std::isfinite(found) || found < 0) return std::nullopt;
    return found;
}

// A count of cycles and one of instructions are compared as they are.
bool are_counts(std::string_view a, std::string_view b) {
    const auto is_count = [](std::string_view unit) {
        return std::ranges::find(counts, unit) != std::end(counts);
    };
    return is_count(a) && is_count(b);
}

}  // namespace

result<measured_times> read_measured_times(std::string_view csv) {
    measured_times read;
    std::map<std::string, std::size_t, std::less<>> places;
    std::size_t name = SIZE_MAX, time = SIZE_MAX, line_number = 0;
    for (std::size_t at = 0; at < csv.size();) {
        const std::size_t end = std::min(csv.find('\n', at), csv.size());
        const std::string_view line = trimmed(csv.substr(at, end - at));
        at = end + 1;
        ++line_number;
        if (line.empty()) continue;
        const auto fields = columns_of(line);
        if (name == SIZE_MAX) {
            name = find_column(fields, name_columns);
            time = find_column(fields, time_columns);
            if (name == SIZE_MAX || time == SIZE_MAX)
                return malformed(join_text("line ", line_number,
                    ": the first row must name the columns: one of ",
                    "layer, name, node and id, and one of cycles, instructions, us, microseconds, ms and ns"));
            read.unit = fields[time];
            continue;
        }
        if (std::max(name, time) >= fields.size())
            return malformed(join_text("line ", line_number, ": it has ", fields.size(), " columns, and ",
                std::max(name, time) + 1, " are needed"));
        const auto number = time_of(fields[time]);
        if (!number)
            return malformed(join_text(
                "line ", line_number, ": ", printable(fields[time]), " is no number of ", read.unit));
        const auto [place, is_new] = places.try_emplace(std::string(fields[name]), read.layers.size());
        if (is_new) read.layers.emplace_back(fields[name], 0);
        read.layers[place->second].second += *number;
    }
    if (read.layers.empty()) return malformed("it has no row with a time");
    return read;
}

timed_layers pair_times(const measured_times& measured, const predicted_times& predicted) {
    timed_layers paired;
    double sum = 0, expected = 0;
    for (const auto& [name, time] : measured.layers) {
        timed_layer& made = paired.layers.emplace_back(timed_layer{.name = name, .measured = time});
        const auto found = predicted.layers.find(name);
        if (found == predicted.layers.end()) continue;
        made.predicted = found->second;
        sum += time;
        expected += found->second;
    }
    if (!are_counts(measured.unit, predicted.unit) && expected > 0 && sum > 0) paired.scale = sum / expected;
    const auto difference = [&](const timed_layer& l) {
        return l.predicted ? std::abs(l.measured - *l.predicted * paired.scale)
                           : l.measured - std::numeric_limits<double>::max();
    };
    std::ranges::stable_sort(paired.layers, std::ranges::greater(), difference);
    return paired;
}

std::string measured_json(const measured_times& measured) {
    json_writer w(json_style::compact);
    w.begin_object();
    w.member("unit", measured.unit);
    w.begin_array("layers");
    for (const auto& [name, time] : measured.layers) {
        w.begin_array();
        w.value(name);
        w.value(time);
        w.end_array();
    }
    w.end_array();
    w.end_object();
    return std::move(w).text();
}

}  // namespace headrace
