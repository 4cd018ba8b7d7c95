// SPDX-License-Identifier: MIT
// Writes a C function that runs a model, and its header.
#include <headrace/firmware/c_interface.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include <headrace/firmware/source_text.hpp>
#include <headrace/io/file/c_text.hpp>
#include <headrace/version.hpp>

namespace headrace::firmware {

namespace {

// A tensor of the function: a parameter, and macros with its description.
struct parameter {
    std::string name, macro;  // x, KWS_X
    const io_tensor* tensor = nullptr;
    on_device::tensor type{};
    bool is_input = false;

    // C has no float of 16 bits everywhere: such elements are converted as they are copied.
    [[nodiscard]] std::string c_type() const {
        if (is_floating(type.type)) return "float";
        std::string_view spelled = format_type(type.type);
        if (spelled.starts_with("std::")) spelled.remove_prefix(5);
        return std::string(spelled);
    }
    [[nodiscard]] std::string text() const {
        return fmt::format("{}{}* {}", is_input ? "const " : "", c_type(), name);
    }
};

std::string upper(std::string text) {
    std::ranges::transform(text, text.begin(),
        [](char c) { return 'a' <= c && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    return text;
}

std::vector<parameter> parameters_of(const model_header& model, const std::string& name) {
    std::vector<parameter> all;
    identifiers names;
    for (const char* taken : {"arena", "made", "port", "i"}) static_cast<void>(names.make(taken));
    const auto add = [&](const std::vector<io_tensor>& tensors, const std::vector<place>& places,
                         bool is_input) {
        for (std::size_t i = 0; i != places.size(); ++i) {
            const std::string known = names.make(tensors[i].name);
            all.push_back({known, upper(name + '_' + known), &tensors[i], places[i].type, is_input});
        }
    };
    add(model.io.inputs, model.layers.inputs, true);
    add(model.io.outputs, model.layers.outputs, false);
    return all;
}

std::string prototype(const std::vector<parameter>& all, const std::string& name) {
    std::string text = fmt::format("int {}_run(void* arena", name);
    for (const parameter& p : all) text += ", " + p.text();
    return text + ')';
}

std::string header_of(
    const model_header& model, const header_options& options, const std::vector<parameter>& all) {
    const std::string macro = upper(options.name);
    std::string text = fmt::format(
        "/* {}: {} for {}, by headrace {}. Generated: lower the model again instead of editing this. */\n"
        "#ifndef HEADRACE_MODEL_{}_H\n#define HEADRACE_MODEL_{}_H\n\n#include <stdbool.h>\n#include "
        "<stdint.h>\n\n"
        "#define {}_ARENA_BYTES {} /* aligned to 16 bytes */\n",
        options.name, c_comment(options.model), options.core.name, version, macro, macro, macro,
        model.report.arena.bytes);
    for (const parameter& p : all) {
        text += fmt::format("#define {}_COUNT {}\n", p.macro, p.type.elements());
        if (!p.tensor->quantization) continue;
        text += fmt::format("#define {}_SCALE {}\n#define {}_ZERO_POINT ({})\n", p.macro,
            p.tensor->quantization->scale, p.macro, p.tensor->quantization->zero_point);
    }
    return text +
        fmt::format(
            "\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n"
            "/* One inference. Returns 0, or 1 if the arena is null or not aligned to 16 bytes. */\n"
            "{};\n\n#ifdef __cplusplus\n}}\n#endif\n\n#endif\n",
            prototype(all, options.name));
}

std::string source_of(const model_header& model, const header_options& options,
    const std::vector<parameter>& all, std::string_view header_name) {
    std::string text = fmt::format("{}\n#include \"{}\"\n\n#include <cstdint>\n\n", model.text, header_name);
    text += fmt::format(
        "static_assert({}::model::arena_bytes <= {}_ARENA_BYTES);\n\nextern \"C\" {} {{\n"
        "    if (arena == nullptr || reinterpret_cast<std::uintptr_t>(arena) % 16 != 0) return 1;\n"
        "    {}::model made(static_cast<std::byte*>(arena));\n",
        options.name, upper(options.name), prototype(all, options.name), options.name);
    const auto copy = [&](bool is_input) {
        std::size_t i = 0;
        for (const parameter& p : all) {
            if (p.is_input != is_input) continue;
            const std::string port = fmt::format("made.{}<{}>()", is_input ? "input" : "output", i++);
            text += fmt::format(
                "    {{\n        const auto port = {};\n        for (std::size_t i = 0; i != port.size(); "
                "++i) {} = "
                "{};\n    }}\n",
                port, is_input ? "port[i]" : p.name + "[i]", is_input ? p.name + "[i]" : "port[i]");
        }
    };
    copy(true);
    text += "    made.run();\n";
    copy(false);
    return text + "    return 0;\n}\n";
}

}  // namespace

result<c_interface> write_c_interface(
    const model_header& model, const header_options& options, std::string_view header_name) {
    if (model.report.arena.state_bytes != 0)
        return unsupported(
            "the model has a state, for which a C function has no place: give -o a name that "
            "ends in .hpp, and call its C++ type");
    if (model.banks && model.banks->arenas.size() > 1)
        return unsupported(
            "a C function takes one arena, and the memory map has the model's tensors in several banks: give -o "
            "a name that ends in .hpp");
    const std::vector<parameter> all = parameters_of(model, options.name);
    return c_interface{source_of(model, options, all, header_name), header_of(model, options, all)};
}

}  // namespace headrace::firmware
