// SPDX-License-Identifier: MIT
#include "board_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <headrace/base/printable.hpp>

#include "messages.hpp"

namespace headrace::cli {

namespace {

std::string place_text(const board_layer& l) {
    return l.source.empty() ? "" : fmt::format(" ({})", std::string_view(printable(l.source)));
}

std::string first_text(const board_layer& l) {
    return fmt::format(
        "the first layer that differs: {}, {}{}\n"
        "  {} [{}]: {} of {} elements differ, by at most {:.6g}\n"
        "  first at [{}]: {:.9g} expected, {:.9g} on the board\n"
        "  {}\n",
        std::string_view(printable(l.name)), std::string_view(printable(l.op)), place_text(l),
        name_of(l.type), fmt::join(l.shape, ", "), l.differing, l.elements, l.largest,
        fmt::join(l.first, ", "), l.expected, l.got, l.kind);
}

std::string line_text(const board_layer& l) {
    return fmt::format("  {:<32} {:<24} {:>9} of {:<9} {:>9.4g}  {}\n", std::string_view(printable(l.name)),
        std::string_view(printable(l.op)), l.differing, l.elements, l.largest,
        l.own == 0 ? "only what it was given" : fmt::format("{} by itself: {}", l.own, l.kind));
}

}  // namespace

std::string board_report(const board_comparison& c, std::size_t top) {
    const board_layer* const first = c.first();
    std::string text;
    if (first != nullptr) {
        text += first_text(*first);
        const std::size_t later = c.differing() - 1;
        std::size_t own = 0, shown = 0;
        for (const board_layer& l : c.layers) own += &l != first && l.own != 0 ? 1 : 0;
        if (later != 0) text += fmt::format("{} later differ, {} of them by themselves:\n", later, own);
        for (const board_layer& l : c.layers) {
            if (&l == first || l.differing == 0 || (top != 0 && shown == top)) continue;
            text += line_text(l);
            ++shown;
        }
    }
    if (first == nullptr && c.differing() != 0)
        text += fmt::format("{} differ by what the roundings of floats before them explain\n",
            counted(c.differing(), "tensor"));
    text += fmt::format("{} of {} tensors of the dump are equal; {} of the model are not in it\n",
        c.layers.size() - c.differing(), c.layers.size(), c.not_dumped);
    return text;
}

std::string format_times(
    const timed_layers& t, const measured_times& measured, const predicted_times& predicted) {
    std::string text = fmt::format("{:<40} {:>14} {:>14} {:>8}\n", "layer", "predicted",
        fmt::format("{} measured", measured.unit), "ratio");
    double all = 0;
    for (const timed_layer& l : t.layers) {
        all += l.measured;
        const auto ratio = l.ratio(t.scale);
        text += fmt::format("{:<40} {:>14} {:>14.6g} {:>8}\n", std::string_view(printable(l.name)),
            l.predicted ? fmt::format("{:.6g}", *l.predicted * t.scale) : "", l.measured,
            ratio ? fmt::format("{:.2f}", *ratio) : "");
    }
    text += fmt::format("{:.6g} {} in {} layers", all, measured.unit, t.layers.size());
    if (!predicted.layers.empty()) text += fmt::format("; predicted are {}", predicted.of);
    if (t.scale != 1) text += fmt::format(", {:.4g} {} each", t.scale, measured.unit);
    return text + '\n';
}

}  // namespace headrace::cli
