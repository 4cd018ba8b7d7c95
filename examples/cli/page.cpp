// SPDX-License-Identifier: MIT
#include "page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <headrace/base/target_text.hpp>
#include <headrace/compare/layer_values.hpp>
#include <headrace/io/file/atomic_file.hpp>
#include <headrace/io/file/mapped_file.hpp>
#include <headrace/passes/layout/remaining_transposes.hpp>

#include "page_parts.hpp"

namespace headrace::cli {

namespace {

// Vela's header line; nothing else in the file is relied on.
result<void> check_csv(std::string_view text, const std::string& path) {
    const std::string_view header = text.substr(0, text.find('\n'));
    if (header.find("Op Cycles") == std::string_view::npos || header.find("Name") == std::string_view::npos)
        return malformed(path +
            ": it has no columns 'Op Cycles' and 'Name'; Vela writes them to "
            "MODEL_per-layer.csv with --verbose-performance");
    return {};
}

std::string_view text_of(std::span<const unsigned char> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

result<void> write_parts(const std::string& path, std::span<const unsigned char> head,
    const std::string& json, std::span<const unsigned char> tail) {
    return write_atomically(path, [&](const byte_sink& sink) -> result<void> {
        if (sink(std::as_bytes(head)) && sink(std::as_bytes(std::span(json))))
            (void)sink(std::as_bytes(tail));
        return {};  // the sink knows why
    });
}

}  // namespace

result<void> check_page(const std::string& vela_csv) {
    if (page_head_size == 0)
        return unwritable(
            "this program was built without the page: install libjs-d3 and node-dagre-layout, "
            "and build it again");
    if (vela_csv.empty()) return {};
    HEADRACE_TRY(csv, open_mapped(vela_csv));
    return check_csv(csv.text(), vela_csv);
}

result<void> write_page(const std::string& path, page_source source, const std::string& vela_csv) {
    std::optional<mapped_file> csv;
    if (!vela_csv.empty()) {
        HEADRACE_TRY(opened, open_mapped(vela_csv));
        source.vela_csv = csv.emplace(std::move(opened)).text();
    }
    const std::string json = page_json(source);
    if (csv) {
        HEADRACE_TRY(csv->check());
    }
    return write_parts(path, {page_head_bytes, page_head_size}, json, {page_tail_bytes, page_tail_size});
}

result<void> write_book(const std::string& path, page_book book) {
    book.page_head = text_of({page_head_bytes, page_head_size});
    book.page_tail = text_of({page_tail_bytes, page_tail_size});
    return write_parts(
        path, {book_head_bytes, book_head_size}, page_json(book), {book_tail_bytes, book_tail_size});
}

lowering_observer page_collector::observer(bool is_wanted) {
    lowering_observer watching;
    if (!is_wanted) return watching;
    watching.before_passes = [this](graph& g) -> result<void> {
        entries_.push_back(std::make_unique<entry>(entry{.watched = &g}));
        entries_.back()->history.begin(g);
        return {};
    };
    watching.after_pass = [this](const pass_record& pass, graph& g) -> result<void> {
        entry_of(g).history.add(pass, g);
        return {};
    };
    watching.after_passes = [this](
                                graph& g, std::span<const diagnostic> refusals) { return end(g, refusals); };
    return watching;
}

// A graph that has gone may have left its place to another: the last one that began is meant.
page_collector::entry& page_collector::entry_of(const graph& g) {
    const auto found =
        std::find_if(entries_.rbegin(), entries_.rend(), [&](const auto& e) { return e->watched == &g; });
    return **found;
}

result<void> page_collector::end(graph& g, std::span<const diagnostic> refusals) {
    entry& e = entry_of(g);
    lowering_report report;
    report.target = target_text(g.target());
    report.transposes_left = remaining_transposes(g);
    e.json = page_json({.title = "",
        .last = &g,
        .history = &e.history,
        .report = is_lowered(g) ? &report : nullptr,
        .refusals = refusals});
    e.history = {};
    return {};
}

std::vector<page_book::chapter> page_collector::chapters(const std::vector<std::string>& titles) && {
    std::vector<page_book::chapter> all;
    for (std::unique_ptr<entry>& e : entries_) {
        const std::size_t i = all.size();
        if (e->json.empty()) continue;  // an error ended its lowering
        all.push_back({i < titles.size() ? titles[i] : fmt::format("graph {}", i), std::move(e->json)});
    }
    return all;
}

}  // namespace headrace::cli
