// SPDX-License-Identifier: MIT
#include "pte.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include <headrace/base/printable.hpp>
#include <headrace/io/atomic_file.hpp>
#include <headrace/io/json_writer.hpp>
#include <headrace/io/mapped_file.hpp>
#include <headrace/io/pte_file.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/lowering/lower_pte.hpp>
#include <headrace/lowering/models.hpp>

#include "messages.hpp"
#include "package.hpp"
#include "quantize.hpp"

namespace headrace::cli {

namespace {

std::string report_of(const lowered_pte& made) {
    json_writer w;
    w.begin_object();
    w.member("bytes", made.file.size());
    w.member("constant_bytes", made.file.constant_bytes());
    w.begin_object("methods");
    for (const pte_method_size& m : made.file.methods()) {
        w.begin_object(m.name);
        w.member("planned_bytes", m.planned_bytes);
        w.member("lower_bound", m.lower_bound);
        w.member("values", m.values);
        w.member("instructions", m.instructions);
        w.end_object();
    }
    w.end_object();
    w.begin_object("nanoseconds");
    for (const stage_time& s : made.stages) w.member(s.name, s.nanoseconds);
    w.end_object();
    w.end_object();
    return std::move(w).text();
}

result<int> write_pte(const lower_options& options, const file_map& models) {
    std::map<std::string, program, std::less<>> programs;
    for (const auto& [name, path] : models) {
        BOOST_OUTCOME_TRY(model, read_and_quantize(path, options.calibration));
        programs.emplace(name, std::move(model));
    }
    BOOST_OUTCOME_TRY(made, lower_to_pte(std::move(programs)));
    if (!made.refusals.empty()) return report_diagnostics(made.refusals, names_of(models));
    if (!options.report.empty()) {
        const auto written = write_atomically(options.report, report_of(made) + '\n');
        if (!written) return written.error();
    }
    const byte_source file = [&](const byte_sink& sink) -> result<void> {
        if (!made.file.write_to(sink)) return boost::outcome_v2::success();  // the sink knows why
        for (const auto& [name, p] : made.methods) {
            if (auto whole = p.file.check(); !whole) return whole;
        }
        return boost::outcome_v2::success();
    };
    const auto written = write_atomically(options.output, file);
    return written ? result<int>(status_ok) : written.error();
}

}  // namespace

bool is_pte_path(const std::string& path) { return std::filesystem::path(path).extension() == ".pte"; }

std::vector<std::string> pte_methods(const std::string& path) {
    const auto file = open_mapped(path);
    if (!file || !pte_file::is_pte(file.value().bytes())) return {};
    const auto opened = pte_file::open(file.value().bytes());
    return opened ? opened.value().method_names() : std::vector<std::string>();
}

int check_pte_method(const std::vector<std::string>& methods, const std::string& method) {
    if (method.empty() && methods.size() == 1) return status_ok;
    if (std::ranges::find(methods, method) != methods.end()) return status_ok;
    std::string known;
    for (const std::string& name : methods) known += (known.empty() ? "" : ", ") + printable(name);
    return report_usage("--method: name one of the file's methods: " + known);
}

int show_pte(const show_options& options) {
    std::string text;
    for (const std::string& name : pte_methods(options.model)) {
        if (!options.method.empty() && options.method != name) continue;
        const auto loaded = load_model(options.model, name);
        if (!loaded) return report_error(loaded.error());
        text += fmt::format("method {}:\n", printable(name));
        text += listing(*loaded.value().model.graph);
        if (const auto whole = loaded.value().check(); !whole) return report_error(whole.error());
    }
    fmt::print("{}", text);
    return status_ok;
}

int lower_pte(const lower_options& options) {
    if (!options.io.empty() || !options.dot_directory.empty() || options.verify ||
        options.io_layout != "nchw" || options.partition || options.plan_memory || !options.target.empty())
        return report_usage(
            "--io, --io-layout, --dot, --verify, --partition, --plan-memory and --target are not for .pte "
            "files, "
            "whose memory is always planned");
    if (!options.methods.empty() && !options.calibration.samples.empty())
        return report_usage("--quantize is for one model, not for several methods");
    file_map models;  // by method
    if (const int status = methods_of(options, models); status != status_ok) return status;
    if (const int status = check_distinct_files(std::vector{options.output, options.report}, options.model);
        status != status_ok)
        return status;
    const result<int> status = write_pte(options, models);
    return status ? status.value() : report_error(status.error());
}

}  // namespace headrace::cli
