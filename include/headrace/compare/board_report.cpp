// SPDX-License-Identifier: MIT
// Defines headrace::board_report and headrace::board_json.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <headrace/base/printable.hpp>
#include <headrace/compare/board_comparison.hpp>
#include <headrace/io/file/json_writer.hpp>

namespace headrace {

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
    text += fmt::format("{} of {} tensors of the dump are equal; {} of the model are not in it\n",
        c.layers.size() - c.differing(), c.layers.size(), c.not_dumped);
    return text;
}

std::string board_json(const board_comparison& c) {
    json_writer w;
    w.begin_object();
    const board_layer* const first = c.first();
    w.key("first");
    first == nullptr ? w.value(nullptr) : w.value(first->name);
    w.member("differing", c.differing());
    w.member("not_dumped", c.not_dumped);
    w.begin_array("layers");
    for (const board_layer& l : c.layers) {
        w.begin_object();
        w.member("name", l.name);
        w.member("op", l.op);
        if (!l.source.empty()) w.member("source", l.source);
        w.member("dtype", name_of(l.type));
        w.member("shape", l.shape);
        w.member("elements", l.elements);
        w.member("differing", l.differing);
        if (l.differing != 0) {
            w.member("largest", l.largest);
            w.member("first", l.first);
            w.member("expected", l.expected);
            w.member("got", l.got);
            w.member("kind", l.kind);
            w.member("own", l.own);
        }
        w.end_object();
    }
    w.end_array();
    w.end_object();
    return std::move(w).text() + "\n";
}

}  // namespace headrace
