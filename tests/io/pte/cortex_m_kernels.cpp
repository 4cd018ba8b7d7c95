// SPDX-License-Identifier: MIT
// Tests ExecuTorch's files with kernels for Cortex-M: the writer calls these by name and plans the buffers
// that they work in, and the reader makes nodes of the dialect again.

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/dialect/cortex_m.hpp>
#include <headrace/dialect/executorch.hpp>
#include <headrace/dialect/memory.hpp>
#include <headrace/io/pte/emitter.hpp>
#include <headrace/io/pte/reader.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/memory/memory_plan.hpp>
#include <headrace/run/execution.hpp>

using namespace headrace;

namespace {

constexpr std::int64_t half = 1 << 30;  // 1/2 in Q31

struct cortex_graph {
    graph g;

    value typed(node& n, const tensor_meta& meta) {
        g.set_meta(n.result(), meta);
        return n.result();
    }
    value input(int_list shape, dtype type = dtype::int8) {
        return typed(g.create<builtin::placeholder>({}), {type, shape, {}});
    }
    template <class T>
    value constant(dtype type, int_list shape, T first, T step) {
        return create_constant(g, {type, shape, {}}, nullptr, [&](std::span<std::byte> data) {
            for (std::size_t i = 0; i * sizeof(T) != data.size(); ++i) {
                const T x = static_cast<T>(first + static_cast<T>(i) * step);
                std::memcpy(&data[i * sizeof(T)], &x, sizeof(T));
            }
        });
    }
    value scratch(std::int64_t bytes) {
        return typed(
            g.create<memory::alloc>({.size = {bytes}, .dtype = dtype::uint8}), {dtype::uint8, {bytes}, {}});
    }
    template <class Op>
    value make(const args<Op>& a, int_list shape, dtype type = dtype::int8) {
        return typed(g.create<Op>(a), {type, shape, {}});
    }
    void output(std::initializer_list<value> values) {
        const std::vector<value> all(values);
        g.create<builtin::output>({.values = list<value>(all)});
    }
    // A convolution of (1, 4, 4, 2) with a 3x3 window, to 3 channels.
    value convolution(value x, value buffer) {
        return make<cortex_m::quantized_conv2d_nhwc>(
            {.input = x,
                .weight = constant<std::int8_t>(dtype::int8, {3, 3, 3, 2}, -20, 1),
                .bias = constant<std::int32_t>(dtype::int32, {3}, 100, -80),
                .stride = {1, 1},
                .padding = {1, 1},
                .dilation = {1, 1},
                .input_offset = 3,
                .output_offset = -4,
                .requantize_multipliers = constant<std::int32_t>(dtype::int32, {3}, half, 1 << 20),
                .requantize_shifts = constant<std::int32_t>(dtype::int32, {3}, -6, 1),
                .activation_min = -128,
                .activation_max = 127,
                .scratch = buffer},
            {1, 4, 4, 3});
    }
};

// All kinds of arguments: numbers, lists, floats, a flag, a dtype, a tensor that is not there, buffers of some
// bytes and of none.
void build_network(cortex_graph& b) {
    const value work = b.scratch(112);
    const value none = b.scratch(0);
    const value x = b.input({1, 4, 4, 2}, dtype::float32);
    const value codes =
        b.make<cortex_m::quantize_per_tensor>({x, 0.125, -3, -128, 127, dtype::int8}, {1, 4, 4, 2});
    const value image = b.convolution(codes, work);
    const value pooled = b.make<cortex_m::quantized_avg_pool2d_nhwc>({.input = image,
                                                                         .kernel_size = {4, 4},
                                                                         .stride = {4, 4},
                                                                         .padding = {0, 0},
                                                                         .ceil_mode = false,
                                                                         .zero_point = 0,
                                                                         .multiplier = half,
                                                                         .shift = 1,
                                                                         .scratch = none},
        {1, 1, 1, 3});
    const value row = b.typed(b.g.create<executorch::reshape>({pooled, {1, 3}}), {dtype::int8, {1, 3}, {}});
    const value linear = b.make<cortex_m::quantized_linear>(
        {.input = row,
            .weights = b.constant<std::int8_t>(dtype::int8, {5, 3}, -7, 1),
            .bias = {},
            .kernel_sum = b.constant<std::int32_t>(dtype::int32, {5}, 9, -3),
            .input_offset = 4,
            .filter_offset = 0,
            .output_offset = 1,
            .requantize_multipliers = {half},
            .requantize_shifts = {-1},
            .activation_max = 127,
            .activation_min = -128},
        {1, 5});
    b.output({b.make<cortex_m::dequantize_per_tensor>(
        {linear, 0.25, 1, -128, 127, dtype::int8}, {1, 5}, dtype::float32)});
}

struct written_file {
    std::vector<std::max_align_t> room;
    std::size_t size = 0;
    std::uint64_t planned = 0;

    explicit written_file(const cortex_graph& b) {
        const pte_method method{"forward", &b.g};
        const auto file = emit_pte(std::span(&method, 1));
        REQUIRE(file);
        planned = file.value().methods()[0].planned_bytes;
        room.resize(file.value().size() / sizeof(std::max_align_t) + 1);
        REQUIRE(file.value().write_to([&](std::span<const std::byte> part) {
            std::memcpy(reinterpret_cast<std::byte*>(room.data()) + size, part.data(), part.size());
            size += part.size();
            return true;
        }));
    }
    [[nodiscard]] pte_file open() const {
        auto file = pte_file::open(std::span(reinterpret_cast<const std::byte*>(room.data()), size));
        REQUIRE(file);
        return std::move(file).value();
    }
};

std::vector<tensor> run(const graph& g) {
    std::vector<tensor> inputs;
    for (const node& n : g.inputs()) {
        const tensor_meta& meta = *meta_of(value{const_cast<node*>(&n), 0});
        std::vector<double> numbers;
        for (std::int64_t i = 0; i != meta.elements(); ++i)
            numbers.push_back(static_cast<double>((i * 37 + 11) % 64 - 32) / 4);
        inputs.push_back(
            tensor::of(meta.dtype, eval::extents(meta.shape.begin(), meta.shape.end()), numbers));
    }
    const auto outputs = execute(g, inputs);
    if (!outputs) UNSCOPED_INFO(outputs.error().message);
    REQUIRE(outputs);
    return outputs.value();
}

std::string message_of_reading(const cortex_graph& b) {
    const written_file bytes(b);
    const pte_file file = bytes.open();
    const auto read = read_pte(file, "");
    return read ? std::string() : std::string(read.error().message);
}

/// Returns the first byte of a tensor in planned memory, and one past its last.
std::pair<std::uint64_t, std::uint64_t> place_of(const pte_fb::Method& m, std::int32_t index) {
    const pte_fb::Tensor& t = *m.values()->Get(static_cast<std::uint32_t>(index))->kind_as_Tensor();
    std::uint64_t bytes = 1;
    for (const std::int32_t size : *t.sizes()) bytes *= static_cast<std::uint64_t>(size);
    REQUIRE(t.allocation() != nullptr);
    return {t.allocation()->offset_low(), t.allocation()->offset_low() + bytes};
}

}  // namespace

TEST_CASE("pte: kernels for Cortex-M are called by the runtime's names", "[pte]") {
    cortex_graph b;
    build_network(b);
    const written_file bytes(b);
    const pte_file file = bytes.open();
    const auto method = file.method("forward");
    REQUIRE(method);
    std::vector<std::string> names;
    for (const auto* const o : *method.value()->operators())
        names.push_back(o->name()->str() + "." + o->overload()->str());
    CHECK(names ==
        std::vector<std::string>{"cortex_m::quantize_per_tensor.out", "cortex_m::quantized_conv2d_nhwc.out",
            "cortex_m::quantized_avg_pool2d_nhwc.out", "cortex_m::quantized_linear.out",
            "cortex_m::dequantize_per_tensor.out"});
    std::vector<std::size_t> arguments;  // of the schema, and the result twice
    const auto& instructions = *method.value()->chains()->Get(0)->instructions();
    for (const auto* const i : instructions) arguments.push_back(i->call_as_KernelCall()->args()->size());
    CHECK(arguments == std::vector<std::size_t>{6 + 2, 13 + 2, 9 + 2, 11 + 2, 6 + 2});
    const auto& quantize = *instructions.Get(0)->call_as_KernelCall()->args();
    const auto& values = *method.value()->values();
    CHECK(values.Get(static_cast<std::uint32_t>(quantize.Get(5)))->kind_as_Int()->value() == 1);  // Char
    const auto& linear = *instructions.Get(3)->call_as_KernelCall()->args();
    CHECK(values.Get(static_cast<std::uint32_t>(linear.Get(2)))->kind_as_Null() != nullptr);
}

TEST_CASE("pte: kernels for Cortex-M come back as nodes, and compute the same", "[pte]") {
    cortex_graph b;
    build_network(b);
    const written_file bytes(b);
    const pte_file file = bytes.open();
    const auto read = read_pte(file, "forward");
    REQUIRE(read);
    std::vector<std::string_view> ops;
    for (const node& n : read.value()->nodes()) {
        if (!is<builtin::constant>(n)) ops.push_back(n.op->name);
    }
    CHECK(ops ==
        std::vector<std::string_view>{"builtin.placeholder", "cortex_m.quantize_per_tensor.default",
            "memory.alloc", "cortex_m.quantized_conv2d_nhwc.default", "memory.alloc",
            "cortex_m.quantized_avg_pool2d_nhwc.default", "executorch.reshape",
            "cortex_m.quantized_linear.default", "cortex_m.dequantize_per_tensor.default", "builtin.output"});
    for (const node& n : read.value()->nodes_of(info_of<cortex_m::quantized_conv2d_nhwc>)) {
        const auto& a = args_of<cortex_m::quantized_conv2d_nhwc>(n);
        CHECK(*meta_of(a.scratch) == tensor_meta{dtype::uint8, {112}, {}});
        CHECK((a.padding == int_list{1, 1} && a.output_offset == -4));
    }
    for (const node& n : read.value()->nodes_of(info_of<cortex_m::quantized_linear>)) {
        const auto& a = args_of<cortex_m::quantized_linear>(n);
        CHECK((!a.bias && a.kernel_sum && a.requantize_multipliers == int_list{half}));
    }
    const std::vector<tensor> expected = run(b.g), got = run(*read.value());
    REQUIRE(got.size() == 1);
    CHECK(std::ranges::equal(got[0].bytes(), expected[0].bytes()));
    const auto plan = make_memory_plan(*read.value(), {.bytes_of = &executed_bytes});
    REQUIRE(plan);
    const std::vector<tensor> inputs{tensor::of(dtype::float32, {1, 4, 4, 2}, std::vector<double>(32, 1.5))};
    const auto planned = execute_planned(*read.value(), plan.value(), inputs);
    const auto plain = execute(*read.value(), inputs);
    REQUIRE((planned && plain));
    CHECK(std::ranges::equal(planned.value()[0].bytes(), plain.value()[0].bytes()));
}

TEST_CASE("pte: a buffer is planned for its kernel alone", "[pte]") {
    cortex_graph b;
    std::vector<value> buffers;
    for (int i = 0; i != 3; ++i) buffers.push_back(b.scratch(4096));  // made long before their nodes
    const value x = b.input({1, 4, 4, 2});
    std::vector<value> images;
    for (const value buffer : buffers) images.push_back(b.convolution(x, buffer));
    b.output({images[0], images[1], images[2]});
    const written_file bytes(b);
    CHECK(bytes.planned < 2 * 4096);
    const pte_file file = bytes.open();
    const auto method = file.method("");
    REQUIRE(method);
    for (const auto* const i : *method.value()->chains()->Get(0)->instructions()) {
        const auto& arguments = *i->call_as_KernelCall()->args();
        const auto buffer = place_of(*method.value(), arguments.Get(12));
        for (const std::uint32_t other : {0U, 13U}) {
            const auto tensor = place_of(*method.value(), arguments.Get(other));
            CHECK((tensor.second <= buffer.first || buffer.second <= tensor.first));
        }
        CHECK(arguments.Get(13) == arguments.Get(14));
    }
}

TEST_CASE("pte: a tensor that nothing writes is only read as a buffer", "[pte]") {
    cortex_graph unwritten;
    const value nothing =
        unwritten.typed(unwritten.g.create<memory::alloc>({.size = {1, 4, 4, 2}, .dtype = dtype::int8}),
            {dtype::int8, {1, 4, 4, 2}, {}});
    unwritten.output({unwritten.convolution(nothing, unwritten.scratch(112))});
    CHECK_THAT(message_of_reading(unwritten), Catch::Contains("is read before it is written"));

    cortex_graph stored;
    const value bytes = stored.constant<std::int8_t>(dtype::uint8, {112}, 0, 1);
    stored.output({stored.convolution(stored.input({1, 4, 4, 2}), bytes)});
    CHECK_THAT(message_of_reading(stored), Catch::Contains("a kernel works in tensor"));

    cortex_graph lost;  // the second kernel reads what the first has worked in
    const value x = lost.input({1, 4, 4, 2});
    lost.output({lost.convolution(x, x), lost.convolution(x, lost.scratch(112))});
    CHECK_THAT(message_of_reading(lost), Catch::Contains("is read before it is written"));
}

TEST_CASE("pte: a kernel of cortex_m that is not known stays unknown", "[pte]") {
    cortex_graph b;
    const value x = b.input({1, 4});
    b.output({b.make<cortex_m::transpose>({x, {1, 0}}, {4, 1})});
    written_file bytes(b);
    const std::string_view known = "cortex_m::transpose", other = "cortex_m::transform";
    const std::string_view all(reinterpret_cast<const char*>(bytes.room.data()), bytes.size);
    const std::size_t at = all.find(known);
    REQUIRE(at != std::string_view::npos);
    std::memcpy(reinterpret_cast<char*>(bytes.room.data()) + at, other.data(), other.size());
    const pte_file file = bytes.open();
    const auto read = read_pte(file, "");
    REQUIRE(read);
    CHECK(std::string(listing(*read.value())).find("cortex_m::transform.out") != std::string::npos);
}
