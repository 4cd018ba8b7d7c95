// SPDX-License-Identifier: MIT
#include "vgf.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <span>
#include <utility>

#include <headrace/base/printable.hpp>
#include <headrace/io/file/mapped_file.hpp>

#include "child.hpp"

namespace headrace::cli {

namespace {

constexpr std::string_view vgf_backend_id = "VgfBackend";  // as ExecuTorch's runtime registers it

}  // namespace

bool is_vgf_path(const std::string& path) { return std::filesystem::path(path).extension() == ".vgf"; }

result<std::vector<std::byte>> convert_to_vgf(const std::string& converter, const byte_source& flatbuffer) {
    const std::string program = converter.empty() ? "model-converter" : converter;
    const scratch_directory folder("vgf");
    if (!folder.is_made()) return unwritable("cannot make a temporary directory for model-converter");
    HEADRACE_TRY(write_atomically(folder.file("model.tosa"), flatbuffer));
    const int status =
        run_child({program, "--input", folder.file("model.tosa"), "--output", folder.file("model.vgf")},
            folder.file("log"))
            .status;
    if (status == -1)
        return unsupported(
            fmt::format("cannot run Arm's model-converter as '{}'; install it (pip install "
                        "ai-ml-sdk-model-converter), or say where it is with --model-converter",
                program));
    const std::string said = text_of_file(folder.file("log"));
    if (status != 0)
        return unsupported(
            fmt::format("model-converter exited with status {}: {}", status, printable(said, 1000)));
    const auto made = open_mapped(folder.file("model.vgf"));
    if (!made || made.value().bytes().empty())
        return unsupported(
            fmt::format("'{}' ended without an output; is it Arm's model-converter? It said: '{}'", program,
                last_line_of(said)));
    const std::span<const std::byte> bytes = made.value().bytes();
    return std::vector<std::byte>(bytes.begin(), bytes.end());
}

delegate_compiler compile_to_vgf(std::string converter) {
    return [converter = std::move(converter)](std::span<const std::byte> flatbuffer) -> result<pte_delegate> {
        const byte_source source = [flatbuffer](const byte_sink& sink) -> result<void> {
            static_cast<void>(sink(flatbuffer));
            return {};
        };
        HEADRACE_TRY(bytes, convert_to_vgf(converter, source));
        return pte_delegate{std::string(vgf_backend_id), std::move(bytes)};
    };
}

}  // namespace headrace::cli
