// SPDX-License-Identifier: MIT
// Does what `headrace lower` does, as a library: lower_model model.pt2 model.tosa
#include <cstdio>

//! [lower]
#include <headrace/io/file/atomic_file.hpp>
#include <headrace/lowering/lower.hpp>
#include <headrace/run/models.hpp>

using namespace headrace;

// headrace::compiled has the passes, kernels, readers and writers that this needs.
result<lowered_model> lower(const char* model, const char* output) {
    HEADRACE_TRY(exported, read_model(model));
    HEADRACE_TRY(lowered, lower_to_tosa(std::move(exported), {.channels_last = true}));
    HEADRACE_TRY(write_atomically(output, lowered.flatbuffer.bytes));
    return lowered;
}
//! [lower]

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    const result<lowered_model> lowered = lower(argv[1], argv[2]);
    if (!lowered) {
        std::fprintf(stderr, "%s\n", lowered.error().message.c_str());
        return 1;
    }
    const lowering_report& report = lowered.value().report;
    std::printf("%s: %zu nodes became %zu\n", report.target.c_str(), report.nodes_in, report.nodes_out);
    std::printf("%s\n", io_json(lowered.value().io).c_str());
    return 0;
}
