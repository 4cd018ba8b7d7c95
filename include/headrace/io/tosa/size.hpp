// SPDX-License-Identifier: MIT
// Defines an upper bound of the size of a graph's flatbuffer.
#ifndef HEADRACE_IO_TOSA_SIZE_HPP
#define HEADRACE_IO_TOSA_SIZE_HPP

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>

#include <headrace/base/result.hpp>
#include <headrace/base/text.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/io/tosa/format.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/regions.hpp>

namespace headrace::tosa_file {

/// Returns the data of a node if it is a constant of either dialect, else null.
[[nodiscard]] inline const tensor_data* constant_data(const node& n) {
    if (is<builtin::constant>(n)) return &args_of<builtin::constant>(n).data;
    if (is<tosa::const_>(n)) return &args_of<tosa::const_>(n).data;
    return nullptr;
}

// More than any operator takes with its tensor, names and attributes, not counting constant data and the
// characters of names.
inline constexpr std::size_t tosa_operator_bytes = 200;
// The format's offsets have 31 bits.
inline constexpr std::uint64_t largest_tosa_file = (std::uint64_t{1} << 31) - 1;

[[nodiscard]] inline std::pmr::string too_large_text(std::string_view what, std::uint64_t bytes) {
    return text_of({what, bytes, " bytes; a TOSA file holds at most ", largest_tosa_file,
        ", as its offsets have 31 bits: quantize the weights, or split the model into several"});
}

inline std::uint64_t tosa_attribute_bytes(const node& n) {
    std::uint64_t bytes = 0;
    for (const field_info& f : *n.op) {
        if (f.kind == field_kind::integers && !f.optional) {
            bytes += 8 * detail::member_at<int_list>(n.arguments, f).size();
        } else if (f.kind == field_kind::text && !f.optional) {
            bytes += detail::member_at<std::string_view>(n.arguments, f).size() + 8;
        }
    }
    const tensor_meta* meta = n.result_count == 1 ? n.results[0].meta : nullptr;
    if (meta != nullptr && constant_data(n) != nullptr) {
        const auto elements =
            static_cast<std::uint64_t>(meta->checked_elements().value_or(largest_tosa_file));
        bytes += elements > largest_tosa_file ? largest_tosa_file : storage_bytes(meta->dtype, elements) + 16;
    }
    if (is<tosa::variable>(n)) {
        const auto& v = args_of<tosa::variable>(n);
        const auto elements = tensor_meta{v.type, v.shape, {}}.checked_elements().value_or(0);
        const bool has_data = v.initial_value.bytes != nullptr;
        bytes += has_data ? storage_bytes(v.type, static_cast<std::uint64_t>(elements)) + 16 : 0;
    }
    return bytes;
}

// Returns an upper bound of the file's size, so that the buffer never grows: growing would hold the constants
// twice.
[[nodiscard]] inline result<std::size_t> file_size_bound(const graph& g) {
    std::uint64_t bytes = 4096;
    for_each_graph(g, [&](const graph& region) {
        for (const node& n : region.nodes()) {
            std::uint64_t name_bytes = 0;
            for (const result_slot& r : std::span(n.results, n.result_count)) {
                name_bytes += r.name.size();
                bytes += 64 + (r.meta ? 4 * r.meta->rank() : 0);
            }
            if (const auto* origin = n.find_annotation<provenance>()) name_bytes += origin->node_name.size();
            // Constants are named after an operator that reads them.
            bytes += tosa_operator_bytes + name_bytes + (48 + name_bytes) * n.operand_count;
            bytes += tosa_attribute_bytes(n);
        }
    });
    if (bytes > largest_tosa_file)
        return unsupported(too_large_text("the TOSA file would take up to ", bytes));
    return static_cast<std::size_t>(bytes);
}

}  // namespace headrace::tosa_file

#endif
