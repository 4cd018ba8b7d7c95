// SPDX-License-Identifier: MIT
// Defines the functions of headrace/compare/comparison_report.hpp.

#include <headrace/compare/comparison_report.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <headrace/base/strings.hpp>
#include <headrace/base/text.hpp>
#include <headrace/io/file/json_writer.hpp>
#include <headrace/ir/time_step.hpp>

namespace headrace {

namespace {

// Returns a figure that is larger for worse layers.
double badness(const layer_comparison& l, comparison_order by) {
    switch (by) {
        case comparison_order::own:
            return -l.own_sqnr;
        case comparison_order::sqnr:
            return -l.sqnr;
        case comparison_order::difference:
            return l.largest_difference;
        case comparison_order::cosine:
            return -l.cosine;
        case comparison_order::saturated:
            return l.saturated;
        case comparison_order::model:
            break;
    }
    return 0;
}

void write_layer(json_writer& w, const layer_comparison& l) {
    w.begin_object();
    w.member("name", l.name);
    w.member("op", l.op);
    w.member("other", l.other);
    if (!l.source.empty()) w.member("source", l.source);
    if (!l.module.empty()) w.member("module", l.module);
    w.member("shape", l.shape);
    w.member("sqnr_db", l.sqnr);
    w.member("own_sqnr_db", l.own_sqnr);
    w.member("largest_difference", l.largest_difference);
    w.member("cosine", l.cosine);
    w.member("saturated", l.saturated);
    w.member("fitted", l.fitted);
    w.member("output", l.is_output);
    w.end_object();
}

// Writes the lines of time steps, if there are any.
void write_steps(json_writer& w, const model_comparison& c, comparison_order by) {
    std::vector<comparison_line> steps = comparison_lines(c, by);
    std::erase_if(steps, [&](const comparison_line& l) { return !step_in_name(c.layers[l.layers[0]].name); });
    if (steps.empty()) return;
    w.begin_array("steps");
    for (const comparison_line& l : steps) {
        const layer_comparison& worst = c.layers[l.layers[0]];
        w.begin_object();
        w.member("name", l.name);
        w.member("layers", l.layers.size());
        w.member("worst", worst.name);
        w.member("sqnr_db", worst.sqnr);
        w.member("own_sqnr_db", worst.own_sqnr);
        w.end_object();
    }
    w.end_array();
}

std::string_view color_of(double decibels) {
    struct shade {
        double above;
        std::string_view color;
    };
    static constexpr std::array shades{
        shade{40, "#b7e1a1"}, shade{30, "#dcedc8"}, shade{20, "#fff59d"}, shade{10, "#ffcc80"}};
    for (const shade& s : shades) {
        if (decibels > s.above) return s.color;
    }
    return "#ef9a9a";
}

std::string format_decibels(double decibels) {
    if (std::isinf(decibels)) return decibels > 0 ? "equal" : "noise alone";
    return std::string(number_text(std::round(decibels * 10) / 10)) + " dB";
}

}  // namespace

result<comparison_order> parse_comparison_order(std::string_view text) {
    static constexpr std::array<std::string_view, 6> names{
        "own", "sqnr", "difference", "cosine", "saturated", "model"};
    const auto at = std::ranges::find(names, text);
    if (at != names.end()) return static_cast<comparison_order>(at - names.begin());
    return malformed("layers are sorted by own, sqnr, difference, cosine, saturated or model");
}

std::vector<std::size_t> sorted_layers(const model_comparison& c, comparison_order by) {
    std::vector<std::size_t> places(c.layers.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::ranges::stable_sort(
        places, std::ranges::greater(), [&](std::size_t i) { return badness(c.layers[i], by); });
    return places;
}

std::vector<comparison_line> comparison_lines(const model_comparison& c, comparison_order by) {
    std::vector<comparison_line> lines;
    std::map<named_step, std::size_t> of_step;
    for (const std::size_t i : sorted_layers(c, by)) {
        const std::string& name = c.layers[i].name;
        const auto step = step_in_name(name);
        if (!step) {
            lines.push_back({name, {i}});
            continue;
        }
        const auto [at, is_new] = of_step.try_emplace(*step, lines.size());
        if (is_new)
            lines.push_back({join_text(step->network, ", step ", step->step, " of ", step->steps), {}});
        lines[at->second].layers.push_back(i);
    }
    return lines;
}

std::string comparison_json(const model_comparison& c, comparison_order by) {
    json_writer w;
    w.begin_object();
    w.member("samples", c.samples);
    if (!c.machine.empty()) w.member("machine", c.machine);
    w.member("reference_layers", c.reference_layers);
    w.member("other_layers", c.other_layers);
    w.begin_array("layers");
    for (const std::size_t i : sorted_layers(c, by)) write_layer(w, c.layers[i]);
    w.end_array();
    write_steps(w, c, by);
    w.end_object();
    return w.text();
}

std::string comparison_dot(const model_comparison& c) {
    std::string out = "digraph comparison {\n  node [shape=box, style=filled, fontname=\"sans-serif\"]\n";
    for (std::size_t i = 0; i != c.layers.size(); ++i) {
        const layer_comparison& l = c.layers[i];
        std::string label;
        append_json(label, l.name);  // escaped for Graphviz: names are printable
        label.pop_back();
        label += join_text(
            "\\n", l.op, "\\n", format_decibels(l.sqnr), ", adds at ", format_decibels(l.own_sqnr), "\"");
        out += join_text("  l", i, " [label=", label, ", fillcolor=\"", color_of(l.sqnr), "\"]\n");
        for (const std::size_t from : l.inputs) out += join_text("  l", from, " -> l", i, "\n");
    }
    return out += "}\n";
}

}  // namespace headrace
