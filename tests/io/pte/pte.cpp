// SPDX-License-Identifier: MIT
// Tests ExecuTorch's files: the writer follows the format, and the reader handles its files, damaged ones and
// hostile ones.

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
#include <string_view>
#include <vector>

#include <headrace/dialect/executorch.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/io/pte/emitter.hpp>
#include <headrace/io/pte/reader.hpp>
#include <headrace/io/pte/tosa_delegates.hpp>
#include <headrace/io/tosa/delegate.hpp>
#include <headrace/io/tosa/emitter.hpp>
#include <headrace/ir/listing.hpp>

using namespace headrace;

namespace {

using relu = executorch::kernel<aten::relu, "aten::relu.out", executorch::kernel_types::numbers>;
using linear = executorch::kernel<aten::linear, "aten::linear.out", executorch::kernel_types::numbers>;
using max_dim = executorch::kernel<aten::max_dim, "aten::max.dim_max">;
using index_select = executorch::kernel<aten::index_tensor, "aten::index.Tensor_out">;
using clamp_kernel = executorch::kernel<aten::clamp, "aten::clamp.out", executorch::kernel_types::numbers>;

// Bytes that tests examine must be aligned like those of a mapped file.
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

// Builds relu(linear(x, w, b)) as a vector: w is 8 by 4.
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
    const value picked = b.typed(
        b.g.create<index_select>({x, list<std::optional<value>>(indices)}), {{dtype::float32, {2, 2}, {}}});
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

TEST_CASE("pte: a kernel that is not known keeps its arguments", "[pte]") {
    builder b;
    const value x = b.input({2, 3});
    const tensor_meta row{dtype::float32, {2}, {}};
    const value top = b.typed(b.g.create<max_dim>({x, 1, false}), {row, {dtype::int64, {2}, {}}});
    const value limited =
        b.typed(b.g.create<clamp_kernel>({.self = top, .min = scalar(-0.5), .max = std::nullopt}), {row});
    const std::vector<std::optional<value>> indices{std::nullopt, value{top.producer, 1}};
    const value picked = b.typed(
        b.g.create<index_select>({x, list<std::optional<value>>(indices)}), {{dtype::float32, {2, 2}, {}}});
    const value flat = b.typed(b.g.create<executorch::reshape>({picked, {4}}), {{dtype::float32, {4}, {}}});
    b.output({limited, flat});
    const pte_method method{"m", &b.g};
    const auto written = emit_pte(std::span(&method, 1));
    REQUIRE(written);
    std::vector<std::byte> all = bytes_of(written.value());
    const std::string_view before = "aten::", after = "mine::";
    const auto as_text = [&] {
        return std::string_view(reinterpret_cast<const char*>(all.data()), all.size());
    };
    for (std::size_t at = as_text().find(before); at != std::string_view::npos; at = as_text().find(before))
        std::memcpy(&all[at], after.data(), after.size());
    const file_bytes bytes(all);
    const auto file = pte_file::open(bytes.all());
    REQUIRE(file);
    const auto read = read_pte(file.value(), "m");
    REQUIRE(read);
    const std::string listed(listing(*read.value()));
    INFO(listed);
    CHECK(listed.find("mine::max.dim_max(%placeholder, 1, false)") != std::string::npos);
    CHECK(listed.find("-0.5, none)") != std::string::npos);
    CHECK(listed.find("mine::index.Tensor_out(%placeholder, [none, %") != std::string::npos);
}

TEST_CASE("pte: a tensor without elements takes nobody's place", "[pte]") {
    builder b;
    const value x = b.input({1, 4});
    const tensor_meta row{dtype::float32, {1, 4}, {}};
    const value kept = b.typed(b.g.create<relu>({x}), {row});
    const value none = b.typed(b.g.create<relu>({b.input({0, 3})}), {{dtype::float32, {0, 3}, {}}});
    const value last = b.typed(b.g.create<relu>({kept}), {row});
    b.output({last, none});
    const pte_method method{"m", &b.g};
    const auto written = emit_pte(std::span(&method, 1));
    REQUIRE(written);
    const file_bytes bytes(bytes_of(written.value()));
    const auto file = pte_file::open(bytes.all());
    REQUIRE(file);
    const auto read = read_pte(file.value(), "m");
    REQUIRE(read);
    CHECK(read.value()->size() == b.g.size());
}

TEST_CASE("pte: a tensor without elements needs no writing, and a constant of none no bytes", "[pte]") {
    builder b;
    using add = executorch::kernel<aten::add_tensor, "aten::add.out">;
    const tensor_meta none{dtype::float32, {0, 4}, {}};
    const value nothing = create_constant(b.g, none, nullptr, [](std::span<std::byte>) {});
    b.output({b.typed(b.g.create<add>({b.input({1, 4}), nothing}), {none}), nothing});
    const pte_method method{"m", &b.g};
    const auto written = emit_pte(std::span(&method, 1));
    REQUIRE(written);
    CHECK(written.value().constant_bytes() == 0);
    const file_bytes bytes(bytes_of(written.value()));
    const auto file = pte_file::open(bytes.all());
    REQUIRE(file);
    const auto called = file.value().method("m");
    REQUIRE(called);
    for (const auto* const v : *called.value()->values()) {
        if (v->kind_as_Tensor() != nullptr) CHECK(v->kind_as_Tensor()->data() == 0);
    }
    const auto read = read_pte(file.value(), "m");
    REQUIRE(read);
    CHECK(std::string(listing(*read.value())).find("aten::full.out") != std::string::npos);
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

namespace {

// x plus a constant as TOSA, and the parts of a file for it.
struct tosa_part {
    std::vector<std::byte> flatbuffer;
    std::vector<std::byte> rest;
    std::vector<std::span<const std::byte>> constants;
};

tosa_part make_part(float addend) {
    graph g;
    const tensor_meta row{dtype::float32, {4}, {}};
    const value x = g.create<builtin::placeholder>({}).result();
    g.set_meta(x, row);
    const value addends = create_constant(g, row, nullptr, [&](std::span<std::byte> data) {
        for (std::size_t i = 0; i != data.size(); i += 4) std::memcpy(&data[i], &addend, 4);
    });
    const value sum = g.create<tosa::add>({x, addends}).result();
    g.set_meta(sum, row);
    g.create<builtin::output>({.values = {sum}});
    const auto emitted = emit_tosa(g);
    REQUIRE(emitted);
    tosa_part part;
    part.flatbuffer.assign(emitted.value().bytes().begin(), emitted.value().bytes().end());
    const auto split = split_tosa(part.flatbuffer);
    REQUIRE(split);
    part.rest = split.value().delegate;
    part.constants = split.value().constants;
    return part;
}

// Returns a file with two calls of delegates that have the same bytes; host and delegates share a constant.
std::vector<std::byte> delegated_file(const tosa_part& part) {
    builder b;
    const tensor_meta row{dtype::float32, {4}, {}};
    value v = b.input({4});
    v = b.typed(b.g.create<executorch::call_delegate>({0, {v}}, 1), {row});
    v = b.typed(b.g.create<relu>({v}), {row});
    v = b.typed(b.g.create<executorch::call_delegate>({1, {v}}, 1), {row});
    const value same = create_constant(b.g, row, nullptr,
        [&](std::span<std::byte> data) { std::ranges::copy(part.constants[0], data.begin()); });
    b.output({v, same});
    const std::vector<pte_delegate> delegates(2, {"tosa", part.rest, part.constants});
    const pte_method method{"forward", &b.g, delegates};
    const auto file = emit_pte(std::span(&method, 1));
    REQUIRE(file);
    CHECK(file.value().constant_bytes() == 16);
    return bytes_of(file.value());
}

}  // namespace

TEST_CASE("pte: delegates come back, and share constants with the host", "[pte]") {
    const tosa_part part = make_part(2);
    const file_bytes bytes(delegated_file(part));
    const auto file = pte_file::open(bytes.all());
    REQUIRE(file);
    CHECK(file.value().program().segments()->size() == 2);  // equal delegates are one segment
    const auto method = file.value().method("");
    REQUIRE(method);
    REQUIRE(method.value()->delegates()->size() == 2);
    const auto blob = file.value().delegate(*method.value()->delegates()->Get(1));
    const auto constants = file.value().named_data("headrace.constants");
    REQUIRE((blob && constants));
    const auto restored = restore_tosa(blob.value(), constants.value(), part.flatbuffer.size());
    REQUIRE(restored);
    CHECK(std::ranges::equal(restored.value(), part.flatbuffer));
    CHECK(!restore_tosa(blob.value(), constants.value(), part.flatbuffer.size() - 1));
    CHECK(!restore_tosa(blob.value(), constants.value().first(15), part.flatbuffer.size()));
    const auto read = read_pte(file.value(), "");
    REQUIRE(read);
    std::vector<std::string_view> ops;
    for (const node& n : read.value()->nodes()) ops.push_back(n.op->name);
    CHECK(ops ==
        std::vector<std::string_view>{"builtin.placeholder", "delegate.call_delegate", "aten::relu.out",
            "delegate.call_delegate", "builtin.constant", "builtin.output"});
}

namespace {

using logical_not = executorch::kernel<aten::logical_not, "aten::logical_not.out">;

const tensor_meta one_flag{dtype::boolean, {1}, {}};
const tensor_meta four_floats{dtype::float32, {4}, {}};

value input_of(graph& g, const tensor_meta& meta) {
    const value v = g.create<builtin::placeholder>({}).result();
    g.set_meta(v, meta);
    return v;
}
template <class Kernel>
value apply(graph& g, value x) {
    const value v = g.create<Kernel>({x}).result();
    g.set_meta(v, *meta_of(x));
    return v;
}

// Returns a letter for each instruction, K for a kernel and J for a jump, followed by its destination.
std::string instructions_of(const file_bytes& bytes) {
    const auto file = pte_file::open(bytes.all());
    REQUIRE(file);
    const auto method = file.value().method("");
    REQUIRE(method);
    std::string text;
    for (const pte_fb::Instruction* const i : *method.value()->chains()->Get(0)->instructions()) {
        const pte_fb::JumpFalseCall* const jump = i->call_as_JumpFalseCall();
        text += jump == nullptr ? "K " : "J" + std::to_string(jump->destination()) + " ";
    }
    return text;
}

}  // namespace

TEST_CASE("pte: a condition jumps over the branch that is not taken", "[pte]") {
    builder b;
    const value flag = input_of(b.g, one_flag);
    const value x = b.input({4});
    graph& relued = b.g.create_region();
    const std::vector<value> made{apply<relu>(relued, input_of(relued, four_floats))};
    relued.create<builtin::output>({.values = list<value>(made)});
    graph& same = b.g.create_region();
    const std::vector<value> given{input_of(same, four_floats)};
    same.create<builtin::output>({.values = list<value>(given)});
    b.output({b.typed(b.g.create<higher_order::cond>({flag, &relued, &same, {x}}, 1), {four_floats})});
    const pte_method method{"m", &b.g};
    const auto written = emit_pte(std::span(&method, 1));
    REQUIRE(written);
    const file_bytes bytes(bytes_of(written.value()));
    CHECK(instructions_of(bytes) == "J4 K K J5 K ");  // relu, copy; copy
    const auto file = pte_file::open(bytes.all());
    REQUIRE(file);
    const auto read = read_pte(file.value(), "m");
    REQUIRE(read);
    CHECK(listing(*read.value()) == R"(%placeholder: bool[1] = input
%placeholder_1: float32[4] = input
%branch_at_0: float32[4] = higher_order.cond(%placeholder, true_graph=#0, false_graph=#1, operands=[%placeholder_1])
    #0:
        %placeholder_2: float32[4] = input
        %out: float32[4] = aten::relu.out(%placeholder_2)
        %out_1: float32[4] = aten::_to_copy.out(%out, dtype=float32)
        output %out_1
    #1:
        %placeholder_3: float32[4] = input
        %out_2: float32[4] = aten::_to_copy.out(%placeholder_3, dtype=float32)
        output %out_2
output %branch_at_0
)");
}

TEST_CASE("pte: a loop jumps back to its condition", "[pte]") {
    builder b;
    const value flag = input_of(b.g, one_flag);
    const value x = b.input({4});
    graph& goes_on = b.g.create_region();
    const std::vector<value> condition{input_of(goes_on, one_flag)};
    static_cast<void>(input_of(goes_on, four_floats));
    goes_on.create<builtin::output>({.values = list<value>(condition)});
    graph& body = b.g.create_region();
    const value before = input_of(body, one_flag);
    const std::vector<value> next{
        apply<logical_not>(body, before), apply<relu>(body, input_of(body, four_floats))};
    body.create<builtin::output>({.values = list<value>(next)});
    node& loop = b.g.create<higher_order::while_loop>({&goes_on, &body, {flag, x}, {}}, 2);
    b.typed(loop, {one_flag, four_floats});
    b.output({loop.result(1)});
    const pte_method method{"m", &b.g};
    const auto written = emit_pte(std::span(&method, 1));
    REQUIRE(written);
    // Both values are copied, before the loop and at its end.
    const file_bytes bytes(bytes_of(written.value()));
    CHECK(instructions_of(bytes) == "K K J8 K K K K J2 ");
    const auto file = pte_file::open(bytes.all());
    REQUIRE(file);
    const auto read = read_pte(file.value(), "m");
    REQUIRE(read);
    const std::pmr::string text = listing(*read.value());
    CHECK(text.find("%loop_at_2: float32[4], %while_loop: bool[1] = higher_order.while_loop") !=
        std::string::npos);
    CHECK(text.find("%out_5, %out_4\noutput %loop_at_2") != std::string::npos);
}

TEST_CASE("pte: delegates in the condition and the body of a loop come back", "[pte]") {
    const tosa_part part = make_part(2);
    builder b;
    using gt_scalar = executorch::kernel<aten::gt_scalar, "aten::gt.Scalar_out">;
    using any = executorch::kernel<aten::any, "aten::any.all_out">;
    const auto call = [](graph& g, std::int64_t number, value x) {
        const value made = g.create<executorch::call_delegate>({number, {x}}, 1).result();
        g.set_meta(made, four_floats);
        return made;
    };
    graph& goes_on = b.g.create_region();
    const value sum = call(goes_on, 0, input_of(goes_on, four_floats));
    const value small = goes_on.create<gt_scalar>({sum, 9}).result();
    goes_on.set_meta(small, {dtype::boolean, {4}, {}});
    const value all = goes_on.create<any>({small}).result();
    goes_on.set_meta(all, {dtype::boolean, {}, {}});
    goes_on.create<builtin::output>({.values = {all}});
    graph& body = b.g.create_region();
    const value next = call(body, 0, apply<relu>(body, input_of(body, four_floats)));
    body.create<builtin::output>({.values = {next}});
    node& loop = b.g.create<higher_order::while_loop>({&goes_on, &body, {b.input({4})}, {}}, 1);
    b.output({b.typed(loop, {four_floats})});
    const std::vector<pte_delegate> delegates(1, {"tosa", part.rest, part.constants});
    const pte_method method{"m", &b.g, delegates};
    const auto written = emit_pte(std::span(&method, 1));
    REQUIRE(written);
    const file_bytes bytes(bytes_of(written.value()));
    const auto file = pte_file::open(bytes.all());
    REQUIRE(file);
    const auto read = read_pte(file.value(), "m");
    if (!read) FAIL(std::string(read.error().message));
    const std::string text(listing(*read.value()));
    const std::size_t first = text.find("delegate.call_delegate");
    REQUIRE(first != std::string::npos);
    CHECK(text.find("delegate.call_delegate", first + 1) != std::string::npos);
}

TEST_CASE("pte: a state has a first value, and is written when the method ends", "[pte]") {
    builder b;
    const value x = b.input({4});
    const value held = input_of(b.g, four_floats);
    const value next = apply<relu>(b.g, x);
    b.output({held, next, held});
    float first[4] = {1, 2, 3, 4};
    const std::vector<pte_state> states{{{reinterpret_cast<const std::byte*>(first), {}}, four_floats}};
    const pte_method method{"m", &b.g, {}, states};
    const auto written = emit_pte(std::span(&method, 1));
    REQUIRE(written);
    const file_bytes bytes(bytes_of(written.value()));
    CHECK(instructions_of(bytes) == "K K ");
    const auto file = pte_file::open(bytes.all());
    REQUIRE(file);
    const auto planned = file.value().method("m");
    REQUIRE(planned);
    CHECK(planned.value()->inputs()->size() == 1);
    CHECK(planned.value()->operators()->Get(1)->name()->string_view() == "aten::copy_");
    const auto value_of_state = file.value().initial_value(1, sizeof first);
    REQUIRE(value_of_state);
    CHECK(std::memcmp(value_of_state.value().data(), first, sizeof first) == 0);
    CHECK(!file.value().initial_value(1, sizeof first + 1));
    CHECK(!file.value().initial_value(1, sizeof first, 1));
}

TEST_CASE("pte: a call of a delegate that is not there is refused", "[pte]") {
    builder b;
    const value x = b.input({4});
    b.output({b.typed(b.g.create<executorch::call_delegate>({0, {x}}, 1), {{dtype::float32, {4}, {}}})});
    const pte_method method{"m", &b.g};
    const auto refused = emit_pte(std::span(&method, 1));
    REQUIRE(!refused);
    CHECK(refused.error().message.find("no delegate 0") != std::pmr::string::npos);
}

TEST_CASE("pte: the delegate of another backend is an unknown op", "[pte]") {
    builder b;
    const tensor_meta row{dtype::float32, {4}, {}};
    const value x = b.input({4});
    node& call = b.g.create<executorch::call_delegate>({0, {x}}, 2);
    b.typed(call, {row, row});
    b.output({call.result(1)});
    const std::vector<pte_delegate> delegates{{"OtherBackend", std::vector<std::byte>(40)}};
    const pte_method method{"m", &b.g, delegates};
    const auto written = emit_pte(std::span(&method, 1));
    REQUIRE(written);
    CHECK(written.value().delegate_bytes() == 40);
    const file_bytes bytes(bytes_of(written.value()));
    const auto file = pte_file::open(bytes.all());
    REQUIRE(file);
    const auto read = read_pte(file.value(), "m");
    REQUIRE(read);
    CHECK(listing(*read.value()).find("= delegate of OtherBackend(%placeholder)") != std::string::npos);
    CHECK(read.value()->outputs()[0].result == 1);
}

TEST_CASE("pte: a damaged delegate gives a graph or an error", "[pte]") {
    const std::vector<std::byte> whole = delegated_file(make_part(3));
    std::mt19937 random(1);
    std::size_t refused = 0;
    for (int i = 0; i != 1000; ++i) {
        std::vector<std::byte> damaged = whole;
        for (int k = 0; k != 1 + i % 3; ++k)
            damaged[random() % whole.size()] = static_cast<std::byte>(random());
        const file_bytes bytes(damaged);
        const auto file = pte_file::open(bytes.all());
        const auto read = file ? read_pte(file.value(), "forward") : file.error();
        refused += !read;
    }
    CHECK(refused > 500);
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
