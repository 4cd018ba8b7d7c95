// SPDX-License-Identifier: MIT
// Tests of ExecuTorch's files: what the writer makes is what the format says, and what the reader makes of
// it, of damaged files and of hostile ones.

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <headrace/dialect/executorch.hpp>
#include <headrace/io/pte_emitter.hpp>
#include <headrace/io/pte_reader.hpp>
#include <headrace/ir/listing.hpp>

using namespace headrace;

namespace {

using relu = executorch::kernel<aten::relu, "aten::relu.out", executorch::kernel_types::numbers>;
using linear = executorch::kernel<aten::linear, "aten::linear.out", executorch::kernel_types::numbers>;
using max_dim = executorch::kernel<aten::max_dim, "aten::max.dim_max">;
using index_select = executorch::kernel<aten::index_tensor, "aten::index.Tensor_out">;
using clamp_kernel = executorch::kernel<aten::clamp, "aten::clamp.out", executorch::kernel_types::numbers>;

// Where tests look at bytes, they must lie as those of a mapped file do.
struct file_bytes {
    std::vector<std::max_align_t> room;
    std::size_t size = 0;

    explicit file_bytes(std::span<const std::byte> bytes)
        : room(bytes.size() / sizeof(std::max_align_t) + 1), size(bytes.size()) {
        std::ranges::copy(bytes, reinterpret_cast<std::byte*>(room.data()));
    }
    [[nodiscard]] std::span<const std::byte> all() const {
        return std::span(reinterpret_cast<const std::byte*>(room.data()), size);
    }
};

struct builder {
    graph g;

    value typed(node& n, std::initializer_list<tensor_meta> metas) {
        std::uint32_t i = 0;
        for (const tensor_meta& meta : metas) g.set_meta(n.result(i++), meta);
        return n.result();
    }
    value input(int_list shape) {
        return typed(g.create<builtin::placeholder>({}), {{dtype::float32, shape, {}}});
    }
    value constant(int_list shape, float first) {
        const tensor_meta meta{dtype::float32, shape, {}};
        return create_constant(g, meta, nullptr, [&](std::span<std::byte> data) {
            for (std::size_t i = 0; i * 4 != data.size(); ++i) {
                const float x = first + static_cast<float>(i);
                std::memcpy(&data[4 * i], &x, 4);
            }
        });
    }
    void output(std::initializer_list<value> values) {
        const std::vector<value> all(values);
        g.create<builtin::output>({.values = list<value>(all)});
    }
};

// relu(linear(x, w, b)) as a vector: w is 8 by 4.
void build_layer(builder& b) {
    const value x = b.input({1, 4});
    const value w = b.constant({8, 4}, 0);
    const value bias = b.constant({8}, 100);
    const tensor_meta row{dtype::float32, {1, 8}, {}};
    const value y = b.typed(b.g.create<linear>({x, w, bias}), {row});
    const value z = b.typed(b.g.create<relu>({y}), {row});
    b.output({b.typed(b.g.create<executorch::reshape>({z, {8}}), {{dtype::float32, {8}, {}}})});
}

std::vector<std::byte> bytes_of(const emitted_pte& file) {
    std::vector<std::byte> all;
    REQUIRE(file.write_to([&](std::span<const std::byte> part) {
        all.insert(all.end(), part.begin(), part.end());
        return true;
    }));
    CHECK(all.size() == file.size());
    return all;
}

std::vector<std::byte> layer_file() {
    builder b;
    build_layer(b);
    const pte_method method{"forward", &b.g};
    const auto file = emit_pte(std::span(&method, 1));
    REQUIRE(file);
    return bytes_of(file.value());
}

std::uint64_t number_at(std::span<const std::byte> bytes, std::size_t at, std::size_t width) {
    std::uint64_t n = 0;
    std::memcpy(&n, &bytes[at], width);
    return n;
}

}  // namespace

TEST_CASE("pte: the header says where the flatbuffer and the constants are", "[pte]") {
    const std::vector<std::byte> bytes = layer_file();
    CHECK(std::memcmp(&bytes[4], "ET12eh00", 8) == 0);
    CHECK(number_at(bytes, 12, 4) == 32);
    const std::uint64_t program = number_at(bytes, 16, 8);
    const std::uint64_t base = number_at(bytes, 24, 8);
    CHECK(base % 128 == 0);
    CHECK((base >= program && base - program < 128));
    CHECK(base + number_at(bytes, 32, 8) == bytes.size());
    float first_of_bias = 0;
    std::memcpy(&first_of_bias, &bytes[base + 8 * 4 * 4], 4);
    CHECK(first_of_bias == 100);
}

TEST_CASE("pte: what is read is what was written", "[pte]") {
    const file_bytes bytes(layer_file());
    const auto file = pte_file::open(bytes.all());
    REQUIRE(file);
    const auto read = read_pte(file.value(), "");
    REQUIRE(read);
    CHECK(listing(*read.value()) == R"(%placeholder: float32[1, 4] = input
%constant: float32[8, 4] = constant
%constant_1: float32[8] = constant
%out: float32[1, 8] = aten::linear.out(%placeholder, %constant, %constant_1)
%out_1: float32[1, 8] = aten::relu.out(%out)
%reshape: float32[8] = executorch.reshape(%out_1, size=[8])
output %reshape
)");
}

TEST_CASE("pte: arguments of every kind come back", "[pte]") {
    builder b;
    const value x = b.input({2, 3});
    const tensor_meta row{dtype::float32, {2}, {}};
    const value top = b.typed(b.g.create<max_dim>({x, 1, false}), {row, {dtype::int64, {2}, {}}});
    const value limited =
        b.typed(b.g.create<clamp_kernel>({.self = top, .min = scalar(-0.0), .max = std::nullopt}), {row});
    const std::vector<std::optional<value>> indices{std::nullopt, value{top.producer, 1}};
    const value picked = b.typed(b.g.create<index_select>({x, list<std::optional<value>>(indices)}),
                                 {{dtype::float32, {2, 2}, {}}});
    b.output({limited, picked, x});
    const pte_method method{"m", &b.g};
    const auto written = emit_pte(std::span(&method, 1));
    REQUIRE(written);
    const file_bytes bytes(bytes_of(written.value()));
    CHECK(std::memcmp(&bytes.all()[8], "eh00", 4) != 0);  // there are no constants
    const auto file = pte_file::open(bytes.all());
    REQUIRE(file);
    const auto read = read_pte(file.value(), "m");
    REQUIRE(read);
    const node* n = read.value()->first()->next;
    CHECK(args_of<max_dim>(*n).dim == 1);
    n = n->next;
    const auto& a = args_of<clamp_kernel>(*n);
    REQUIRE(a.min);
    CHECK((a.min->is_floating() && std::signbit(a.min->to_double())));
    CHECK(!a.max);
    const auto& picks = args_of<index_select>(*n->next).indices;
    REQUIRE(picks.size() == 2);
    CHECK((!picks[0] && picks[1]->result == 1));
    CHECK(read.value()->outputs().size() == 3);
}

TEST_CASE("pte: methods share constants and are sorted by name", "[pte]") {
    builder one;
    builder other;
    build_layer(one);
    build_layer(other);
    const pte_method both[] = {{"second", &one.g}, {"first", &other.g}};
    const auto file = emit_pte(both);
    REQUIRE(file);
    CHECK(file.value().constant_bytes() == (8 * 4 + 8) * 4);
    CHECK(file.value().methods()[0].name == "first");
    CHECK(file.value().methods()[0].planned_bytes == 64);

    const pte_method twice[] = {{"m", &one.g}, {"m", &other.g}};
    const auto refused = emit_pte(twice);
    REQUIRE(!refused);
    CHECK(refused.error().message == "two methods are called 'm'");
}

TEST_CASE("pte: a type that the runtime lacks is refused", "[pte]") {
    builder b;
    const value x = b.typed(b.g.create<builtin::placeholder>({}), {{dtype::int4, {2}, {}}});
    b.output({x});
    const pte_method method{"m", &b.g};
    const auto refused = emit_pte(std::span(&method, 1));
    REQUIRE(!refused);
    CHECK(refused.error().message.find("no tensors of int4") != std::pmr::string::npos);
}

TEST_CASE("pte: a file that is cut off is malformed", "[pte]") {
    const std::vector<std::byte> whole = layer_file();
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const std::span<const std::byte> all(whole);
        const file_bytes bytes(all.first(size));
        const auto file = pte_file::open(bytes.all());
        const auto read = file ? read_pte(file.value(), "forward") : file.error();
        INFO(size);
        REQUIRE(!read);
        CHECK(read.error().kind == error_kind::malformed);
    }
}

TEST_CASE("pte: a damaged file gives a graph or an error", "[pte]") {
    const std::vector<std::byte> whole = layer_file();
    const std::size_t program = static_cast<std::size_t>(number_at(whole, 16, 8));
    std::mt19937 random(1);
    std::size_t refused = 0;
    for (int i = 0; i != 2000; ++i) {
        std::vector<std::byte> damaged = whole;
        for (int k = 0; k != 1 + i % 4; ++k) damaged[random() % program] = static_cast<std::byte>(random());
        const file_bytes bytes(damaged);
        const auto file = pte_file::open(bytes.all());
        const auto read = file ? read_pte(file.value(), "forward") : file.error();
        refused += !read;
    }
    CHECK(refused > 500);
}
