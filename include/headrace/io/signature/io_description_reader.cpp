// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/signature/io_description_reader.hpp.

#include <headrace/io/signature/io_description_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string_view>

#include <headrace/io/file/json.hpp>
#include <headrace/io/signature/io_description.hpp>

namespace headrace {

namespace {

[[nodiscard]] io_tensor read_io_tensor(simdjson::dom::element json) {
    io_tensor t;
    t.name = json_get<std::string_view>(json, "name");
    const auto type = json_get<std::string_view>(json, "dtype");
    t.dtype = dtype_of_tosa_name(type);
    if (t.dtype == dtype::unknown) fail_malformed("TOSA has no dtype " + in_quotes(type));
    for (const simdjson::dom::element size : json_get<simdjson::dom::array>(json, "shape")) {
        std::int64_t extent = 0;
        if (size.get(extent) || extent < 0)
            fail_malformed("a shape has a size that is not an integer of 0 or more");
        t.shape.push_back(extent);
    }
    simdjson::dom::element q;
    if (json["quantization"].get(q) == simdjson::SUCCESS) {
        t.quantization =
            signature_quantization{json_get<double>(q, "scale"), json_get<std::int64_t>(q, "zero_point"),
                json_get<std::int64_t>(q, "qmin"), json_get<std::int64_t>(q, "qmax")};
    }
    std::string_view exported;
    if (json["exported_dtype"].get(exported) == simdjson::SUCCESS) {
        t.exported = dtype_of_tosa_name(exported);
        if (t.exported == dtype::unknown) fail_malformed("there is no dtype " + in_quotes(exported));
    }
    std::string_view layout;
    t.channels_last = json["layout"].get(layout) == simdjson::SUCCESS && layout == "NHWC";
    std::string_view state;
    if (json["state"].get(state) == simdjson::SUCCESS) t.state = state;
    return t;
}

}  // namespace

result<io_description> read_io_description(std::span<const std::byte> json) {
    io_description io;
    try {
        std::pmr::monotonic_buffer_resource arena;
        json_parser parser(&arena);
        const padded_text text(json, json);
        const simdjson::dom::element all = parser.parse(text.view());
        for (const auto t : json_get<simdjson::dom::array>(all, "inputs"))
            io.inputs.push_back(read_io_tensor(t));
        for (const auto t : json_get<simdjson::dom::array>(all, "outputs"))
            io.outputs.push_back(read_io_tensor(t));
    } catch (const failure& f) {
        return f.what;
    }
    return io;
}

}  // namespace headrace
