// SPDX-License-Identifier: MIT
// `headrace embed`: a C source that links a model into a firmware image, and the header that describes it.
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <utility>

#include <headrace/io/embed/embedded_tensors.hpp>
#include <headrace/io/embed/model_embedding.hpp>
#include <headrace/io/file/atomic_file.hpp>
#include <headrace/io/file/c_text.hpp>
#include <headrace/io/file/mapped_file.hpp>
#include <headrace/io/signature/io_description_reader.hpp>

#include "commands.hpp"
#include "messages.hpp"

namespace headrace::cli {

namespace {

result<method_descriptions> read_io(const std::string& path) {
    HEADRACE_TRY(file, open_mapped(path));
    auto methods = read_method_descriptions(file.bytes());
    result<void> sound = methods ? result<void>() : std::move(methods).error();
    if (methods) {
        for (const auto& [name, io] : methods.value())
            if (sound) sound = check_embeddable(io);
    }
    if (!sound) return sound.error().in("not a description that lower --io writes").in(path);
    return methods;
}

result<int> embed_file(const embed_options& options) {
    HEADRACE_TRY(file, open_mapped(options.file));
    method_descriptions io;
    if (!options.io.empty()) {
        HEADRACE_TRY(read, read_io(options.io));
        io = std::move(read);
    }
    const auto made = embed_model(options.name, options.file, file.bytes(), io);
    HEADRACE_TRY(file.check());
    if (!made) return made.error().in(options.file);
    const auto write = [&](const char* suffix, const std::string& text) {
        const std::filesystem::path path = std::filesystem::path(options.output) / (options.name + suffix);
        return write_atomically(path.string(), text);
    };
    for (const auto& [suffix, text] :
        {std::pair{"_model.h", made.value().header}, std::pair{"_model.c", made.value().source}}) {
        HEADRACE_TRY(write(suffix, text));
    }
    return status_ok;
}

}  // namespace

int embed(const embed_options& options) {
    if (!is_c_identifier(options.name))
        return report_usage(fmt::format("--name {}: not an identifier", options.name));
    const result<int> status = embed_file(options);
    return status ? status.value() : report_error(status.error());
}

}  // namespace headrace::cli
