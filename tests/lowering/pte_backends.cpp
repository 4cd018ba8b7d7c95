// SPDX-License-Identifier: MIT
// Tests .pte files with backends of the caller's: their bytes, compile specs and named data are in the file.

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/io/pte/file.hpp>
#include <headrace/io/pte/reader.hpp>
#include <headrace/io/pte/tosa_delegates.hpp>
#include <headrace/io/text/graph_text.hpp>
#include <headrace/io/tosa/backend.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/lowering/lower_pte.hpp>
#include <headrace/lowering/standard_pipeline.hpp>
#include <headrace/run/execution.hpp>

using namespace headrace;

namespace {

using graphs = std::map<std::string, graph*, std::less<>>;
using partitioners = std::map<std::string, partitioner, std::less<>>;

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}
std::string text_in(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Writes its ops as a text; the same data under a key of its own, and under one that all delegates share.
struct writing_backend {
    std::string id = "writing";
    std::size_t alignment = 16;
    std::string tag{};
    std::string key = "shared";

    [[nodiscard]] std::string_view name() const { return id; }
    result<preprocess_result> preprocess(graph& program, std::span<const compile_spec>) const {
        std::string text;
        for (const node& n : program.nodes()) {
            if (!is_of_dialect<builtin::dialect>(n)) (text += n.op->name) += ";";
        }
        named_data_store store;
        preprocess_result made;
        for (const std::string& k : {key, id + "." + text}) {
            HEADRACE_TRY(store.add_named_data(k, bytes_of("0123456789"), alignment, tag));
            made.data_keys.push_back(k);
        }
        made.processed_bytes.assign(bytes_of(text).begin(), bytes_of(text).end());
        made.data = store.output();
        return made;
    }
};

// Makes its program take and give int8.
struct quantizing_backend {
    static constexpr std::string_view name() { return "quantizing"; }
    result<preprocess_result> preprocess(graph& program, std::span<const compile_spec>) const {
        const signature_quantization q{0.5, 3, -128, 127};
        const auto narrow = [&](value v) { program.set_meta(v, {dtype::int8, meta_of(v)->shape, {}}); };
        for (node& input : program.inputs()) {
            narrow(input.result());
            program.annotate(input, q);
        }
        for (const value v : program.outputs()) narrow(v);
        const std::vector<signature_quantization> all(program.outputs().size(), q);
        program.annotate(
            *program.output(), output_quantizations{program.own(list<signature_quantization>(all))});
        return preprocess_result{};
    }
};

constexpr std::string_view layers = R"(headrace 1
%x: float32[2, 3] = input
%sum: float32[2, 3] = aten.add.Tensor(%x, %x)
%y: float32[2, 3] = aten.tanh.default(%sum)
%z: float32[2, 3] = aten.mul.Tensor(%y, %y)
output %z
)";
constexpr std::string_view counter = R"(headrace 1
user_outputs 1
writes buffer "total" from 1 tensor "total"
%x: float32[2, 3] = input
%total: float32[2, 3] = constant [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
%next: float32[2, 3] = aten.add.Tensor(%x, %total)
%y: float32[2, 3] = aten.mul.Tensor(%next, %x)
output %y, %next
)";

template <op_tag Op>
partition_result parts_of(graph& g, delegation_spec d) {
    const support_partitioner parts{
        create_op_support<Op>(), std::move(d), {.allows_single_node_partition = true}};
    return parts.partition(g).value();
}

// Sums for one backend, products for the other.
struct two_backends {
    delegation_spec sums;
    delegation_spec products;
    result<partition_result> partition(graph& g) const {
        partition_result all = parts_of<aten::add_tensor>(g, sums);
        for (delegated_partition& p : parts_of<aten::mul_tensor>(g, products).partitions)
            all.partitions.push_back(std::move(p));
        return all;
    }
};

// Bytes that tests examine must be aligned like those of a mapped file.
struct written_file {
    std::vector<std::max_align_t> room;
    std::size_t size = 0;

    explicit written_file(const emitted_pte& made) : room(made.size() / sizeof(std::max_align_t) + 1) {
        auto* to = reinterpret_cast<std::byte*>(room.data());
        const bool whole = made.write_to([&](std::span<const std::byte> bytes) {
            size += bytes.size();
            to = std::ranges::copy(bytes, to).out;
            return true;
        });
        CHECK(whole);
        CHECK(size == made.size());
    }
    [[nodiscard]] pte_file open() const {
        return pte_file::open(std::span(reinterpret_cast<const std::byte*>(room.data()), size)).value();
    }
};

result<lowered_pte> lower(std::string_view text, const partitioner& p, const backend_registry& backends) {
    std::map<std::string, program, std::less<>> methods;
    methods.emplace("forward", parse_graph_text(text).value());
    pte_options options;
    options.to_backends = [&](const graphs& all) { return to_backend(all, p, backends); };
    return lower_to_pte(std::move(methods), options);
}
std::pmr::string refusal(const writing_backend& b) {
    backend_registry backends;
    backends.add(b);
    const auto made = lower(layers, whole_program_partitioner{{b.id}}, backends);
    return made ? std::pmr::string() : made.error().message;
}

std::vector<std::string> keys_in(const pte_file& f) {
    std::vector<std::string> keys;
    if (f.program().named_data() == nullptr) return keys;
    for (const pte_fb::NamedData* const n : *f.program().named_data()) keys.push_back(n->key()->str());
    return keys;
}

}  // namespace

TEST_CASE("pte: delegates of several backends, with their specs and data", "[backends]") {
    backend_registry backends;
    backends.add(writing_backend{});
    backends.add(writing_backend{.id = "other", .alignment = 512});
    const two_backends parts{{"writing", {{"speed", "high"}, {"bytes", std::string("\0\1", 2)}}}, {"other"}};
    const auto made = lower(layers, parts, backends);
    REQUIRE(made);
    CHECK(made.value().reports.at("forward").delegates.size() == 2);
    const written_file written(made.value().file);
    const pte_file file = written.open();
    const auto& delegates = *file.method("forward").value()->delegates();
    REQUIRE(delegates.size() == 2);
    CHECK(delegates[0]->id()->str() == "writing");
    CHECK(text_in(file.delegate(*delegates[0]).value()) == "aten.add.Tensor;");
    REQUIRE(delegates[0]->compile_specs()->size() == 2);
    CHECK(delegates[0]->compile_specs()->Get(0)->key()->str() == "speed");
    CHECK(delegates[0]->compile_specs()->Get(1)->value()->size() == 2);
    CHECK(delegates[1]->id()->str() == "other");
    CHECK(delegates[1]->compile_specs() == nullptr);
    CHECK(text_in(file.delegate(*delegates[1]).value()) == "aten.mul.Tensor;");

    // Three keys of one content, which is where all of them may find it.
    CHECK(keys_in(file) ==
        std::vector<std::string>{"other.aten.mul.Tensor;", "shared", "writing.aten.add.Tensor;"});
    for (const std::string& key : keys_in(file)) {
        const auto data = file.named_data(key).value();
        CHECK(text_in(data) == "0123456789");
        CHECK(data.data() == file.named_data("shared").value().data());
        CHECK((data.data() - reinterpret_cast<const std::byte*>(written.room.data())) % 512 == 0);
    }
    const auto read = read_pte(file, "forward");
    REQUIRE(read);
    CHECK(listing(*read.value()).find("delegate of writing(") != std::string::npos);
    CHECK(listing(*read.value()).find("delegate of other(") != std::string::npos);
}

TEST_CASE("pte: constants of tosa stay among the host's beside another backend", "[backends]") {
    constexpr std::string_view text = R"(headrace 1
target "TOSA-1.0+FP"
%x: float32[2, 3] = input
%sum: float32[2, 3] = aten.add.Tensor(%x, %x)
%y: float32[2, 3] = aten.tanh.default(%sum)
%weight: float32[2, 3] = constant [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
%z: float32[2, 3] = aten.mul.Tensor(%y, %weight)
output %z
)";
    backend_registry backends;
    backends.add(writing_backend{});
    backends.add(tosa_backend(
        [](graph& g, pass_context& context) -> result<void> {
            HEADRACE_TRY(run_standard_pipeline(g, context));
            return {};
        },
        standard_functions));
    const auto made = lower(text, two_backends{{"writing"}, {"tosa"}}, backends);
    REQUIRE(made);
    const written_file written(made.value().file);
    const pte_file file = written.open();
    CHECK(keys_in(file) ==
        std::vector<std::string>{
            std::string(pte::shared_constants_key), "shared", "writing.aten.add.Tensor;"});
    const auto read = read_pte(file, "forward");
    REQUIRE(read);
    CHECK(listing(*read.value()).find("delegate.call_delegate") != std::string::npos);
}

TEST_CASE("pte: a method that is one delegate has a host graph that calls it", "[backends]") {
    backend_registry backends;
    backends.add(writing_backend{});
    const auto made = lower(counter, whole_program_partitioner{{"writing"}}, backends);
    REQUIRE(made);
    CHECK(listing(*made.value().methods.at("forward").graph) ==
        "%x: float32[2, 3] = input\n"
        "%total: float32[2, 3] = input\n"
        "%y: float32[2, 3], %next: float32[2, 3], %total_1: float32[2, 3] = "
        "executorch.call_delegate(operands=[%x, %total])\n"
        "output %y, %next, %total\n");
    const written_file written(made.value().file);
    const pte_file file = written.open();
    const pte_fb::Method& method = *file.method("forward").value();
    CHECK(method.inputs()->size() == 1);
    CHECK(method.outputs()->size() == 1);
    REQUIRE(file.initial_value(1, 24));
    CHECK(file.program().segments()->size() == 4);  // constants, delegate, initial value, named data
}

TEST_CASE("pte: a state is kept around delegates that are parts", "[backends]") {
    backend_registry backends;
    backends.add(writing_backend{});
    const auto made = lower(counter, two_backends{{"writing"}, {"writing"}}, backends);
    REQUIRE(made);
    const written_file written(made.value().file);
    const pte_file file = written.open();
    CHECK(file.method("forward").value()->inputs()->size() == 1);
    CHECK(file.method("forward").value()->delegates()->size() == 2);
}

TEST_CASE("pte: a whole method takes what was exported if its backend takes integers", "[backends]") {
    backend_registry backends;
    backends.add(quantizing_backend{});
    const auto made = lower(layers, whole_program_partitioner{{"quantizing"}}, backends);
    REQUIRE(made);
    std::vector<std::string> ops;
    for (const node& n : made.value().methods.at("forward").graph->nodes()) ops.emplace_back(n.op->name);
    CHECK(std::ranges::count(ops, "quantized_decomposed::quantize_per_tensor.out") == 1);
    CHECK(std::ranges::count(ops, "quantized_decomposed::dequantize_per_tensor.out") == 1);
    // The delegate has no bytes; its segment is there nevertheless.
    const written_file written(made.value().file);
    const pte_file file = written.open();
    const auto bytes = file.delegate(*file.method("forward").value()->delegates()->Get(0));
    REQUIRE(bytes);
    CHECK(bytes.value().empty());
}

TEST_CASE("pte: data that the file cannot give to its backend is refused", "[backends]") {
    CHECK(refusal({}).empty());
    CHECK(refusal({.tag = "weights"}) ==
        "named data 'shared' is for another file, 'weights': a .pte file is written with all of its data; leave "
        "the tag out");
    CHECK(refusal({.key = std::string(pte::shared_constants_key)}) ==
        "named data 'headrace.constants': the constants of 'tosa' have this key");
    CHECK(refusal({.alignment = std::size_t{1} << 17U}).find("an alignment of 131072") !=
        std::pmr::string::npos);
}

TEST_CASE("pte: backends must be given the methods' own graphs", "[backends]") {
    std::map<std::string, program, std::less<>> methods;
    methods.emplace("forward", parse_graph_text(layers).value());
    graph other;
    pte_options options;
    options.to_backends = [&](const graphs&) -> result<lowered_methods> {
        lowered_methods made;
        made.methods["forward"].host = &other;
        return made;
    };
    const auto made = lower_to_pte(std::move(methods), options);
    REQUIRE(!made);
    CHECK(made.error().message == "method forward: the backends were not given this graph");
}
