// SPDX-License-Identifier: MIT
// Lowers two methods of a model together, so that their backend stores shared weights once.
#include <headrace/infer/aten.hpp>
#include <headrace/infer/graph_builder.hpp>
//! [backend]
#include <headrace/dialect/aten.hpp>
#include <headrace/partition/to_backend.hpp>
//! [backend]

#include <cstdio>
#include <cstring>

//! [backend]
using namespace headrace;

// A backend sees the programs of all methods at once if it has preprocess_multimethod; otherwise preprocess
// is called for each. This one puts constants into a store that all of its delegates share.
struct sharing_backend {
    static constexpr std::string_view name() { return "sharing"; }

    result<preprocess_result> preprocess(graph& program, std::span<const compile_spec>) const {
        named_data_store store;
        HEADRACE_TRY(made, preprocess_into(program, store));
        made.data = store.output();
        return std::move(made);
    }
    result<method_results> preprocess_multimethod(
        const method_programs& programs, const method_compile_specs&) const {
        named_data_store store;
        method_results results;
        for (const auto& [method, graphs] : programs) {
            for (graph* program : graphs) {
                HEADRACE_TRY(made, preprocess_into(*program, store));
                results[method].push_back(std::move(made));
            }
        }
        for (auto& [method, made] : results) made[0].data = store.output();
        return results;
    }

private:
    static result<preprocess_result> preprocess_into(const graph& program, named_data_store& store) {
        preprocess_result made;
        for (const node& n : program.nodes_of(info_of<builtin::constant>)) {
            const auto elements = static_cast<std::size_t>(n.results[0].meta->elements());
            const std::span data(args_of<builtin::constant>(n).data.bytes, 4 * elements);
            made.data_keys.emplace_back("weights." + std::to_string(hash_of_bytes(data)));
            HEADRACE_TRY(store.add_named_data(made.data_keys.back(), data, 16));
        }
        made.processed_bytes.resize(program.size());  // a real one writes its instructions
        return made;
    }
};

// Sums and products go to the backend, also single ones.
partitioner sums_and_products() {
    return support_partitioner{create_op_support<aten::add_tensor, aten::mul_tensor>(),
        {.backend = "sharing"}, {.allows_single_node_partition = true}};
}

result<lowered_methods> lower(const std::map<std::string, graph*, std::less<>>& methods) {
    backend_registry backends;
    backends.add(sharing_backend{});
    return to_backend(methods, sums_and_products(), backends);
}
//! [backend]

// Builds relu(x) + weights, and a product with these for the method that asks for it.
static void build(graph& g, bool decode) {
    graph_builder b(g);
    const value x = b.input("x", {1, 4});
    const value weights =
        create_constant(g, {dtype::float32, {1, 4}, {}}, nullptr, [](std::span<std::byte> data) {
            const float numbers[] = {1, 2, 3, 4};
            std::memcpy(data.data(), numbers, sizeof numbers);
        });
    const value sum = b.make<aten::add_tensor>({.self = b.make<aten::relu>({.self = x}), .other = weights});
    b.output({decode ? b.make<aten::mul_tensor>({.self = sum, .other = weights}) : sum});
}

int main() {
    graph encode;
    graph decode;
    build(encode, false);
    build(decode, true);
    const auto lowered = lower({{"encode", &encode}, {"decode", &decode}});
    if (!lowered) {
        std::printf("%s\n", lowered.error().message.c_str());
        return 1;
    }
    for (const auto& [name, method] : lowered.value().methods) {
        for (const lowered_delegate& d : method.delegates)
            std::printf("%s: a delegate of %zu nodes, %zu constants\n", name.c_str(),
                d.processed.processed_bytes.size(), d.processed.data_keys.size());
    }
    std::printf("data: %zu buffers\n", lowered.value().data.buffers.size());

    // Misuse gets an error that names the method.
    const auto refused = to_backend({{"encode", &encode}}, {{"decoed", sums_and_products()}}, {});
    if (!refused) std::printf("error: %s\n", refused.error().message.c_str());
}
