// SPDX-License-Identifier: MIT
// Writes a .pte file in which a backend of its own computes parts of a graph: own_backend model.pte
#include <headrace/io/file/mapped_file.hpp>
#include <headrace/io/pte/file.hpp>
#include <headrace/io/pte/reader.hpp>
#include <headrace/io/text/graph_text.hpp>
#include <headrace/ir/listing.hpp>
//! [lower]
#include <headrace/lowering/lower_pte.hpp>
#include <headrace/partition/operator_support.hpp>

#include "vector_unit.hpp"
//! [lower]

#include <cstdio>
#include <string_view>
#include <utility>

// Two parts for the unit, which share a constant, around a kernel of ExecuTorch.
constexpr std::string_view model = R"(headrace 1
%x: float32[2, 3] = input
%weight: float32[2, 3] = constant [1.0, 2.0, 3.0, 0.5, -1.0, 4.0]
%bias: float32[2, 3] = constant [0.5, 0.25, 0.0, -0.5, 1.0, -2.0]
%scaled: float32[2, 3] = aten.mul.Tensor(%x, %weight)
%shifted: float32[2, 3] = aten.add.Tensor(%scaled, %bias)
%bounded: float32[2, 3] = aten.tanh.default(%shifted)
%y: float32[2, 3] = aten.mul.Tensor(%bounded, %weight)
output %y
)";

//! [lower]
using namespace headrace;

// The rest of the methods is lowered to kernels of ExecuTorch's runtime.
result<lowered_pte> lower(std::map<std::string, program, std::less<>> methods) {
    backend_registry backends;
    backends.add(my::vector_unit{});
    const support_partitioner parts{.support = create_op_support(&my::vector_unit::supports),
        .delegation = {.backend = "vector_unit", .specs = {{"precision", "float32"}}},
        .options = {.allows_single_node_partition = true}};
    pte_options options;
    options.to_backends = [&](const auto& graphs) { return to_backend(graphs, parts, backends); };
    return lower_to_pte(std::move(methods), options);
}
//! [lower]

result<void> write(const std::string& path) {
    std::map<std::string, program, std::less<>> methods;
    HEADRACE_TRY(parsed, parse_graph_text(model));
    methods.emplace("forward", std::move(parsed));
    HEADRACE_TRY(lowered, lower(std::move(methods)));
    return write_pte(path, lowered);
}

// Prints what the runtime passes to the backend.
result<void> show(const std::string& path) {
    HEADRACE_TRY(bytes, open_mapped(path));
    HEADRACE_TRY(file, pte_file::open(bytes.bytes()));
    HEADRACE_TRY(method, file.method("forward"));
    for (const pte_fb::Delegate* const d : *method->delegates()) {
        HEADRACE_TRY(blob, file.delegate(*d));
        std::printf("delegate of %s\n", d->id()->c_str());
        for (const pte_fb::CompileSpec* const s : *d->compile_specs())
            std::printf("  %s=%.*s\n", s->key()->c_str(), static_cast<int>(s->value()->size()),
                reinterpret_cast<const char*>(s->value()->data()));
        std::printf("%.*s", static_cast<int>(blob.size()), reinterpret_cast<const char*>(blob.data()));
    }
    for (const pte_fb::NamedData* const n : *file.program().named_data()) {
        HEADRACE_TRY(data, file.named_data(n->key()->string_view()));
        std::printf("%s: %zu bytes in segment %u\n", n->key()->c_str(), data.size(), n->segment());
    }
    HEADRACE_TRY(host, read_pte(file, "forward"));
    std::printf("%s", listing(*host).c_str());
    return {};
}

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    result<void> done = write(argv[1]);
    if (done) done = show(argv[1]);
    if (done) return 0;
    std::fprintf(stderr, "%s\n", done.error().message.c_str());
    return 1;
}
