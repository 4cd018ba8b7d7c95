// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <headrace/infer/shape_builder.hpp>
#include <headrace/io/npy.hpp>
#include <headrace/lowering/execution.hpp>
#include <headrace/lowering/models.hpp>

#include "commands.hpp"
#include "messages.hpp"
#include "package.hpp"

namespace headrace::cli {

namespace {

result<void> write_output(const std::string& file, const tensor& t) {
    const tensor_meta meta{t.type(), int_list(t.shape()), {}};
    return write_npy(file, meta, t.bytes());
}

void print_summary(std::size_t i, const tensor& t) {
    fmt::print("output {}: {}{}", i, name_of(t.type()), shape_text(t.shape()));
    constexpr std::int64_t shown = 8;
    for (std::int64_t k = 0; k != std::min(t.size(), shown); ++k)
        fmt::print("{}{:.6g}", k == 0 ? " = " : ", ", t.real(k));
    fmt::print("{}\n", t.size() > shown ? ", …" : "");
}

result<void> run_model(const run_model_options& options) {
    BOOST_OUTCOME_TRY(loaded, load_model(options.model, options.method, options.sizes));
    const program& p = loaded.model;
    BOOST_OUTCOME_TRY(inputs, model_inputs(*p.graph, options.inputs));
    BOOST_OUTCOME_TRY(outputs, execute(*p.graph, inputs));
    BOOST_OUTCOME_TRY(loaded.check());
    outputs.resize(std::min(outputs.size(), p.user_outputs));
    if (!options.outputs.empty() && options.outputs.size() != outputs.size()) {
        return malformed(fmt::format("the model has {} outputs, {} files were given for them", outputs.size(),
                                     options.outputs.size()));
    }
    for (std::size_t i = 0; i != outputs.size(); ++i) {
        if (options.outputs.empty()) {
            print_summary(i, outputs[i]);
        } else {
            BOOST_OUTCOME_TRY(write_output(options.outputs[i], outputs[i]));
        }
    }
    return boost::outcome_v2::success();
}

}  // namespace

int run(const run_model_options& options) {
    if (const int status = check_method_option(options.model, options.method); status != status_ok)
        return status;
    if (const int status = check_distinct_files(options.outputs, options.model); status != status_ok)
        return status;
    const result<void> done = run_model(options);
    return done ? status_ok : report_error(done.error());
}

}  // namespace headrace::cli
