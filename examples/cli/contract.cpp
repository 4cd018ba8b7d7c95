// SPDX-License-Identifier: MIT
#include "contract.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include <headrace/infer/inference.hpp>
#include <headrace/io/atomic_file.hpp>
#include <headrace/io/tosa_emitter.hpp>

#include "commands.hpp"
#include "constant_evaluator.hpp"
#include "files.hpp"
#include "interface.hpp"
#include "lowering.hpp"
#include "targets.hpp"

namespace headrace::cli {

namespace {

/// A model on its way to TOSA, and what it consisted of before.
struct attempt {
    program model;
    exported_ops exported{};
    std::vector<target_spec> targets{};  // that the user means
    pass_context context{&infer_node};
};

result<std::unique_ptr<attempt>> read_attempt(const contract_options& options,
                                              const std::optional<target_spec>& target) {
    BOOST_OUTCOME_TRY(model, read_model(options.model));
    auto a = std::make_unique<attempt>(std::move(model));
    graph& g = *a->model.graph;
    a->exported = exported_ops_of(g);
    a->targets = target ? std::vector{*target} : default_targets(g);
    if (options.io_layout == "nhwc") ask_for_channels_last(g);
    return a;
}

result<std::unique_ptr<attempt>> lower_for_contract(const contract_options& options,
                                                    const std::optional<target_spec>& target) {
    for (std::size_t i = 0;; ++i) {
        BOOST_OUTCOME_TRY(a, read_attempt(options, target));
        BOOST_OUTCOME_TRY(refuse_mutations(a->model));
        a->model.graph->set_target(a->targets[i]);
        BOOST_OUTCOME_TRYV(lower_graph(*a->model.graph, a->context, {}));
        if (a->context.diagnostics().empty() || i + 1 == a->targets.size()) return a;
    }
}

result<int> write_contract(const contract_options& options, const std::optional<target_spec>& target) {
    const auto made =
        options.exported_only ? read_attempt(options, target) : lower_for_contract(options, target);
    if (!made) return made.error();
    attempt& a = *made.value();
    if (!a.context.diagnostics().empty()) return report_diagnostics(a.context.diagnostics(), options.model);

    const std::string name = options.name.empty() ? contract_name(options.model) : options.name;
    const std::string file_name = std::filesystem::path(options.model).filename().string();
    contract_source source{name, file_name, a.exported, *a.model.graph, a.model.user_outputs};
    if (!options.exported_only) {
        BOOST_OUTCOME_TRY(emitted, emit_tosa(*a.model.graph));
        source.lowered = true;
        source.flatbuffer_bytes = emitted.bytes().size();
    }
    BOOST_OUTCOME_TRY(text, contract_text(source));
    const auto written = write_atomically(options.output, text);
    return written ? status_ok : report_usage(written.error().message);
}

}  // namespace

int contract(const contract_options& options) {
    if (!options.name.empty() && !is_identifier(options.name))
        return report_usage(fmt::format("--name {}: a struct cannot have that name", options.name));
    if (options.exported_only && !options.target.empty())
        return report_usage("--exported-only lowers to no --target");
    std::optional<target_spec> target;
    if (const int status = parse_target_option(options.target, target); status != status_ok) return status;
    const result<int> status = write_contract(options, target);
    return status ? status.value() : report_error(status.error());
}

}  // namespace headrace::cli
