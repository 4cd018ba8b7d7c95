// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/embed/model_embedding.hpp.

#include <headrace/io/embed/model_embedding.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/printable.hpp>
#include <headrace/base/result.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/io/embed/embedded_tensors.hpp>
#include <headrace/io/file/c_text.hpp>
#include <headrace/io/signature/io_description.hpp>
#include <headrace/io/vela/output.hpp>
#include <headrace/partition/named_data_store.hpp>
#include <headrace/version.hpp>

namespace headrace {

namespace embed {

namespace {

/// Bytes of the embedded file that get a symbol.
struct embedded_symbol {
    std::string name;
    std::uint64_t offset;
    std::uint64_t size;
};

/// The tables of one description, whose symbols begin with `prefix`.
struct embedded_signature {
    std::string prefix;
    std::vector<embedded_tensor> inputs;
    std::vector<embedded_tensor> outputs;
};

/// Writes the two files of one model.
class model_embedder {
public:
    model_embedder(std::string_view name, std::string_view file) : name_(name), file_(file) {}

    [[nodiscard]] result<model_embedding> embed(
        std::span<const std::byte> bytes, const method_descriptions& methods);

private:
    result<void> describe(const std::string& method, const io_description& io);
    result<void> find_symbols(std::span<const std::byte> bytes);

    [[nodiscard]] static std::string first_line() {
        return join_text("/* Written by headrace ", version, ": do not edit. For C and C++. */\n");
    }
    [[nodiscard]] std::string upper_name() const;

    // --- NAME_model.h ------------------------------------------------------------------

    [[nodiscard]] std::string header() const;
    [[nodiscard]] std::string regions(const std::string& upper) const;

    // --- NAME_model.c ------------------------------------------------------------------

    [[nodiscard]] std::string source() const;

    // The assembler copies the bytes: a C array of them would take a compiler minutes. Compiler caches ignore
    // comments in C but not in assembly, so the checksum there tells them that the bytes changed.
    [[nodiscard]] std::string assembly(const embedded_symbol& s) const;

    std::string name_;
    std::string file_;
    std::uint64_t checksum_ = 0;
    std::vector<embedded_symbol> symbols_;
    std::vector<embedded_signature> signatures_;
    std::optional<vela_output> vela_;
};

result<model_embedding> model_embedder::embed(
    std::span<const std::byte> bytes, const method_descriptions& methods) {
    checksum_ = hash_of_bytes(bytes);
    for (const auto& [method, io] : methods) {
        HEADRACE_TRY(describe(method, io));
    }
    HEADRACE_TRY(find_symbols(bytes));
    return model_embedding{header(), source()};
}

result<void> model_embedder::describe(const std::string& method, const io_description& io) {
    const std::string prefix = method.empty() ? name_ : join_text(name_, '_', method);
    if (!method.empty() && !is_c_identifier(prefix))
        return malformed(join_text("method '", printable(method), "' cannot be part of a C identifier"));
    HEADRACE_TRY(inputs, embedded(io.inputs));
    HEADRACE_TRY(outputs, embedded(io.outputs));
    signatures_.push_back({prefix, std::move(inputs), std::move(outputs)});
    return {};
}

result<void> model_embedder::find_symbols(std::span<const std::byte> bytes) {
    if (!is_vela_output(bytes)) {
        symbols_ = {{name_ + "_model", 0, bytes.size()}};
        return {};
    }
    HEADRACE_TRY(vela, read_vela_output(bytes));
    if (signatures_.size() != 1)
        return malformed("is Vela's output, which needs --io for the names of its inputs and outputs");
    HEADRACE_TRY(place(signatures_.front().inputs, vela.inputs));
    HEADRACE_TRY(place(signatures_.front().outputs, vela.outputs));
    const auto part = [&](std::string_view suffix, std::span<const std::byte> of) {
        return embedded_symbol{
            join_text(name_, suffix), static_cast<std::uint64_t>(of.data() - bytes.data()), of.size()};
    };
    symbols_ = {part("_model", vela.commands)};
    if (!vela.weights.empty()) symbols_.push_back(part("_weights", vela.weights));
    vela_ = std::move(vela);
    return {};
}

std::string model_embedder::upper_name() const {
    std::string upper = name_;
    for (char& c : upper) {
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    return upper;
}

std::string model_embedder::header() const {
    const std::string upper = upper_name();
    std::string text = join_text(first_line(), "#ifndef HEADRACE_", upper, "_MODEL_H\n#define HEADRACE_",
        upper, "_MODEL_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n");
    if (!signatures_.empty()) text += join_text(c_io_types, '\n');
    if (vela_) text += regions(upper);
    text += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
    for (const embedded_symbol& s : symbols_) {
        text += join_text("extern const unsigned char ", s.name, '[', s.size,
            "]; /* aligned to 16 bytes */\nextern const size_t ", s.name, "_size;\n");
    }
    for (const embedded_signature& s : signatures_)
        text += join_text("extern const struct headrace_io ", s.prefix, "_io;\n");
    return text + "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
}

std::string model_embedder::regions(const std::string& upper) const {
    std::string text = join_text("/* For an Ethos-U: ethosu_invoke_v3(driver, ", name_, "_model, ", name_,
        "_model_size, addresses, sizes, count,\n"
        "   NULL), where addresses and sizes hold by region number those of the weights and of memory to "
        "work\n"
        "   in, all aligned to 16 bytes. The model reads and writes the arena at its tensors' offsets. "
        "*/\n");
    const auto region = [&](std::string_view what, std::uint64_t bytes, std::uint64_t number) {
        if (bytes == 0) return;
        text += join_text("#define ", upper, '_', what, "_BYTES ", bytes, "\n#define ", upper, '_', what,
            "_REGION ", number, '\n');
    };
    region("WEIGHTS", vela_->weights.size(), vela_->weights_region);
    region("ARENA", vela_->arena_bytes, vela_->arena_region);
    region("FAST_ARENA", vela_->fast_arena_bytes, vela_->fast_arena_region);
    return text + '\n';
}

std::string model_embedder::source() const {
    std::string text = join_text(first_line(), "#include \"", name_, "_model.h\"\n\n",
        "#ifndef __ELF__\n#error \"the directives below are those of ELF\"\n"
        "#endif\n\n");
    for (const embedded_symbol& s : symbols_) text += assembly(s);
    const auto list = [&](const std::string& prefix, const std::vector<embedded_tensor>& tensors) {
        text += tensor_table(prefix, tensors);
        return tensors.empty() ? std::string("NULL, 0") : join_text(prefix, "s, ", tensors.size());
    };
    for (const embedded_signature& s : signatures_) {
        if (&s != signatures_.data()) text += '\n';
        const std::string inputs = list(s.prefix + "_input", s.inputs);
        const std::string outputs = list(s.prefix + "_output", s.outputs);
        text += join_text("const struct headrace_io ", s.prefix, "_io = {", inputs, ", ", outputs, "};\n");
    }
    return text;
}

std::string model_embedder::assembly(const embedded_symbol& s) const {
    std::array<char, 17> checksum{};
    std::snprintf(checksum.data(), checksum.size(), "%016llx", static_cast<unsigned long long>(checksum_));
    const std::string lines[] = {join_text("/* ", checksum.data(), " */"),
        join_text(".pushsection .rodata.", s.name, ", \"a\", %progbits"), ".balign 16",
        join_text(".global ", s.name), join_text(".type ", s.name, ", %object"), s.name + ":",
        join_text(".incbin ", c_string_literal(file_), ", ", s.offset, ", ", s.size),
        join_text(".size ", s.name, ", . - ", s.name), ".popsection"};
    std::string text = "__asm__(";
    for (const std::string& line : lines) text += "\n    " + c_string_literal(line + '\n');
    return text + join_text(");\nconst size_t ", s.name, "_size = sizeof(", s.name, ");\n\n");
}

}  // namespace

}  // namespace embed

result<model_embedding> embed_model(std::string_view name, std::string_view file,
    std::span<const std::byte> bytes, const io_description* io) {
    method_descriptions alone;
    if (io != nullptr) alone.emplace("", *io);
    return embed_model(name, file, bytes, alone);
}

result<model_embedding> embed_model(std::string_view name, std::string_view file,
    std::span<const std::byte> bytes, const method_descriptions& methods) {
    return embed::model_embedder(name, file).embed(bytes, methods);
}

}  // namespace headrace
