// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <headrace/banks/bank_plan.hpp>
#include <headrace/banks/check_bank_plan.hpp>
#include <headrace/banks/graph_items.hpp>
#include <headrace/base/printable.hpp>
#include <headrace/io/banks/bank_plan_json.hpp>
#include <headrace/io/banks/bank_plan_text.hpp>
#include <headrace/io/banks/memory_map_reader.hpp>
#include <headrace/io/file/atomic_file.hpp>
#include <headrace/io/file/mapped_file.hpp>
#include <headrace/io/package/package.hpp>
#include <headrace/run/models.hpp>

#include "commands.hpp"
#include "messages.hpp"
#include "package.hpp"
#include "page.hpp"
#include "pte.hpp"

namespace headrace::cli {

namespace {

/// Models that share the banks, with the graphs that their items are of.
struct loaded_models {
    banked_models banked{};
    std::vector<loaded_model> files{};

    result<void> add(const plan_options& options, const std::string& path, const std::string& method) {
        HEADRACE_TRY(loaded, load_model_with_data(path, method, options.data, options.sizes));
        files.push_back(std::move(loaded));
        std::string name = method.empty() ? path : path + ':' + method;
        const auto same = std::ranges::count(banked.names, name);
        if (same != 0) name += fmt::format(" ({})", same + 1);
        HEADRACE_TRY(add_graph_items(banked, name, *files.back().model.graph));
        return files.back().check();
    }
    // All methods of a file, unless one is named.
    result<void> add_methods(const plan_options& options, const std::string& path) {
        std::vector<std::string> methods = pte_methods(path);
        if (package::is_package(path)) {
            HEADRACE_TRY(opened, package::open(path));
            for (const auto& [name, method] : opened.methods()) methods.push_back(name);
        }
        if (!options.method.empty()) return add(options, path, options.method);
        if (methods.size() < 2) return add(options, path, methods.empty() ? "" : methods.front());
        for (const std::string& method : methods) {
            HEADRACE_TRY(add(options, path, method));
        }
        return {};
    }
    // Models that run at once have a stack each.
    void add_stacks(const memory_map& map) {
        if (map.stack_bytes == 0) return;
        const std::size_t count = banked.run_at_once ? banked.names.size() : 1;
        for (std::uint32_t m = 0; m != count; ++m)
            banked.items.push_back({.name = "stack",
                .use = memory_use::stack,
                .bytes = map.stack_bytes,
                .accessed = map.stack_bytes,
                .model = m});
    }
};

result<void> write_banks_page(
    const std::string& path, const loaded_models& models, const memory_map& map, const bank_plan& plan) {
    const std::string banks = bank_page_json(models.banked, map, plan);
    page_book book{.title = map.name};
    for (std::size_t m = 0; m != models.files.size(); ++m) {
        const graph& g = *models.files[m].model.graph;
        graph_history history;
        history.begin(g);
        const page_source source{
            .title = models.banked.names[m], .last = &g, .history = &history, .banks = banks};
        if (models.files.size() == 1) return write_page(path, source, "");
        book.chapters.push_back({models.banked.names[m], page_json(source)});
    }
    return write_book(path, std::move(book));
}

result<void> check_places(const std::string& path, const banked_models& models, const memory_map& map) {
    HEADRACE_TRY(file, open_mapped(path));
    auto places = read_bank_places(file.text(), models, map);
    if (!places) return places.error().in(path);
    HEADRACE_TRY(file.check());
    if (auto valid = check_bank_plan(models, map, places.value()); !valid)
        return unsupported(valid.error().message).in(path);
    say(fmt::format("{}: {} are valid", printable(path), counted(places.value().size(), "place")));
    return {};
}

result<void> plan_and_write(const plan_options& options) {
    HEADRACE_TRY(map, load_memory_map(options.memory));
    loaded_models models;
    models.banked.run_at_once = options.concurrent;
    for (const std::string& path : options.models) {
        HEADRACE_TRY(models.add_methods(options, path));
    }
    models.add_stacks(map);
    if (!options.check.empty()) return check_places(options.check, models.banked, map);
    HEADRACE_TRY(plan, make_bank_plan(models.banked, map));
    HEADRACE_TRY(check_bank_plan(models.banked, map, plan.places));
    if (!options.page.empty()) {
        HEADRACE_TRY(write_banks_page(options.page, models, map, plan));
    }
    if (options.output.empty()) {
        fmt::print("{}", bank_plan_text(models.banked, map, plan));
        return {};
    }
    json_writer out;
    write_bank_plan(out, models.banked, map, plan);
    return write_atomically(options.output, out.text() + '\n');
}

}  // namespace

int plan_banks(const plan_options& options) {
    if (!options.method.empty()) {
        if (options.models.size() != 1) return report_usage("--method is of one model");
        if (const int status = check_method_option(options.models[0], options.method); status != status_ok)
            return status;
    }
    const std::vector files{options.output, options.page};
    for (const std::string& model : options.models) {
        if (const int status = check_distinct_files(files, model); status != status_ok) return status;
    }
    if (const int status = check_extension(options.output, {".json"}); status != status_ok) return status;
    if (const int status = check_extension(options.page, {".html"}); status != status_ok) return status;
    if (!options.page.empty()) {
        if (const auto possible = check_page(""); !possible) return report_error(possible.error());
    }
    const result<void> planned = plan_and_write(options);
    return planned ? status_ok : report_error(planned.error());
}

}  // namespace headrace::cli
