// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/text/node_text.hpp.

#include <headrace/io/text/node_text.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <headrace/io/text/elements.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/strided_walk.hpp>

namespace headrace {

std::string small_constant_text(const node& n) {
    constexpr std::int64_t max_elements = 16;
    const tensor_meta* const meta = n.results[0].meta;
    const tensor_data& data = args_of<builtin::constant>(n).data;
    if (meta == nullptr || data.bytes == nullptr) return {};
    const dtype_traits& traits = traits_of(meta->dtype);
    if (traits.bits == 0 || traits.category == dtype_category::complex) return {};
    const std::int64_t count = meta->checked_elements().value_or(max_elements + 1);
    if (count > max_elements) return {};
    std::pmr::string out = "[";
    // The span's length is not used: the reader has checked that the elements are there.
    const std::span<const std::byte> bytes(data.bytes, std::size_t{1});
    const auto put = [&](std::int64_t position) {
        if (out.size() != 1) out += ", ";
        text::append_element(out, bytes, meta->dtype, static_cast<std::uint64_t>(position));
    };
    if (data.strides.empty()) {
        for (std::int64_t i = 0; i != count; ++i) put(i);
    } else {
        for_each_position(meta->shape, data.strides, put);
    }
    return std::string(out) + "]";
}

}  // namespace headrace
