// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/text/graph_text.hpp.

#include <headrace/io/text/graph_text.hpp>

#include <cstddef>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/cortex_m.hpp>
#include <headrace/dialect/delegate.hpp>
#include <headrace/dialect/device.hpp>
#include <headrace/dialect/dim_order_ops.hpp>
#include <headrace/dialect/executorch.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/dialect/memory.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/io/file/atomic_file.hpp>
#include <headrace/io/file/json.hpp>
#include <headrace/io/file/zip_archive.hpp>
#include <headrace/io/file/zip_writer.hpp>
#include <headrace/io/text/cursor.hpp>
#include <headrace/io/text/opaque.hpp>
#include <headrace/io/text/reader.hpp>
#include <headrace/io/text/writer.hpp>
#include <headrace/memory/out_variant.hpp>

namespace headrace {

namespace text {

namespace {

[[nodiscard]] const op_info* find_op_of_headrace(std::string_view name) {
    return find_op<aten::dialect, quantized_decomposed::dialect, dim_order_ops::dialect, cortex_m::dialect,
        higher_order::dialect, delegate::dialect, device::dialect, tosa::dialect, memory::dialect,
        out::dialect, executorch::dialect, builtin::dialect>(name);
}

[[nodiscard]] std::string data_path(const std::string& path) { return path + ".data"; }

/// The data file next to a text, opened when the first constant is requested.
class data_file {
public:
    explicit data_file(std::string path) : path_(std::move(path)) {}

    result<std::span<const std::byte>> find(std::string_view key) {
        if (!archive_) {
            auto opened = open_mapped(path_);
            if (!opened)
                return malformed({opened.error().message,
                    ", and it has the constant's elements; copy it along with the text"});
            file_ = std::move(opened).value();
            auto archive = zip_archive::open(file_.bytes());
            if (!archive) return archive.error().in(path_);
            archive_.emplace(std::move(archive).value());
        }
        const zip_entry* const entry = archive_->find(key);
        if (entry == nullptr)
            return malformed({path_, " has no constant ", in_quotes(key),
                "; it is not the data file of this text; write both again"});
        auto bytes = archive_->view(*entry);
        if (!bytes) return bytes.error().in(path_);
        return bytes;
    }
    [[nodiscard]] mapped_file release() && { return std::move(file_); }

private:
    std::string path_;
    mapped_file file_;
    std::optional<zip_archive> archive_;
};

/// Writes the text, and the data file if there are constants for it.
[[nodiscard]] result<void> write_files(
    const std::string& path, const graph& g, const program* p, const graph_text_options& options) {
    constant_store store;
    HEADRACE_TRY(text, writer(options.inline_elements,
        {.constant = [&](storage&& s) { return key_text(store.add(std::move(s))); }}).write(g, p));
    if (!store.constants().empty()) {
        zip_writer zip;
        for (const auto& [key, bytes] : store.constants()) zip.add(key_text(key), bytes);
        HEADRACE_TRY(archive, zip.finish());
        if (p != nullptr) {
            HEADRACE_TRY(p->file.check());
        }
        HEADRACE_TRY(write_atomically(data_path(path), archive));
    }
    return write_atomically(path, options.heading + text);
}

}  // namespace

}  // namespace text

result<std::string> graph_text(const graph& g) {
    return text::writer(0, {}).write(g, nullptr);
}
result<std::string> graph_text(const program& p) {
    return text::writer(0, {}).write(*p.graph, &p);
}

result<std::string> graph_text(const graph& g, const graph_text_stores& stores) {
    const auto keep = [&](text::storage&& s) { return stores.constant(s.bytes); };
    return text::writer(0, {.constant = keep, .nested = stores.nested}).write(g, nullptr);
}

result<program> parse_graph_text(std::string_view text, const graph_text_sources& sources) {
    try {
        program p =
            text::reader(text, sources, &text::find_op_of_headrace).read();
        if (sources.find_own_op != nullptr) {
            if (const auto known = resolve_opaque(*p.graph, sources.find_own_op); !known)
                return known.error().in(sources.name);
        }
        return p;
    } catch (const failure& f) {
        return f.what;
    }
}

bool is_graph_text(std::span<const std::byte> bytes) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    text::cursor at(text, {});
    return at.accept_word("headrace");
}

result<void> write_graph_text(const std::string& path, const program& p, const graph_text_options& options) {
    return text::write_files(path, *p.graph, &p, options);
}
result<void> write_graph_text(const std::string& path, const graph& g, const graph_text_options& options) {
    return text::write_files(path, g, nullptr, options);
}

result<program> read_graph_text(const std::string& path, op_finder find_own_op) {
    HEADRACE_TRY(file, open_mapped(path));
    text::data_file data(text::data_path(path));
    auto read = parse_graph_text(
        file.text(), {path, find_own_op, [&](std::string_view key) { return data.find(key); }});
    HEADRACE_TRY(file.check());
    if (!read) return read.error();
    program p = std::move(read).value();
    p.file = std::move(data).release();
    return p;
}

}  // namespace headrace
