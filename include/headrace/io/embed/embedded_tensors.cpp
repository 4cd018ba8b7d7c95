// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/embed/embedded_tensors.hpp.

#include <headrace/io/embed/embedded_tensors.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <headrace/base/dtype.hpp>
#include <headrace/base/result.hpp>
#include <headrace/base/sizes.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/io/file/c_text.hpp>
#include <headrace/io/signature/io_description.hpp>
#include <headrace/io/vela/output.hpp>

namespace headrace {

namespace {

[[nodiscard]] result<std::int32_t> checked_int32(std::int64_t wide) {
    using limits = std::numeric_limits<std::int32_t>;
    if (wide < limits::min() || wide > limits::max())
        return malformed(join_text(wide, " is not a 32-bit integer"));
    return static_cast<std::int32_t>(wide);
}

}  // namespace

namespace embed {

result<embedded_tensor> embedded(const io_tensor& from) {
    embedded_tensor t{.name = from.name, .dtype = tosa_type_name(from.dtype)};
    std::uint64_t elements = 1;
    for (const std::int64_t size : from.shape) {
        HEADRACE_TRY(extent, checked_int32(size));
        t.shape.push_back(extent);
        const bool sound =
            extent >= 0 && !__builtin_mul_overflow(elements, static_cast<std::uint64_t>(extent), &elements);
        if (!sound || elements > std::numeric_limits<std::uint32_t>::max())
            return malformed("a shape that no 32-bit memory holds");
    }
    t.bytes = storage_bytes(from.dtype, elements);
    if (!from.quantization) return t;
    t.scale = from.quantization->scale;
    if (!std::isfinite(static_cast<float>(t.scale))) return malformed("a scale that no float holds");
    HEADRACE_TRY(zero_point, checked_int32(from.quantization->zero_point));
    HEADRACE_TRY(lowest, checked_int32(from.quantization->lowest));
    HEADRACE_TRY(highest, checked_int32(from.quantization->highest));
    t.zero_point = zero_point;
    t.lowest = lowest;
    t.highest = highest;
    return t;
}

result<std::vector<embedded_tensor>> embedded(const std::vector<io_tensor>& tensors) {
    std::vector<embedded_tensor> all;
    for (const io_tensor& t : tensors) {
        HEADRACE_TRY(made, embedded(t));
        all.push_back(std::move(made));
    }
    return all;
}

result<void> place(std::vector<embedded_tensor>& tensors, const std::vector<arena_tensor>& places) {
    const auto same_size = [](const embedded_tensor& t, const arena_tensor& p) { return t.bytes == p.bytes; };
    if (!std::equal(tensors.begin(), tensors.end(), places.begin(), places.end(), same_size))
        return malformed("its inputs and outputs are not those that --io describes");
    for (std::size_t i = 0; i != tensors.size(); ++i) tensors[i].arena_offset = places[i].offset;
    return {};
}

std::string tensor_table(const std::string& prefix, const std::vector<embedded_tensor>& tensors) {
    std::string shapes;
    std::string rows;
    for (std::size_t i = 0; i != tensors.size(); ++i) {
        const embedded_tensor& t = tensors[i];
        std::string shape = "NULL";
        if (!t.shape.empty()) {
            shape = join_text(prefix, '_', i, "_shape");
            shapes += join_text("static const int32_t ", shape, "[] = {");
            for (std::size_t d = 0; d != t.shape.size(); ++d)
                shapes += join_text(d == 0 ? "" : ", ", t.shape[d]);
            shapes += "};\n";
        }
        std::array<char, 32> scale{};
        std::array<char, 32> exact{};
        std::snprintf(scale.data(), scale.size(), "%.8ef", static_cast<double>(static_cast<float>(t.scale)));
        std::snprintf(exact.data(), exact.size(), "%.16e", t.scale);
        rows += join_text("    {", c_string_literal(t.name), ", ", c_string_literal(t.dtype), ", ", shape,
            ", ", t.shape.size(), ", ", t.arena_offset, ", ", t.bytes, ", ", scale.data(), ", ", t.zero_point,
            ", ", t.lowest, ", ", t.highest, ", ", exact.data(), "},\n");
    }
    if (tensors.empty()) return {};
    return join_text(shapes, "static const struct headrace_tensor ", prefix, "s[] = {\n", rows, "};\n\n");
}

}  // namespace embed

result<void> check_embeddable(const io_description& io) {
    HEADRACE_TRY(embed::embedded(io.inputs));
    HEADRACE_TRY(embed::embedded(io.outputs));
    return {};
}

}  // namespace headrace
