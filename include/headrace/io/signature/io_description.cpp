// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/signature/io_description.hpp.

#include <headrace/io/signature/io_description.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/infer/ranges/quantized_range.hpp>
#include <headrace/io/file/json_writer.hpp>
#include <headrace/io/signature/device_numbers.hpp>
#include <headrace/io/signature/graph_signature.hpp>
#include <headrace/ir/exported_types.hpp>
#include <headrace/ir/state.hpp>

namespace headrace {

namespace {

io_device_numbers numbers_of(const device_numbers& d) {
    io_device_numbers made{{d.factors.begin(), d.factors.end()}, {}, d.axis};
    for (std::size_t c = 0; c != d.factors.size(); ++c)
        made.zero_points.push_back(d.offsets[c] == 0 ? 0.0 : -d.offsets[c] / d.factors[c]);
    return made;
}

}  // namespace

io_description describe_io(const graph& g) {
    const auto describe = [](const std::vector<signature_tensor>& tensors) {
        std::vector<io_tensor> all;
        for (const signature_tensor& t : tensors) {
            io_tensor& made = all.emplace_back();
            made.name = t.name;
            made.dtype = t.dtype();
            made.shape.assign(t.meta.shape.begin(), t.meta.shape.end());
            if (t.quantization != nullptr) made.quantization = *t.quantization;
            made.channels_last = t.channels_last;
        }
        return all;
    };
    io_description io{describe(signature_inputs(g)), describe(signature_outputs(g))};
    std::size_t i = 0;
    for (const node& n : g.inputs()) {
        if (const auto* s = n.find_annotation<input_state>()) io.inputs[i].state = s->name;
        if (const auto* d = n.find_annotation<device_numbers>()) io.inputs[i].device = numbers_of(*d);
        ++i;
    }
    const auto* states = g.output()->find_annotation<output_states>();
    for (i = 0; states != nullptr && i != std::min(states->names.size(), io.outputs.size()); ++i)
        io.outputs[i].state = states->names[i];
    const auto* exported = g.output()->find_annotation<exported_output_types>();
    if (exported == nullptr || exported->types.size() != io.outputs.size()) return io;
    for (i = 0; i != io.outputs.size(); ++i) {
        io_tensor& t = io.outputs[i];
        if (!t.quantization && exported->types[i] != t.dtype) t.exported = exported->types[i];
    }
    return io;
}

std::string tosa_type_name(dtype t) {
    switch (t) {
        case dtype::boolean:
            return "BOOL";
        case dtype::float32:
            return "FP32";
        case dtype::float16:
            return "FP16";
        case dtype::bfloat16:
            return "BF16";
        case dtype::float8_e4m3:
            return "FP8E4M3";
        case dtype::float8_e5m2:
            return "FP8E5M2";
        default:
            break;
    }
    std::string name(name_of(t));
    for (char& c : name) {
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    return name;
}

dtype dtype_of_tosa_name(std::string_view name) {
    for (std::size_t i = 0; i != dtype_count; ++i) {
        if (tosa_type_name(static_cast<dtype>(i)) == name) return static_cast<dtype>(i);
    }
    return dtype::unknown;
}

namespace {

// Writes a whole number as an integer, as other zero points are.
void write_number(json_writer& w, double x) {
    const double rounded = std::nearbyint(x);
    const bool is_whole = std::abs(x - rounded) < 1e-6 && std::abs(x) < 1e15;
    is_whole ? w.value(static_cast<std::int64_t>(rounded)) : w.value(x);
}

void write_device_numbers(json_writer& w, const io_device_numbers& d, dtype type) {
    w.begin_object("quantization");
    if (d.scales.size() == 1) {
        w.member("scale", d.scales.front());
        w.key("zero_point");
        write_number(w, d.zero_points.front());
    } else {
        w.member("scale", d.scales);
        w.begin_array("zero_point");
        for (const double x : d.zero_points) write_number(w, x);
        w.end_array();
        w.member("axis", d.axis);
    }
    const auto [lowest, highest] = detail::range_of_integers(type);
    w.member("qmin", lowest);
    w.member("qmax", highest);
    w.member("raw", true);
    w.end_object();
}

void write_io_tensors(json_writer& w, std::string_view key, std::span<const io_tensor> tensors) {
    w.begin_array(key);
    for (const io_tensor& t : tensors) {
        w.begin_object();
        w.member("name", t.name);
        w.member("dtype", tosa_type_name(t.dtype));
        w.member("shape", t.shape);
        if (t.quantization) {
            w.begin_object("quantization");
            w.member("scale", t.quantization->scale);
            w.member("zero_point", t.quantization->zero_point);
            w.member("qmin", t.quantization->lowest);
            w.member("qmax", t.quantization->highest);
            w.end_object();
        }
        if (t.device) write_device_numbers(w, *t.device, t.dtype);
        if (t.exported != dtype::unknown) w.member("exported_dtype", tosa_type_name(t.exported));
        if (t.channels_last) w.member("layout", "NHWC");
        if (!t.state.empty()) w.member("state", t.state);
        w.end_object();
    }
    w.end_array();
}

// Writes into an object that has begun, and ends it.
void write_description(json_writer& w, const io_description& io) {
    write_io_tensors(w, "inputs", io.inputs);
    write_io_tensors(w, "outputs", io.outputs);
    w.end_object();
}

}  // namespace

std::string io_json(const io_description& io, json_style style) {
    json_writer w(style);
    w.begin_object();
    write_description(w, io);
    return std::move(w).text();
}

std::string io_json(const method_descriptions& methods, json_style style) {
    json_writer w(style);
    w.begin_object();
    w.begin_object("methods");
    for (const auto& [name, io] : methods) {
        w.begin_object(name);
        write_description(w, io);
    }
    w.end_object();
    w.end_object();
    return std::move(w).text();
}

}  // namespace headrace
