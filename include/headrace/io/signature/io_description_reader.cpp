// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/signature/io_description_reader.hpp.

#include <headrace/io/signature/io_description_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/printable.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/io/file/json.hpp>
#include <headrace/io/signature/io_description.hpp>

namespace headrace {

namespace {

// Returns a number, or the numbers of a list.
[[nodiscard]] std::vector<double> read_numbers(simdjson::dom::element json, const char* key) {
    simdjson::dom::array items;
    if (json[key].get(items) != simdjson::SUCCESS) return {json_get<double>(json, key)};
    std::vector<double> numbers;
    for (const simdjson::dom::element item : items) {
        double number = 0;
        if (item.get(number)) fail_malformed(join_text("'", key, "' has an element that is not a number"));
        numbers.push_back(number);
    }
    return numbers;
}

[[nodiscard]] io_device_numbers read_device_numbers(simdjson::dom::element json) {
    io_device_numbers d{read_numbers(json, "scale"), read_numbers(json, "zero_point")};
    if (d.scales.size() != d.zero_points.size())
        fail_malformed("a quantization has other numbers of scales and zero points");
    if (d.scales.size() != 1) d.axis = json_get<std::int64_t>(json, "axis");
    return d;
}

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
        bool is_raw = false;
        if (q["raw"].get(is_raw) == simdjson::SUCCESS && is_raw) {
            t.device = read_device_numbers(q);
        } else {
            t.quantization =
                signature_quantization{json_get<double>(q, "scale"), json_get<std::int64_t>(q, "zero_point"),
                    json_get<std::int64_t>(q, "qmin"), json_get<std::int64_t>(q, "qmax")};
        }
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

[[nodiscard]] io_description read_description(simdjson::dom::element json) {
    io_description io;
    for (const auto t : json_get<simdjson::dom::array>(json, "inputs"))
        io.inputs.push_back(read_io_tensor(t));
    for (const auto t : json_get<simdjson::dom::array>(json, "outputs"))
        io.outputs.push_back(read_io_tensor(t));
    return io;
}

}  // namespace

result<method_descriptions> read_method_descriptions(std::span<const std::byte> json) {
    method_descriptions all;
    try {
        std::pmr::monotonic_buffer_resource arena;
        json_parser parser(&arena);
        const padded_text text(json, json);
        const simdjson::dom::element root = parser.parse(text.view());
        simdjson::dom::object methods;
        if (root["methods"].get(methods) != simdjson::SUCCESS) {
            all.emplace("", read_description(root));
        } else {
            for (const auto& [name, io] : methods) all.emplace(name, read_description(io));
            if (all.empty()) fail_malformed("'methods' is empty");
        }
    } catch (const failure& f) {
        return f.what;
    }
    return all;
}

result<io_description> read_io_description(std::span<const std::byte> json, std::string_view method) {
    HEADRACE_TRY(all, read_method_descriptions(json));
    if (all.size() == 1 && (method.empty() || all.begin()->first.empty()))
        return std::move(all.begin()->second);
    const auto found = all.find(method);
    if (found != all.end()) return std::move(found->second);
    std::string known;
    for (const auto& [name, io] : all) (known += known.empty() ? "" : ", ") += printable(name);
    return malformed(join_text("it describes the methods ", known,
        method.empty() ? std::string(": name one of them") : join_text(", not ", printable(method))));
}

}  // namespace headrace
