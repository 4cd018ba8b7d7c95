// SPDX-License-Identifier: MIT
#include "vela.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <headrace/base/printable.hpp>
#include <headrace/io/file/atomic_file.hpp>
#include <headrace/io/file/mapped_file.hpp>
#include <headrace/io/vela/config.hpp>
#include <headrace/io/vela/ethos_u_blob.hpp>
#include <headrace/io/vela/output.hpp>

#include "child.hpp"
#include "messages.hpp"

namespace headrace::cli {

namespace {

error no_folder() { return unwritable("cannot make a temporary directory for Vela"); }

// Returns the error of a failed run: a Python program with a fault prints a traceback; otherwise Vela's
// message is used.
error failed_vela(int status, std::string_view said) {
    if (said.find("Traceback (most recent call last)") == std::string_view::npos)
        return unsupported(fmt::format("Vela exited with status {}: {}", status, printable(said, 1000)));
    return unsupported(
        fmt::format("Vela ended by an error of its own, which says nothing about the model: '{}'; lower to a "
                    ".tosa file and run vela on it to see all of it",
            last_line_of(said)));
}

// Runs Vela in a folder that contains model.tosa and receives its output. Returns what Vela prints.
result<std::string> run_vela(const scratch_directory& folder, const std::string& vela,
    const std::string& accelerator, std::vector<std::string> options = {}) {
    const std::string log = folder.file("log");
    std::vector<std::string> words{vela, folder.file("model.tosa"), "--accelerator-config", accelerator,
        "--output-format", "raw", "--output-dir", folder.path()};
    words.insert(words.end(), options.begin(), options.end());
    const int status = run_child(std::move(words), log).status;
    std::string said = text_of_file(log);
    if (status == -1)
        return unsupported(
            fmt::format("cannot run Vela as '{}'; install it, or say where it is with --vela", vela));
    if (status != 0) return failed_vela(status, said);
    return said;
}

bool is_u85(const std::string& accelerator) { return accelerator.starts_with("ethos-u85"); }

// Returns the KiB of constants in what Vela wrote; nothing if it leaves operators to a CPU, which has no such
// file.
std::optional<double> constant_kib(const scratch_directory& folder) {
    const auto file = open_mapped(folder.file("model_vela.npz"));
    if (!file) return std::nullopt;
    const auto output = read_vela_output(file.value().bytes());
    if (!output) return std::nullopt;
    return static_cast<double>(output.value().weights.size()) / 1024;
}

// Returns the file in a folder whose name has that part; empty if there is none.
std::string file_with(const scratch_directory& folder, std::string_view part) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path(), ignored)) {
        if (entry.path().filename().string().find(part) != std::string::npos) return entry.path().string();
    }
    return {};
}

// Writes the configuration of a board's banks into the folder. Returns Vela's options for it.
result<std::vector<std::string>> options_for(
    const scratch_directory& folder, const std::string& accelerator, const memory_map& memory) {
    HEADRACE_TRY(config, make_vela_config(memory, accelerator));
    const std::string path = folder.file("memory.ini");
    HEADRACE_TRY(write_atomically(path, config.text));
    return std::vector<std::string>{"--config", path, "--system-config", std::string(config.system_config),
        "--memory-mode", std::string(config.memory_mode)};
}

// An error if the arena that Vela planned is larger than its bank.
result<void> check_arena(
    std::span<const std::byte> archive, const std::string& accelerator, const memory_map& memory) {
    HEADRACE_TRY(config, make_vela_config(memory, accelerator));
    HEADRACE_TRY(output, read_vela_output(archive));
    if (output.arena_bytes <= config.arena_bytes) return {};
    return unsupported(fmt::format(
        "bank '{}' lacks {} bytes: it has {}, and Vela needs {} for a delegate's arena", config.arena_bank,
        output.arena_bytes - config.arena_bytes, config.arena_bytes, output.arena_bytes));
}

result<pte_delegate> compile(const std::string& vela, const std::string& accelerator,
    const std::optional<memory_map>& memory, std::span<const std::byte> flatbuffer) {
    const scratch_directory folder("vela");
    if (!folder.is_made()) return no_folder();
    HEADRACE_TRY(write_atomically(folder.file("model.tosa"), flatbuffer));
    std::vector<std::string> options;
    if (memory) {
        HEADRACE_TRY(for_banks, options_for(folder, accelerator, *memory));
        options = std::move(for_banks);
    }
    HEADRACE_TRY(said, run_vela(folder, vela, accelerator, std::move(options)));
    // Vela exits with 0 even if it leaves operators to a CPU, which a delegate does not have.
    const bool leaves = said.find("CPU operators = ") != std::string::npos &&
        said.find("CPU operators = 0 ") == std::string::npos;
    if (leaves) return unsupported("Vela leaves operators of the delegate to the CPU");
    const auto compiled = open_mapped(folder.file("model_vela.npz"));
    if (!compiled)
        return unsupported(
            fmt::format("'{}' ended without an output; is it Vela? It said: '{}'", vela, last_line_of(said)));
    if (memory) {
        HEADRACE_TRY(check_arena(compiled.value().bytes(), accelerator, *memory));
    }
    auto blob = make_ethos_u_blob(compiled.value().bytes());
    if (!blob) return blob.error().in("what Vela wrote");
    return pte_delegate{std::string(ethos_u_backend_id), std::move(blob).value()};
}

}  // namespace

std::vector<std::string> accelerators() {
    return {"ethos-u55-32", "ethos-u55-64", "ethos-u55-128", "ethos-u55-256", "ethos-u65-256",
        "ethos-u65-512", "ethos-u85-128", "ethos-u85-256", "ethos-u85-512", "ethos-u85-1024",
        "ethos-u85-2048"};
}

bool is_accelerator(const std::string& delegate) { return delegate.starts_with("ethos-u"); }

target_spec target_of_accelerator(const std::string& delegate) {
    return parse_target(is_u85(delegate) ? "TOSA-1.0+INT+int16+int4+u85" : "TOSA-1.0+INT+int16+int4+u55")
        .value();
}

void hint_at_accelerator(const std::string& accelerator, const std::optional<target_spec>& given) {
    const target_feature npu = is_u85(accelerator) ? target_feature::u85 : target_feature::u55;
    if (!given || given->has(npu)) return;
    say(fmt::format(
        "note: --target does not name the NPU of {0}: with +{1}, or without --target, the model is "
        "lowered to what that runs fastest",
        accelerator, is_u85(accelerator) ? "u85" : "u55"));
}

result<vela_estimate> estimate_by_vela(const std::string& vela, const std::string& accelerator,
    const byte_source& flatbuffer, const std::optional<memory_map>& memory) {
    const scratch_directory folder("vela");
    if (!folder.is_made()) return no_folder();
    HEADRACE_TRY(write_atomically(folder.file("model.tosa"), flatbuffer));
    std::vector<std::string> options{"--verbose-performance"};
    if (memory) {
        HEADRACE_TRY(for_banks, options_for(folder, accelerator, *memory));
        options.insert(options.end(), for_banks.begin(), for_banks.end());
    }
    HEADRACE_TRY(run_vela(folder, vela, accelerator, std::move(options)));
    std::string per_layer = text_of_file(file_with(folder, "_per-layer.csv"));
    HEADRACE_TRY(
        figures, read_vela_figures(accelerator, per_layer, text_of_file(file_with(folder, "_summary_"))));
    figures.version = version_of_vela(vela);
    figures.flash_kib = constant_kib(folder).value_or(figures.flash_kib);
    return vela_estimate{std::move(figures), std::move(per_layer)};
}

std::string version_of_vela(const std::string& vela) {
    constexpr std::size_t max_length = 40;
    const scratch_directory folder("vela");
    if (!folder.is_made() || run_child({vela, "--version"}, folder.file("log")).status != 0) return {};
    std::string said = text_of_file(folder.file("log"));
    said.erase(std::min(said.find_last_not_of("\r\n ") + 1, said.size()));
    const bool is_version = !said.empty() && said.size() <= max_length &&
        said.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz.+-") == std::string::npos;
    return is_version ? said : std::string();
}

delegate_compiler compile_by_vela(
    std::string vela, std::string accelerator, std::optional<memory_map> memory) {
    return
        [vela = std::move(vela), accelerator = std::move(accelerator), memory = std::move(memory)](
            std::span<const std::byte> flatbuffer) { return compile(vela, accelerator, memory, flatbuffer); };
}

}  // namespace headrace::cli
