// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pt2/tensor.hpp.

#include <headrace/io/pt2/tensor.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <headrace/io/file/json.hpp>
#include <headrace/io/pt2/symbols.hpp>
#include <headrace/ir/tensor_meta.hpp>

namespace headrace::pt2 {

dtype read_dtype(std::int64_t number) {
    const dtype type = dtype_of(number);
    if (type == dtype::unknown)
        fail_unsupported("no such element type: ScalarType " + std::to_string(number));
    return type;
}

namespace {

/// Reads a SymInt: a number, or a formula over symbols that have values.
[[nodiscard]] std::int64_t read_size(
    simdjson::dom::element e, const char* what, const symbol_table& symbols) {
    std::int64_t number = 0;
    if (std::string_view formula; e["as_expr"]["expr_str"].get(formula) == simdjson::SUCCESS) {
        number = symbols.evaluate(formula).to_int();
    } else if (e["as_int"].get(number)) {
        fail_malformed(std::string("a ") + what + " is not an integer");
    }
    if (number < 0) fail_malformed(std::string("it has a negative ") + what + ", " + std::to_string(number));
    return number;
}

[[nodiscard]] extents read_sizes(
    const simdjson::dom::object& meta, const char* key, const char* what, const symbol_table& symbols) {
    extents read;
    for (const simdjson::dom::element e : json_get<simdjson::dom::array>(meta, key)) {
        if (read.count == largest_rank) fail_malformed("it has more than 64 dimensions");
        read.items[read.count++] = read_size(e, what, symbols);
    }
    return read;
}

}  // namespace

void complete(tensor_layout& layout) {
    constexpr std::int64_t widest_element = 16;
    if (layout.sizes.count != layout.strides.count)
        fail_malformed("it does not have as many strides as sizes");
    // Zeros are left out, so that no product of some of the sizes overflows either.
    std::int64_t bytes = widest_element;
    for (const std::int64_t size : layout.sizes.span()) {
        if (size != 0 && __builtin_mul_overflow(bytes, size, &bytes)) fail_malformed("it is too large");
    }
    layout.elements = tensor_meta{layout.dtype, layout.sizes.span(), {}}.elements();
}

tensor_layout read_layout(const simdjson::dom::object& meta, const symbol_table& symbols) {
    constexpr std::int64_t strided = 7;
    tensor_layout read;
    if (json_get<std::int64_t>(meta, "layout") != strided) fail_unsupported("it is not a strided tensor");
    read.dtype = read_dtype(json_get<std::int64_t>(meta, "dtype"));
    read.sizes = read_sizes(meta, "sizes", "size", symbols);
    read.strides = read_sizes(meta, "strides", "stride", symbols);
    simdjson::dom::element offset;
    if (meta["storage_offset"].get(offset)) fail_malformed("'storage_offset' is missing");
    // A storage offset that is known only at run time, as of a view, does not matter here.
    std::string_view formula;
    const bool open =
        offset["as_expr"]["expr_str"].get(formula) == simdjson::SUCCESS && !symbols.is_known(formula);
    read.offset = open ? 0 : read_size(offset, "storage offset", symbols);
    complete(read);
    return read;
}

tensor_meta meta_of_layout(const tensor_layout& layout, extents& order) {
    tensor_meta meta{layout.dtype, layout.sizes.span(), {}};
    if (layout.is_row_major()) return meta;
    order.count = layout.sizes.count;
    for (std::size_t i = 0; i != order.count; ++i) order.items[i] = static_cast<std::int64_t>(i);
    const auto stride_of = [&](std::int64_t d) { return layout.stride(static_cast<std::size_t>(d)); };
    const auto last = order.items.begin() + static_cast<std::ptrdiff_t>(order.count);
    std::stable_sort(order.items.begin(), last, [&](auto a, auto b) { return stride_of(a) > stride_of(b); });
    if (layout.is_dense([&](std::size_t i) { return static_cast<std::size_t>(order.items[i]); })) {
        meta.dim_order = order.span();
    }
    return meta;
}

}  // namespace headrace::pt2
