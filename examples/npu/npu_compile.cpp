// SPDX-License-Identifier: MIT
// Executes a model divided between the NPU and the host, compares the result, and writes both as a .pte file:
//     npu_compile model.pt2 input.npy expected.npy model.pte
//! [divide]
#include <cstdio>
#include <functional>
#include <map>
#include <string>

#include "npu_backend.hpp"
//! [divide]

//! [run]
#include <algorithm>
#include <cmath>
#include <vector>

#include <headrace/io/file/npy.hpp>
#include <headrace/run/execution.hpp>
#include <headrace/run/models.hpp>

#include "npu_kernels.hpp"
//! [run]

//! [write]
#include <utility>

#include <headrace/lowering/lower_pte.hpp>
#include <headrace/run/models.hpp>
//! [write]

#include <string_view>

#include <headrace/io/file/mapped_file.hpp>
#include <headrace/io/pte/file.hpp>

//! [divide]
using namespace headrace;

/// Replaces the NPU's parts of each method by calls of graphs of its ops.
result<lowered_methods> divide(const std::map<std::string, graph*, std::less<>>& methods) {
    backend_registry backends;
    backends.add(npu::backend{});
    const auto report = [](const host_node& n) {
        std::printf("host: %s: %s\n", std::string(origin_name(*n.which)).c_str(), n.reason.c_str());
    };
    return to_backend(methods, npu::partitioner{report}, backends);
}
//! [divide]

//! [run]
/// Returns the largest difference between what a divided model computes and what PyTorch gave.
result<double> run(const char* model, const char* input, const char* expected) {
    HEADRACE_TRY(exported, read_model(model));
    HEADRACE_TRY(make_functional(*exported.graph));
    HEADRACE_TRY(divided, divide({{"forward", exported.graph.get()}}));
    HEADRACE_TRY(inputs, model_inputs(*exported.graph, {input}));
    HEADRACE_TRY(outputs, execute(*exported.graph, inputs, operators_of<npu::dialect>));
    HEADRACE_TRY(array, read_npy(expected));
    const std::vector<double> found = outputs[0].to<double>();
    const std::vector<double> wanted =
        tensor::view(array.meta.dtype, array.extents, array.data.data()).to<double>();
    if (found.size() != wanted.size()) return invalid({expected, ": not the output's size"});
    double largest = 0;
    for (std::size_t i = 0; i != found.size(); ++i)
        largest = std::max(largest, std::abs(found[i] - wanted[i]));
    std::printf("parts on the NPU: %zu\n", divided.methods.at("forward").delegates.size());
    return largest;
}
//! [run]

//! [write]
/// Writes a .pte file that calls the NPU's runtime beside ExecuTorch's kernels.
result<void> write(const char* model, const std::string& path) {
    std::map<std::string, program, std::less<>> methods;
    HEADRACE_TRY(exported, read_model(model));
    methods.emplace("forward", std::move(exported));
    pte_options options;
    options.to_backends = &divide;
    HEADRACE_TRY(lowered, lower_to_pte(std::move(methods), options));
    return write_pte(path, lowered);
}
//! [write]

/// Executes the delegates of a file from their bytes alone, as the NPU's runtime would.
result<void> check(const std::string& path) {
    HEADRACE_TRY(bytes, open_mapped(path));
    HEADRACE_TRY(file, pte_file::open(bytes.bytes()));
    HEADRACE_TRY(method, file.method("forward"));
    for (const pte_fb::Delegate* const d : *method->delegates()) {
        HEADRACE_TRY(blob, file.delegate(*d));
        const std::string_view text(reinterpret_cast<const char*>(blob.data()), blob.size());
        HEADRACE_TRY(part, parse_graph_text(text, {.find_own_op = &find_op<npu::dialect>}));
        HEADRACE_TRY(inputs, model_inputs(*part.graph, {}));
        HEADRACE_TRY(outputs, execute(*part.graph, inputs, operators_of<npu::dialect>));
        std::printf(
            "delegate of %s: %zu nodes, %zu output\n", d->id()->c_str(), part.graph->size(), outputs.size());
    }
    return {};
}

int main(int argc, char** argv) {
    if (argc != 5) return 2;
    const result<double> difference = run(argv[1], argv[2], argv[3]);
    result<void> done;
    if (!difference) done = difference.error();
    if (done) done = write(argv[1], argv[4]);
    if (done) done = check(argv[4]);
    if (!done) {
        std::fprintf(stderr, "%s\n", done.error().message.c_str());
        return 1;
    }
    std::printf("%s\n", difference.value() < 1e-5 ? "equal to PyTorch's result" : "a wrong result");
    return difference.value() < 1e-5 ? 0 : 1;
}
