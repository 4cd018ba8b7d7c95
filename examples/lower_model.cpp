// SPDX-License-Identifier: MIT
// From a .pt2 file to a TOSA flatbuffer: lower_model model.pt2 model.tosa
#include <cstdio>

#include <headrace/eval/fold.hpp>
#include <headrace/io/atomic_file.hpp>
#include <headrace/io/pt2.hpp>
#include <headrace/io/tosa_emitter.hpp>
#include <headrace/passes/standard_lowering.hpp>

using namespace headrace;
using lowering = standard_lowering<eval::folding>;

result<std::size_t> lower(const char* model, const char* output) {
    BOOST_OUTCOME_TRY(p, read_pt2(model));
    p.graph->set_target(target_spec{}.with(target_feature::profile_fp));
    pass_context context;
    BOOST_OUTCOME_TRY(lowering::run(*p.graph, context));
    lowering::for_each_illegal(*p.graph, [&](node& n) { context.report(n, "no pass lowers this op"); });
    for (const diagnostic& d : context.diagnostics())
        std::fprintf(stderr, "%s: %s\n", d.node.c_str(), d.reason.c_str());
    if (!context.diagnostics().empty()) return unsupported("the model cannot be lowered");
    BOOST_OUTCOME_TRY(flatbuffer, emit_tosa(*p.graph));
    BOOST_OUTCOME_TRY(write_atomically(output, flatbuffer.bytes()));
    return p.graph->size();
}

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    const result<std::size_t> nodes = lower(argv[1], argv[2]);
    std::printf("%s\n", nodes ? "lowered" : nodes.error().message.c_str());
    return nodes ? 0 : 1;
}
