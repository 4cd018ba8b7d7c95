// SPDX-License-Identifier: MIT
// `headrace embed`: a C source that takes a model into a firmware image, and the header that describes it.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include <headrace/base/dtype.hpp>
#include <headrace/io/atomic_file.hpp>
#include <headrace/io/mapped_file.hpp>
#include <headrace/partition/named_data_store.hpp>
#include <headrace/version.hpp>

#include "commands.hpp"
#include "contract.hpp"
#include "files.hpp"
#include "report.hpp"
#include "vela_output.hpp"

namespace headrace::cli {

namespace {

using nlohmann::json;

struct io_tensor {
    std::string name;
    std::string dtype;
    std::vector<std::int32_t> shape;
    std::uint64_t bytes = 0;
    std::uint64_t arena_offset = 0;
    float scale = 0;
    std::int32_t zero_point = 0;
    std::int32_t lowest = 0;
    std::int32_t highest = 0;
};
struct io_description {
    std::vector<io_tensor> inputs;
    std::vector<io_tensor> outputs;
};

/// Bytes of the embedded file that get a symbol.
struct symbol {
    std::string name;
    std::uint64_t offset;
    std::uint64_t size;
};

struct embedding {
    std::string name;
    std::string file;
    std::uint64_t checksum = 0;
    std::vector<symbol> symbols;
    std::optional<io_description> io;
    std::optional<vela_output> vela;
};

// Of C, C++ and the assembler. Octal codes have three digits always, so that no character after one is taken
// for a part of it. A question mark could begin a trigraph.
std::string string_literal(std::string_view text) {
    std::string literal = "\"";
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            literal += {'\\', c};
        } else if (c == '\n') {
            literal += "\\n";
        } else if (code >= 0x20 && code < 0x7f && c != '?') {
            literal += c;
        } else {
            literal += fmt::format("\\{:03o}", code);
        }
    }
    return literal + '"';
}

std::int32_t checked_int32(const json& number) {
    const auto wide = number.get<std::int64_t>();
    if (wide < std::numeric_limits<std::int32_t>::min() || wide > std::numeric_limits<std::int32_t>::max())
        throw std::out_of_range(fmt::format("{} is not a 32-bit integer", wide));
    return static_cast<std::int32_t>(wide);
}

io_tensor read_tensor(const json& j) {
    io_tensor t;
    t.name = j.at("name").get<std::string>();
    t.dtype = j.at("dtype").get<std::string>();
    const dtype type = dtype_of_tosa_name(t.dtype);
    if (type == dtype::unknown) throw std::out_of_range("no dtype of TOSA is called " + t.dtype);
    std::uint64_t elements = 1;
    for (const json& size : j.at("shape")) {
        t.shape.push_back(checked_int32(size));
        const bool sound =
            t.shape.back() >= 0 &&
            !__builtin_mul_overflow(elements, static_cast<std::uint64_t>(t.shape.back()), &elements);
        if (!sound || elements > std::numeric_limits<std::uint32_t>::max())
            throw std::out_of_range("a shape that no 32-bit memory holds");
    }
    t.bytes = storage_bytes(type, elements);
    if (const auto q = j.find("quantization"); q != j.end()) {
        t.scale = static_cast<float>(q->at("scale").get<double>());
        if (!std::isfinite(t.scale)) throw std::out_of_range("a scale that is no float");
        t.zero_point = checked_int32(q->at("zero_point"));
        t.lowest = checked_int32(q->at("qmin"));
        t.highest = checked_int32(q->at("qmax"));
    }
    return t;
}

result<io_description> read_io(const std::string& path) {
    BOOST_OUTCOME_TRY(file, open_mapped(path));
    const auto* first = reinterpret_cast<const char*>(file.bytes().data());
    io_description io;
    try {
        const json j = json::parse(first, first + file.bytes().size());
        for (const json& t : j.at("inputs")) io.inputs.push_back(read_tensor(t));
        for (const json& t : j.at("outputs")) io.outputs.push_back(read_tensor(t));
    } catch (const std::exception& e) {  // nlohmann::json's, and read_tensor's
        return malformed(path + ": not what lower --io writes: " + e.what());
    }
    return io;
}

// Vela knows the tensors by place alone: sizes tell if the two files belong together.
result<void> place(std::vector<io_tensor>& tensors, const std::vector<arena_tensor>& places) {
    const auto same_size = [](const io_tensor& t, const arena_tensor& p) { return t.bytes == p.bytes; };
    if (!std::equal(tensors.begin(), tensors.end(), places.begin(), places.end(), same_size))
        return malformed("its inputs and outputs are not those that --io describes");
    for (std::size_t i = 0; i != tensors.size(); ++i) tensors[i].arena_offset = places[i].offset;
    return boost::outcome_v2::success();
}

result<void> find_symbols(std::span<const std::byte> file, embedding& e) {
    if (!is_vela_output(file)) {
        e.symbols = {{e.name + "_model", 0, file.size()}};
        return boost::outcome_v2::success();
    }
    BOOST_OUTCOME_TRY(vela, read_vela_output(file));
    if (!e.io) return malformed("is Vela's output, which needs --io for the names of its inputs and outputs");
    BOOST_OUTCOME_TRY(place(e.io->inputs, vela.inputs));
    BOOST_OUTCOME_TRY(place(e.io->outputs, vela.outputs));
    const auto part = [&](const char* suffix, std::span<const std::byte> bytes) {
        return symbol{e.name + suffix, static_cast<std::uint64_t>(bytes.data() - file.data()), bytes.size()};
    };
    e.symbols = {part("_model", vela.commands)};
    if (!vela.weights.empty()) e.symbols.push_back(part("_weights", vela.weights));
    e.vela = std::move(vela);
    return boost::outcome_v2::success();
}

// Each header has them, so that it needs no other file; the first that is included counts.
constexpr std::string_view types = R"(#ifndef HEADRACE_IO_TYPES
#define HEADRACE_IO_TYPES
struct headrace_tensor {
    const char* name;      /* as the model was exported */
    const char* dtype;     /* TOSA's name: "INT8", "FP32" */
    const int32_t* shape;  /* row-major; null without dimensions */
    uint32_t rank;
    uint32_t arena_offset; /* of a model for the NPU: where its bytes lie in the arena */
    size_t bytes;
    float scale;           /* real = (integer - zero_point) * scale; 0: it holds no quantized reals */
    int32_t zero_point, qmin, qmax;
};
struct headrace_io {
    const struct headrace_tensor* inputs;
    size_t input_count;
    const struct headrace_tensor* outputs;
    size_t output_count;
};
#endif
)";

std::string upper(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
    return text;
}

std::string header_of(const embedding& e) {
    std::string text = fmt::format(
        "/* Written by headrace {0}: do not edit. For C and C++. */\n"
        "#ifndef HEADRACE_{1}_MODEL_H\n#define HEADRACE_{1}_MODEL_H\n\n"
        "#include <stddef.h>\n#include <stdint.h>\n\n",
        HEADRACE_VERSION, upper(e.name));
    if (e.io) text += fmt::format("{}\n", types);
    if (e.vela) {
        const auto region = [&](const char* what, std::uint64_t bytes, std::uint64_t number) {
            if (bytes == 0) return;
            text += fmt::format("#define {0}_{1}_BYTES {2}\n#define {0}_{1}_REGION {3}\n", upper(e.name),
                                what, bytes, number);
        };
        text += fmt::format(
            "/* For an Ethos-U: ethosu_invoke_v3(driver, {0}_model, {0}_model_size, addresses, sizes, "
            "count,\n"
            "   NULL), where addresses and sizes hold by region number those of the weights and of memory to "
            "work\n"
            "   in, all aligned to 16 bytes. The model reads and writes the arena at its tensors' offsets. "
            "*/\n",
            e.name);
        region("WEIGHTS", e.vela->weights.size(), e.vela->weights_region);
        region("ARENA", e.vela->arena_bytes, e.vela->arena_region);
        region("FAST_ARENA", e.vela->fast_arena_bytes, e.vela->fast_arena_region);
        text += '\n';
    }
    text += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
    for (const symbol& s : e.symbols) {
        text +=
            fmt::format("extern const unsigned char {0}[{1}]; /* aligned to 16 bytes */\n", s.name, s.size);
        text += fmt::format("extern const size_t {}_size;\n", s.name);
    }
    if (e.io) text += fmt::format("extern const struct headrace_io {}_io;\n", e.name);
    return text + "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
}

// The assembler copies the bytes: a C array of them would take a compiler minutes. Caches of compiled files
// see that the bytes changed by the checksum, which is therefore no comment of C.
std::string assembly_of(const symbol& s, const embedding& e) {
    const std::string lines[] = {fmt::format("/* {:016x} */", e.checksum),
                                 fmt::format(".pushsection .rodata.{}, \"a\", %progbits", s.name),
                                 ".balign 16",
                                 fmt::format(".global {}", s.name),
                                 fmt::format(".type {}, %object", s.name),
                                 s.name + ":",
                                 fmt::format(".incbin {}, {}, {}", string_literal(e.file), s.offset, s.size),
                                 fmt::format(".size {0}, . - {0}", s.name),
                                 ".popsection"};
    std::string text = "__asm__(";
    for (const std::string& line : lines) text += "\n    " + string_literal(line + '\n');
    return text + fmt::format(");\nconst size_t {0}_size = sizeof({0});\n\n", s.name);
}

std::string tensors_of(const std::string& prefix, const std::vector<io_tensor>& tensors) {
    std::string shapes;
    std::string entries;
    for (std::size_t i = 0; i != tensors.size(); ++i) {
        const io_tensor& t = tensors[i];
        std::string shape = "NULL";
        if (!t.shape.empty()) {
            shape = fmt::format("{}_{}_shape", prefix, i);
            shapes += fmt::format("static const int32_t {}[] = {{{}}};\n", shape, fmt::join(t.shape, ", "));
        }
        entries += fmt::format("    {{{}, {}, {}, {}, {}, {}, {:.8e}f, {}, {}, {}}},\n",
                               string_literal(t.name), string_literal(t.dtype), shape, t.shape.size(),
                               t.arena_offset, t.bytes, t.scale, t.zero_point, t.lowest, t.highest);
    }
    if (tensors.empty()) return {};
    return shapes + fmt::format("static const struct headrace_tensor {}s[] = {{\n{}}};\n\n", prefix, entries);
}

std::string source_of(const embedding& e) {
    std::string text = fmt::format(
        "/* Written by headrace {}: do not edit. For C and C++. */\n#include \"{}_model.h\"\n\n"
        "#ifndef __ELF__\n#error \"the directives below are those of ELF\"\n#endif\n\n",
        HEADRACE_VERSION, e.name);
    for (const symbol& s : e.symbols) text += assembly_of(s, e);
    if (!e.io) return text;
    const auto list = [&](const char* kind, const std::vector<io_tensor>& tensors) {
        const std::string prefix = fmt::format("{}_{}", e.name, kind);
        text += tensors_of(prefix, tensors);
        return tensors.empty() ? std::string("NULL, 0") : fmt::format("{}s, {}", prefix, tensors.size());
    };
    const std::string inputs = list("input", e.io->inputs);
    const std::string outputs = list("output", e.io->outputs);
    return text + fmt::format("const struct headrace_io {}_io = {{{}, {}}};\n", e.name, inputs, outputs);
}

result<int> embed_file(const embed_options& options) {
    embedding e;
    e.name = options.name;
    e.file = options.file;
    BOOST_OUTCOME_TRY(file, open_mapped(options.file));
    e.checksum = hash_of_bytes(file.bytes());
    if (!options.io.empty()) {
        BOOST_OUTCOME_TRY(io, read_io(options.io));
        e.io = std::move(io);
    }
    if (auto found = find_symbols(file.bytes(), e); !found) return found.error().in(options.file);
    const auto write = [&](const char* suffix, const std::string& text) {
        const std::filesystem::path path = std::filesystem::path(options.output) / (options.name + suffix);
        return write_atomically(path.string(), text);
    };
    for (const auto& [suffix, text] :
         {std::pair{"_model.h", header_of(e)}, std::pair{"_model.c", source_of(e)}}) {
        if (auto written = write(suffix, text); !written) return report_usage(written.error().message);
    }
    return status_ok;
}

}  // namespace

int embed(const embed_options& options) {
    if (!is_identifier(options.name))
        return report_usage(fmt::format("--name {}: not an identifier", options.name));
    const result<int> status = embed_file(options);
    return status ? status.value() : report_error(status.error());
}

}  // namespace headrace::cli
