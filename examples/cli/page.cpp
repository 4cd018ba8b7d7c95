// SPDX-License-Identifier: MIT
#include "page.hpp"

#include <optional>
#include <span>
#include <utility>

#include <headrace/io/atomic_file.hpp>
#include <headrace/io/mapped_file.hpp>

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
    return boost::outcome_v2::success();
}

std::string_view text_of(const mapped_file& file) {
    return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

}  // namespace

result<void> check_page(const std::string& vela_csv) {
    if (page_head_size == 0)
        return unwritable(
            "this program was built without the page: install libjs-d3 and node-dagre-layout, "
            "and build it again");
    if (vela_csv.empty()) return boost::outcome_v2::success();
    BOOST_OUTCOME_TRY(csv, open_mapped(vela_csv));
    return check_csv(text_of(csv), vela_csv);
}

result<void> write_page(const std::string& path, page_source source, const std::string& vela_csv) {
    std::optional<mapped_file> csv;
    if (!vela_csv.empty()) {
        BOOST_OUTCOME_TRY(opened, open_mapped(vela_csv));
        source.vela_csv = text_of(csv.emplace(std::move(opened)));
    }
    const std::string json = page_json(source);
    if (csv) {
        BOOST_OUTCOME_TRY(csv->check());
    }
    return write_atomically(path, [&](const byte_sink& sink) -> result<void> {
        const std::span head(page_head_bytes, page_head_size);
        const std::span tail(page_tail_bytes, page_tail_size);
        if (sink(std::as_bytes(head)) && sink(std::as_bytes(std::span(json))))
            (void)sink(std::as_bytes(tail));
        return boost::outcome_v2::success();  // the sink knows why
    });
}

}  // namespace headrace::cli
