// SPDX-License-Identifier: MIT
// Tests to_backend: several methods, shared data, and misuse, whose errors name the method.

#include <algorithm>
#include <functional>

#include <catch2/catch.hpp>

#include <headrace/infer/verify.hpp>
#include <headrace/partition/to_backend.hpp>

#include "../support/pass_test.hpp"

using namespace headrace;

namespace {

const partitioner_options singles{.allows_single_node_partition = true};

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

// Writes the number of nodes into its bytes and stores the elements of constants as named data.
struct counting_backend {
    static constexpr std::string_view name() { return "counting"; }
    result<preprocess_result> preprocess(graph& program, std::span<const compile_spec> specs) const {
        if (!specs.empty() && specs[0].value == "fail") return unsupported("it was told to fail");
        named_data_store store;
        preprocess_result made;
        for (const node& n : program.nodes_of(info_of<builtin::constant>)) {
            const std::span data(args_of<builtin::constant>(n).data.bytes, 8);
            made.data_keys.push_back("c" + std::to_string(hash_of_bytes(data)));
            HEADRACE_TRY(store.add_named_data(made.data_keys.back(), data));
        }
        made.processed_bytes.resize(program.size());
        made.data = store.output();
        return made;
    }
};
static_assert(backend<counting_backend> && !multimethod_backend<counting_backend>);

// Sees all methods at once; on request it omits one, returns too many, or refers to missing data.
struct sharing_backend {
    std::string fault;
    static constexpr std::string_view name() { return "sharing"; }
    result<preprocess_result> preprocess(graph&, std::span<const compile_spec>) const {
        return invalid("preprocess_multimethod is there");
    }
    result<method_results> preprocess_multimethod(
        const method_programs& programs, const method_compile_specs& specs) const {
        CHECK(programs.size() == specs.size());
        named_data_store store;
        REQUIRE(store.add_named_data("methods", bytes_of(std::to_string(programs.size()))).has_value());
        method_results results;
        for (const auto& [method, graphs] : programs) {
            CHECK(specs.at(method).size() == graphs.size());
            if (fault == method) continue;
            results[method].resize(graphs.size() + (fault == "more" ? 1 : 0));
            for (preprocess_result& r : results[method]) {
                r.data = store.output();
                r.data_keys = {fault == "unknown key" ? "nothing" : "methods"};
            }
        }
        return results;
    }
};
static_assert(multimethod_backend<sharing_backend>);

struct partition_additions {
    delegation_spec delegation;
    result<partition_result> partition(graph& g) const {
        return support_partitioner{create_op_support<aten::add_tensor>(), delegation, singles}.partition(g);
    }
};

// x -> + weights -> relu -> + weights
void build(program& p) {
    const value x = p.input(dtype::float32, {2});
    const value weights = p.constant<float>(dtype::float32, {2}, {3, 4});
    const value sum = p.make<aten::add_tensor>({.self = x, .other = weights});
    p.output(p.make<aten::add_tensor>({.self = p.make<aten::relu>({.self = sum}), .other = weights}));
    p.finish();
}

using methods = std::map<std::string, graph*, std::less<>>;
using partitioners = std::map<std::string, partitioner, std::less<>>;

backend_registry all_backends(const std::string& fault = "") {
    backend_registry backends;
    backends.add(counting_backend{});
    backends.add(sharing_backend{fault});
    return backends;
}

template <class Partitioners>
std::pmr::string refusal(
    const methods& m, const Partitioners& p, const backend_registry& backends = all_backends()) {
    const auto done = to_backend(m, p, backends);
    return done ? std::pmr::string() : done.error().message;
}

}  // namespace

TEST_CASE("partitions of all methods are lowered, and the graphs run as before", "[backend]") {
    program encode;
    program decode;
    build(encode);
    build(decode);
    const std::vector<tensor> inputs{tensor::of(dtype::float32, {2}, std::vector<double>{-9, 2})};
    const auto expected = run_graph(encode.g, inputs);
    const auto lowered = to_backend({{"encode", &encode.g}, {"decode", &decode.g}},
        partition_additions{{.backend = "counting"}}, all_backends());
    REQUIRE(lowered.has_value());
    CHECK(lowered.value().methods.size() == 2);
    CHECK(lowered.value().data.buffers.size() == 1);  // the weights of both methods, once
    for (const auto& [name, m] : lowered.value().methods) {
        REQUIRE(m.delegates.size() == 2);
        CHECK_FALSE(m.is_whole);
        CHECK(m.delegates[0].processed.processed_bytes.size() == 4);  // input, constant, addition, output
        CHECK(args_of<delegate::call_delegate>(*m.delegates[1].call).backend == "counting");
        CHECK(verify<delegate::dialect, aten::dialect>(*m.host).has_value());
        const auto got = run_graph(*m.host, inputs);
        REQUIRE(got.has_value());
        CHECK(tensor_difference(expected.value()[0], got.value()[0], 0).empty());
    }
}

TEST_CASE("a method without a partitioner stays, a whole one is not taken apart", "[backend]") {
    program encode;
    program decode;
    build(encode);
    build(decode);
    partitioners p;
    p.emplace("decode", whole_program_partitioner{{.backend = "counting"}});
    const auto lowered = to_backend({{"encode", &encode.g}, {"decode", &decode.g}}, p, all_backends());
    REQUIRE(lowered.has_value());
    CHECK(lowered.value().methods.at("encode").delegates.empty());
    const lowered_method& whole = lowered.value().methods.at("decode");
    CHECK(whole.is_whole);
    REQUIRE(whole.delegates.size() == 1);
    CHECK(whole.delegates[0].program == &decode.g);
    CHECK(decode.g.census().count(info_of<aten::add_tensor>) == 2);
}

TEST_CASE("a backend that takes all methods at once gets them at once", "[backend]") {
    program encode;
    program decode;
    build(encode);
    build(decode);
    const auto lowered = to_backend({{"encode", &encode.g}, {"decode", &decode.g}},
        partition_additions{{.backend = "sharing"}}, all_backends());
    REQUIRE(lowered.has_value());
    REQUIRE(lowered.value().data.buffers.size() == 1);
    CHECK(lowered.value().data.buffers[0]->bytes == std::vector<std::byte>{std::byte{'2'}});
}

TEST_CASE("several backends share the methods", "[backend]") {
    program p;
    build(p);
    struct by_turns {
        result<partition_result> partition(graph& g) const {
            partition_result found;
            for (node& n : g.nodes_of(info_of<aten::add_tensor>)) {
                const bool first = found.partitions.empty();
                found.partitions.push_back({{&n}, {.backend = first ? "counting" : "sharing"}});
            }
            return found;
        }
    };
    const auto lowered = to_backend({{"forward", &p.g}}, by_turns{}, all_backends());
    REQUIRE(lowered.has_value());
    const auto& delegates = lowered.value().methods.at("forward").delegates;
    REQUIRE(delegates.size() == 2);
    CHECK(delegates[0].processed.processed_bytes.size() == 4);
    CHECK(delegates[1].processed.data_keys == std::vector<std::string>{"methods"});
}

TEST_CASE("each partition reaches the backend with compile specs of its own", "[backend]") {
    // Writes its arguments.
    struct telling_backend {
        static constexpr std::string_view name() { return "telling"; }
        result<preprocess_result> preprocess(graph&, std::span<const compile_spec> specs) const {
            preprocess_result made;
            std::string told;
            for (const compile_spec& s : specs) told += s.key + "=" + s.value + ";";
            const auto bytes = bytes_of(told);
            made.processed_bytes.assign(bytes.begin(), bytes.end());
            return made;
        }
    };
    struct numbered_partitions {
        std::string method;
        result<partition_result> partition(graph& g) const {
            partition_result found;
            for (node& n : g.nodes_of(info_of<aten::add_tensor>)) {
                const std::string number = std::to_string(found.partitions.size());
                found.partitions.push_back({{&n}, {"telling", {{"method", method}, {"part", number}}}});
            }
            return found;
        }
    };
    program encode;
    program decode;
    build(encode);
    build(decode);
    backend_registry backends;
    backends.add(telling_backend{});
    partitioners p;
    p.emplace("encode", numbered_partitions{"encode"});
    p.emplace("decode", numbered_partitions{"decode"});
    const auto lowered = to_backend({{"encode", &encode.g}, {"decode", &decode.g}}, p, backends);
    REQUIRE(lowered.has_value());
    for (const auto& [name, m] : lowered.value().methods) {
        REQUIRE(m.delegates.size() == 2);
        for (std::size_t i = 0; i != 2; ++i) {
            const std::string wanted = "method=" + name + ";part=" + std::to_string(i) + ";";
            CHECK(std::ranges::equal(m.delegates[i].processed.processed_bytes, bytes_of(wanted)));
        }
    }
}

TEST_CASE("misuse is refused in words that name the method", "[backend]") {
    program one;
    program two;
    build(one);
    build(two);
    const methods both{{"one", &one.g}, {"two", &two.g}};
    const partition_additions counting{{.backend = "counting"}};

    partitioners unknown;
    unknown.emplace("three", counting);
    CHECK(refusal(both, unknown) == "method three: a partitioner, but no such method");
    CHECK(refusal(methods{{"one", nullptr}}, partitioners{}) == "method one: no program");
    CHECK(refusal(both, partitioner(partition_additions{{.backend = "missing"}})) ==
        "method one: backend 'missing' is not registered; these are: counting, sharing");
    CHECK(refusal(both, partitioner(counting), {}).ends_with("these are: none"));

    struct failing {
        result<partition_result> partition(graph&) const { return invalid("no idea"); }
    };
    CHECK(refusal(both, partitioner(failing{})) == "method one: no idea");

    struct overlapping {
        result<partition_result> partition(graph& g) const {
            node* n = &*g.nodes_of(info_of<aten::relu>).begin();
            return partition_result{.partitions = {{{n}, {"counting"}}, {{n}, {"counting"}}}};
        }
    };
    CHECK(refusal(both, partitioner(overlapping{})).starts_with("method one: partition 1 has "));
    struct whole_and_parts {
        result<partition_result> partition(graph& g) const {
            node* n = &*g.nodes_of(info_of<aten::relu>).begin();
            return partition_result{{{{n}, {"counting"}}}, delegation_spec{"counting"}};
        }
    };
    CHECK(refusal(both, partitioner(whole_and_parts{})) == "method one: partitions beside the whole program");
}

TEST_CASE("a backend that does not keep its word is found out", "[backend]") {
    const auto refused = [](const std::string& fault) {
        program one;
        program two;
        build(one);
        build(two);
        return refusal({{"one", &one.g}, {"two", &two.g}},
            partitioner(partition_additions{{.backend = "sharing"}}), all_backends(fault));
    };
    CHECK(refused("").empty());
    CHECK(refused("two") == "method two: backend 'sharing' gave nothing for it");
    CHECK(refused("more") == "method one: backend 'sharing' gave 3 results for 2 programs");
    CHECK(refused("unknown key") ==
        "method one: backend 'sharing' refers to data that it does not give, 'nothing'");

    program p;
    build(p);
    CHECK(refusal({{"one", &p.g}}, partitioner(partition_additions{{"counting", {{"mode", "fail"}}}})) ==
        "method one: it was told to fail");
}

TEST_CASE("the host does what a backend has left to its caller", "[backend]") {
    // A backend that takes and returns quantized int8, and int32 for int64.
    struct narrowing_backend {
        static constexpr std::string_view name() { return "narrowing"; }
        result<preprocess_result> preprocess(graph& program, std::span<const compile_spec>) const {
            const signature_quantization q{0.5, 1, -128, 127};
            for (node& n : program.inputs()) {
                const tensor_meta meta = *n.results[0].meta;
                if (is_floating(meta.dtype)) program.annotate(n, q);
                program.set_meta(
                    n.result(), {is_floating(meta.dtype) ? dtype::int8 : dtype::int32, meta.shape, {}});
            }
            std::vector<signature_quantization> given;
            for (const value v : program.outputs()) {
                const tensor_meta meta = *meta_of(v);
                given.push_back(is_floating(meta.dtype) ? q : signature_quantization{});
                program.set_meta(v, {is_floating(meta.dtype) ? dtype::int8 : dtype::int32, meta.shape, {}});
            }
            program.annotate(
                *program.output(), output_quantizations{program.own(list<signature_quantization>(given))});
            return preprocess_result{};
        }
    };
    program p;
    const value x = p.input(dtype::float32, {3});
    const value k = p.input(dtype::int64, {3});
    p.output(p.make<aten::relu>({.self = x}));
    p.output(p.make<aten::add_tensor>({.self = k, .other = k}));
    p.finish();
    backend_registry backends;
    backends.add(narrowing_backend{});
    const support_partitioner all{
        create_op_support<aten::relu, aten::add_tensor>(), {.backend = "narrowing"}};
    REQUIRE(to_backend({{"forward", &p.g}}, all, backends).has_value());
    const auto sound = verify<delegate::dialect, aten::dialect, quantized_decomposed::dialect>(p.g);
    if (!sound) FAIL(sound.error().message);
    CHECK(meta_of(p.g.outputs()[0])->dtype == dtype::float32);
    CHECK(meta_of(p.g.outputs()[1])->dtype == dtype::int64);
    CHECK(p.g.census().count(info_of<quantized_decomposed::quantize_per_tensor>) == 1);
    CHECK(p.g.census().count(info_of<quantized_decomposed::dequantize_per_tensor>) == 1);
    const std::vector<tensor> inputs{tensor::of(dtype::float32, {3}, std::vector<double>{1.5, -2, 7.25}),
        tensor::of(dtype::int64, {3}, std::vector<double>{1, 2, -3})};
    const auto got = run_graph(p.g, inputs);
    REQUIRE(got.has_value());
    // The quantized values are 4, -3 and 15, half to even; relu makes them 4, 0 and 15.
    CHECK(got.value()[0].real(0) == 1.5);
    CHECK(got.value()[0].real(1) == -0.5);
    CHECK(got.value()[0].real(2) == 7.0);
    CHECK(got.value()[1].integer(2) == -6);
}

namespace {

// flag ? -(y + w) : y + w, where y is x + w: the condition is in no partition.
void build_branches(program& p) {
    const value flag = p.input(dtype::boolean, {1});
    const value x = p.input(dtype::float32, {2});
    const value w = p.constant<float>(dtype::float32, {2}, {3, 4});
    const value sum = p.make<aten::add_tensor>({.self = x, .other = w});
    graph* branches[2];
    for (graph*& region : branches) {
        region = &p.g.create_region();
        const value y = region->create<builtin::placeholder>({}).result();
        const value offsets = region->create<builtin::placeholder>({}).result();
        value made = region->create<aten::add_tensor>({.self = y, .other = offsets}).result();
        for (const value v : {y, offsets, made}) region->set_meta(v, {dtype::float32, {2}, {}});
        if (&region == &branches[0]) {
            made = region->create<aten::neg>({.self = made}).result();
            region->set_meta(made, {dtype::float32, {2}, {}});
        }
        region->create<builtin::output>({.values = {&made, 1}});
    }
    const value operands[] = {sum, w};
    p.output(p.make<higher_order::cond>({flag, branches[0], branches[1], list<value>(operands, 2)}));
    p.finish();
}

// Takes additions, including those in the branches of conditions.
struct partition_all_additions {
    result<partition_result> partition(graph& g) const {
        partition_result found;
        for_each_graph(g, [&](graph& sub) {
            for (node& n : sub.nodes_of(info_of<aten::add_tensor>))
                found.partitions.push_back({{&n}, {.backend = "counting"}});
        });
        return found;
    }
};

}  // namespace

TEST_CASE("partitions lie in the branches of a condition that stays on the host", "[backend]") {
    program p;
    build_branches(p);
    REQUIRE(p.fault.empty());
    const auto inputs_for = [](double flag) {
        return std::vector{tensor::of(dtype::boolean, {1}, std::vector<double>{flag}),
            tensor::of(dtype::float32, {2}, std::vector<double>{-9, 2})};
    };
    const auto taken = run_graph(p.g, inputs_for(1));
    const auto other = run_graph(p.g, inputs_for(0));
    REQUIRE((taken && other));
    const auto lowered = to_backend({{"m", &p.g}}, partition_all_additions{}, all_backends());
    REQUIRE(lowered);
    const lowered_method& m = lowered.value().methods.at("m");
    REQUIRE(m.delegates.size() == 3);
    const node& condition = *m.host->nodes_of(info_of<higher_order::cond>).begin();
    std::size_t inside = 0;
    for_each_region(condition, [&](const field_info&, const graph* region) {
        inside += region->census().count(info_of<delegate::call_delegate>);
        CHECK(region->census().count(info_of<aten::add_tensor>) == 0);
    });
    CHECK(inside == 2);
    CHECK(m.delegates[0].call->owner == m.host);
    CHECK(m.delegates[1].call->owner->parent() == m.host);
    for (const double flag : {1.0, 0.0}) {
        const auto got = run_graph(*m.host, inputs_for(flag));
        REQUIRE(got);
        const auto& expected = flag != 0 ? taken : other;
        CHECK(tensor_difference(expected.value()[0], got.value()[0], 0).empty());
    }
}
