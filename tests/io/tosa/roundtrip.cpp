// SPDX-License-Identifier: MIT
// Tests io/tosa/emitter.hpp and io/tosa/reader.hpp against each other, the reader on damaged files, and
// io/file/atomic_file.hpp.
#include <headrace/io/file/atomic_file.hpp>
#include <headrace/io/file/element_copier.hpp>
#include <headrace/io/tosa/emitter.hpp>
#include <headrace/io/tosa/format.hpp>
#include <headrace/io/tosa/reader.hpp>
#include <headrace/io/tosa/size.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <headrace/target/tosa_verify.hpp>

using namespace headrace;

namespace {

// A graph whose results get inferred metadata.
struct builder {
    graph g;

    value input(std::string_view name, dtype type, int_list shape) {
        const value v = g.create<builtin::placeholder>({}).result();
        g.set_meta(v, {type, shape, {}});
        g.set_name(v, name);
        return v;
    }
    template <class T>
    value constant(std::string_view name, dtype type, int_list shape, std::vector<T> items) {
        const value v = create_constant(g, {type, shape, {}}, nullptr, [&](std::span<std::byte> data) {
            REQUIRE(data.size() == items.size() * sizeof(T));
            std::memcpy(data.data(), items.data(), data.size());
        });
        g.set_name(v, name);
        return v;
    }
    value zero(dtype type) {
        return create_constant(g, {type, {1}, {}}, nullptr, [](std::span<std::byte> data) {
            for (std::byte& b : data) b = std::byte{0};
        });
    }
    value shape(int_list values) { return add<tosa::const_shape>({.values = values}); }
    template <op_tag Op>
    value add(const args<Op>& a, std::string_view name = {}) {
        node& n = g.create<Op>(a);
        std::pmr::monotonic_buffer_resource arena;
        inference out(&arena);
        auto inferred = infer_op<Op>(a, out);
        if (!inferred) FAIL(inferred.error().message);
        for (std::uint32_t i = 0; i != n.result_count; ++i) g.set_meta(n.result(i), out.results()[i]);
        if (!name.empty()) g.set_name(n.result(), name);
        return n.result();
    }
    void output(std::initializer_list<value> values) { g.create<builtin::output>({.values = values}); }
};

std::vector<std::byte> emitted(const graph& g) {
    auto file = emit_tosa(g);
    if (!file) FAIL(file.error().message);
    const auto bytes = file.value().bytes();
    return {bytes.begin(), bytes.end()};
}
std::unique_ptr<graph> read_back(const std::vector<std::byte>& file) {
    auto g = read_tosa(file);
    if (!g) FAIL(g.error().message);
    return std::move(g).value();
}
std::pmr::string emit_error(const graph& g) {
    auto file = emit_tosa(g);
    return file ? "fine" : file.error().message;
}

// Returns one name for the constants of both dialects.
std::string_view op_name(const node& n) {
    return n.op == &info_of<builtin::constant> ? info_of<tosa::const_>.name : n.op->name;
}

// Returns everything that a file keeps of a node; operands by op and shape.
std::pmr::string describe(const node& n) {
    std::pmr::string text(op_name(n));
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        const tensor_meta& meta = *n.results[i].meta;
        text += ' ' + std::pmr::string(name_of(meta.dtype)) + shape_text(meta.shape);
    }
    for (const edge& e : n.operand_edges()) {
        const auto* meta = meta_of(*e.slot);
        text += " <" + std::pmr::string(op_name(*e.source)) + shape_text(meta->shape);
    }
    for (const field_info& f : *n.op) {
        text += ' ';
        switch (f.kind) {
            case field_kind::integer:
                text += number_text(headrace::detail::member_at<std::int64_t>(n.arguments, f));
                break;
            case field_kind::integers:
                text += shape_text(headrace::detail::member_at<int_list>(n.arguments, f));
                break;
            case field_kind::boolean:
                text += headrace::detail::member_at<bool>(n.arguments, f) ? "true" : "false";
                break;
            case field_kind::number:
                text += number_text(headrace::detail::member_at<scalar>(n.arguments, f).to_double());
                break;
            case field_kind::text:
                text += headrace::detail::member_at<std::string_view>(n.arguments, f);
                break;
            case field_kind::element_type:
                text += name_of(headrace::detail::member_at<dtype>(n.arguments, f));
                break;
            case field_kind::resize:
            case field_kind::nan:
            case field_kind::rounding:
                text += number_text(headrace::detail::member_at<std::uint8_t>(n.arguments, f));
                break;
            default:
                break;
        }
    }
    if (const tensor_data* data = tosa_file::constant_data(n)) {
        const tensor_meta& meta = *n.results[0].meta;
        std::pmr::string bytes(storage_bytes(meta.dtype, static_cast<std::uint64_t>(meta.elements())), '\0');
        detail::element_copier(*data, meta, reinterpret_cast<std::uint8_t*>(bytes.data())).copy();
        for (const char c : bytes) text += '.' + number_text(static_cast<unsigned char>(c));
    }
    return text;
}

// Compares graphs. Inputs come first in a graph that was read, wherever they were.
void require_same(const graph& a, const graph& b) {
    std::vector<std::pmr::string> left;
    std::vector<std::pmr::string> right;
    for (const node& n : a.nodes()) {
        if (!is<builtin::placeholder>(n)) left.push_back(describe(n));
    }
    for (const node& n : b.nodes()) {
        if (!is<builtin::placeholder>(n)) right.push_back(describe(n));
    }
    CHECK(left == right);
}

void require_roundtrip(const graph& g) {
    const auto file = emitted(g);
    CHECK(file == emitted(g));
    const auto back = read_back(file);
    require_same(g, *back);
    CHECK(emitted(*back).size() == file.size());
    CHECK(std::memcmp(file.data() + 4, "TOSA", 4) == 0);
}

void build_convolution(builder& b) {
    const value x = b.input("x", dtype::float32, {1, 4, 4, 2});
    const value w = b.constant<float>("w", dtype::float32, {3, 1, 1, 2}, {1, 2, 3, 4, 5, 6});
    const value bias = b.constant<float>("bias", dtype::float32, {3}, {0.5F, 0.25F, -1});
    const value c = b.add<tosa::conv2d>({.input = x,
                                            .weight = w,
                                            .bias = bias,
                                            .input_zp = b.zero(dtype::float32),
                                            .weight_zp = b.zero(dtype::float32),
                                            .pad = {0, 1, 2, 3},
                                            .stride = {1, 1},
                                            .dilation = {1, 1},
                                            .acc_type = dtype::float32},
        "conv");
    const value r =
        b.add<tosa::clamp>({.input = c, .min_val = 0.0, .max_val = 6.0, .nan_mode = nan_mode::ignore});
    b.output({b.add<tosa::reshape>({r, b.shape({1, 135})}, "y")});
}

}  // namespace

TEST_CASE("a convolution survives the round trip", "[tosa][io]") {
    builder b;
    build_convolution(b);
    require_roundtrip(b.g);
    const auto back = read_back(emitted(b.g));
    CHECK(back->inputs().begin()->name() == "x");
    CHECK(back->outputs()[0].producer->name() == "y");
    CHECK(back->outputs().size() == 1);
    CHECK(verify_tosa(*back, *parse_target("TOSA-1.0+FP")).has_value());
}

TEST_CASE("attributes of all kinds survive the round trip", "[tosa][io]") {
    builder b;
    const value x = b.input("x", dtype::int8, {1, 4, 4, 3});
    const value scales = b.constant<std::int32_t>("scales", dtype::int32, {3}, {1 << 30, 1 << 29, 1 << 30});
    const value shifts = b.constant<std::int8_t>("shifts", dtype::int8, {3}, {30, 31, 32});
    const value wide = b.add<tosa::rescale>({.input = x,
        .multiplier = scales,
        .shift = shifts,
        .input_zp = b.zero(dtype::int8),
        .output_zp = b.zero(dtype::int32),
        .rounding_mode = rounding_mode::double_round,
        .per_channel = true,
        .input_unsigned = true});
    const value low = b.add<tosa::clamp>({.input = x, .min_val = -128, .max_val = 5});
    const value table =
        b.constant<std::int8_t>("table", dtype::int8, {256}, std::vector<std::int8_t>(256, 7));
    const value looked_up = b.add<tosa::table>({low, table});
    const value joined = b.add<tosa::concat>({.input1 = {looked_up, x, low}, .axis = 2});
    const value turned = b.add<tosa::transpose>({joined, {0, 3, 1, 2}});
    const value summed = b.add<tosa::reduce_max>({.input = turned, .axis = 3, .nan_mode = nan_mode::ignore});
    const value larger = b.add<tosa::resize>(
        {x, b.shape({4, 2, 4, 2}), b.shape({-1, -1}), b.shape({1, 1}), resize_mode::nearest});
    const value padded = b.add<tosa::pad>({x, b.shape({0, 0, 1, 1, 0, 2, 0, 0}), b.zero(dtype::int8)});
    const value shifted = b.add<tosa::arithmetic_right_shift>({wide, wide, true});
    const value converted = b.add<tosa::cast>({.input = summed, .output_type = dtype::int16});
    b.output({larger, padded, shifted, converted});
    require_roundtrip(b.g);
}

TEST_CASE("ops of two results and floats of all widths survive the round trip", "[tosa][io]") {
    builder b;
    const value x = b.input("x", dtype::float32, {1, 4, 8});
    node& fft = *b.add<tosa::rfft2d>({.input_real = x, .local_bound = true}).producer;
    const value h = b.input("h", dtype::float16, {2});
    const value bf = b.input("bf", dtype::bfloat16, {2});
    const value e4 = b.input("e4", dtype::float8_e4m3, {2});
    const value limited = b.add<tosa::clamp>({.input = h, .min_val = -0.5, .max_val = 65504.0});
    const value limited_bf = b.add<tosa::clamp>({.input = bf, .min_val = -1.0, .max_val = 1.5});
    const value turned = b.add<tosa::reverse>({e4, 0});
    b.output({fft.result(0), fft.result(1), limited, limited_bf, turned});
    require_roundtrip(b.g);
}

TEST_CASE("a file is written into a buffer of the caller's", "[tosa][io]") {
    builder b;
    build_convolution(b);
    const std::size_t bound = tosa_size_bound(b.g).value();
    std::vector<std::byte> buffer(bound + 16);
    const auto file = emit_tosa(b.g, buffer);
    REQUIRE(file);
    CHECK(std::ranges::equal(file.value(), emitted(b.g)));
    CHECK(file.value().size() <= bound);
    CHECK(file.value().data() >= buffer.data());
    CHECK(file.value().data() + file.value().size() <= buffer.data() + buffer.size());

    const auto refused = emit_tosa(b.g, std::span(buffer).first(bound - 1));
    REQUIRE_FALSE(refused);
    CHECK(
        refused.error().message.find("bytes in a buffer of " + number_text(bound - 1)) != std::string::npos);
    CHECK_FALSE(emit_tosa(b.g, {}));
}

TEST_CASE("numbers are rounded to their format", "[tosa][io]") {
    CHECK(encode_float(1.0, format_of(dtype::float32)) == 0x3f800000U);
    CHECK(encode_float(-6.0, format_of(dtype::float32)) == 0xc0c00000U);
    CHECK(encode_float(1e-45, format_of(dtype::float32)) == 1U);
    CHECK(encode_float(1e300, format_of(dtype::float32)) == 0x7f800000U);
    CHECK(encode_float(2049.0, format_of(dtype::float16)) == 0x6800U);
    CHECK(encode_float(65504.0, format_of(dtype::float16)) == 0x7bffU);
    CHECK(encode_float(1.00390625, format_of(dtype::bfloat16)) == 0x3f80U);
    CHECK(encode_float(1000.0, format_of(dtype::float8_e4m3)) == 0x7eU);
    CHECK(decode_float(0x7eU, format_of(dtype::float8_e4m3)) == 448.0);
    for (std::uint32_t bits = 0; bits != 0x7c01; ++bits) {
        REQUIRE(
            encode_float(decode_float(bits, format_of(dtype::float16)), format_of(dtype::float16)) == bits);
    }
    CHECK(tosa_file::decode_element(
              tosa_file::encode_element(scalar(-5), dtype::int8).bytes.data(), dtype::int8) == scalar(-5));
}

TEST_CASE("constants are written in row-major order", "[tosa][io]") {
    builder b;
    const std::int16_t items[] = {1, 2, 3, 4, 5, 6};
    const std::uint8_t nibbles[] = {0x21, 0x43, 0x65};
    const auto strided = [&](const void* bytes, dtype type, int_list shape, int_list strides) {
        const value v = b.g.create<tosa::const_>({{static_cast<const std::byte*>(bytes), strides}}).result();
        b.g.set_meta(v, {type, shape, {}});
        return v;
    };
    const value turned = strided(items, dtype::int16, {3, 2}, {1, 3});
    const value spread = strided(items, dtype::int16, {2, 2, 2}, {0, 3, 1});
    const value packed = strided(nibbles, dtype::int4, {3, 2}, {1, 3});
    b.output(
        {b.add<tosa::identity>({turned}), b.add<tosa::identity>({spread}), b.add<tosa::identity>({packed})});
    require_roundtrip(b.g);
    const auto back = read_back(emitted(b.g));
    std::vector<std::vector<std::uint8_t>> read;
    for (const node& n : back->nodes_of(info_of<tosa::const_>)) {
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(args_of<tosa::const_>(n).data.bytes);
        const tensor_meta& meta = *n.results[0].meta;
        read.emplace_back(
            bytes, bytes + storage_bytes(meta.dtype, static_cast<std::uint64_t>(meta.elements())));
    }
    REQUIRE(read.size() == 3);
    CHECK(read[0] == std::vector<std::uint8_t>{1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6, 0});
    CHECK(read[1] == std::vector<std::uint8_t>{1, 0, 2, 0, 4, 0, 5, 0, 1, 0, 2, 0, 4, 0, 5, 0});
    CHECK(read[2] == std::vector<std::uint8_t>{0x41, 0x52, 0x63});
}

TEST_CASE("constant data are aligned to eight bytes", "[tosa][io]") {
    builder b;
    build_convolution(b);
    const auto file = emit_tosa(b.g);
    const auto* root = tosa_fb::GetTosaGraph(file.value().bytes().data());
    for (const auto* t : *root->regions()->Get(0)->blocks()->Get(0)->tensors()) {
        const auto offset =
            reinterpret_cast<const std::byte*>(t->data()->data()) - file.value().bytes().data();
        if (t->data()->size() != 0) CHECK(offset % 8 == 0);
    }
    CHECK(root->version()->_major() == 1);
    CHECK_FALSE(root->version()->_draft());
    for (const auto* o : *root->regions()->Get(0)->blocks()->Get(0)->operators()) {
        CHECK(o->attribute() != nullptr);
        CHECK(static_cast<std::uint32_t>(o->attribute_type()) == static_cast<std::uint32_t>(o->op()));
        CHECK(o->location()->text()->size() == 0);
    }
}

TEST_CASE("names are unique and inputs and outputs keep theirs", "[tosa][io]") {
    builder b;
    const value x = b.input("x", dtype::float32, {1});
    const value first = b.add<tosa::abs>({x}, "y");
    const value second = b.add<tosa::abs>({first});
    const value third = b.add<tosa::abs>({second});
    b.output({b.add<tosa::abs>({third}, "y")});
    const auto back = read_back(emitted(b.g));
    std::vector<std::pmr::string> names;
    for (const node& n : back->nodes()) {
        if (n.result_count != 0) names.emplace_back(n.name());
    }
    CHECK(names == std::vector<std::pmr::string>{"x", "y_1", "abs", "abs_1", "y"});
}

TEST_CASE("the emitter refuses what a pass must mend first", "[tosa][io]") {
    const auto error_of = [](auto&& build) {
        builder b;
        build(b, b.input("x", dtype::float32, {1}));
        return emit_error(b.g);
    };
    CHECK(error_of([](builder& b, value x) { b.output({x}); }) ==
        "x (builtin.placeholder): an input or constant is an output; put a tosa.IDENTITY between");
    CHECK(error_of([](builder& b, value x) {
        const value y = b.add<tosa::abs>({x}, "y");
        b.output({y, y});
    }) == "y (tosa.ABS): is an output twice; put a tosa.IDENTITY between");
    CHECK(error_of([](builder& b, value x) {
        const value y = b.g.create<tosa::abs>({x}).result();
        b.output({y});
    }) ==
        "x (builtin.placeholder): an operator without a name beside it, tosa.ABS: the type and shape of a "
        "result are not known");
    CHECK(error_of([](builder&, value) {}) == "the graph has no output node");
    CHECK(error_of([](builder& b, value x) {
        const value y = b.add<tosa::cast>({x, dtype::int64}, "y");
        b.output({y});
    }) == "y (tosa.CAST): TOSA 1.0 has no tensors of int64");
}

TEST_CASE("control flow becomes regions", "[tosa][io]") {
    builder b;
    const value x = b.input("x", dtype::float32, {2});
    const value c = b.input("c", dtype::boolean, {1});
    graph* branches[2];
    for (graph*& branch : branches) {
        branch = &b.g.create_region();
        const value p = branch->create<builtin::placeholder>({}).result();
        branch->set_meta(p, {dtype::float32, {2}, {}});
        node& n = &branch == &branches[0] ? branch->create<tosa::abs>({p}) : branch->create<tosa::ceil>({p});
        branch->set_meta(n.result(), {dtype::float32, {2}, {}});
        branch->create<builtin::output>({.values = {n.result()}});
    }
    node& n = b.g.create<tosa::cond_if>(
        {.condition = c, .inputs = {x}, .then_graph = branches[0], .else_graph = branches[1]}, 1);
    b.g.set_meta(n.result(), {dtype::float32, {2}, {}});
    b.output({n.result()});
    require_roundtrip(b.g);
    const auto back = read_back(emitted(b.g));
    const node& read = *back->nodes_of(info_of<tosa::cond_if>).begin();
    require_same(*branches[0], *args_of<tosa::cond_if>(read).then_graph);
    require_same(*branches[1], *args_of<tosa::cond_if>(read).else_graph);
}

TEST_CASE("variables and custom operators survive the round trip", "[tosa][io]") {
    builder b;
    const float seven = 7;
    const value x = b.input("x", dtype::float32, {1});
    b.g.create<tosa::variable>(
        {"state", {1}, dtype::float32, tensor_data{reinterpret_cast<const std::byte*>(&seven), {}}});
    const value old = b.add<tosa::variable_read>({"state", {1}, dtype::float32});
    const value sum = b.add<tosa::add>({x, old});
    b.g.create<tosa::variable_write>({sum, "state"});
    node& custom = b.g.create<tosa::custom>(
        {.inputs = {sum}, .operator_name = "mine", .domain_name = "test", .implementation_attrs = "{}"}, 1);
    b.g.set_meta(custom.result(), {dtype::float32, {1}, {}});
    b.output({custom.result()});
    require_roundtrip(b.g);
}

TEST_CASE("damaged files give errors, not crashes", "[tosa][io]") {
    builder b;
    build_convolution(b);
    const auto file = emitted(b.g);
    CHECK(read_tosa({}).error().kind == error_kind::malformed);
    std::size_t accepted = 0;
    // The last bytes are padding.
    for (std::size_t size = 0; size + 8 < file.size(); size += 3) {
        const std::vector<std::byte> part(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
        if (read_tosa(part)) ++accepted;
    }
    CHECK(accepted == 0);
    for (std::size_t at = 0; at != file.size(); ++at) {
        for (const int mask : {1, 4, 128, 255}) {
            auto damaged = file;
            damaged[at] ^= static_cast<std::byte>(mask);
            const auto g = read_tosa(damaged);
            if (g) static_cast<void>(emit_tosa(*g.value()));  // it is written or refused
            if (!g) CHECK_FALSE(g.error().message.empty());
        }
    }
    // Also at another alignment.
    std::vector<std::byte> moved(file.size() + 1);
    std::copy(file.begin(), file.end(), moved.begin() + 1);
    CHECK(read_tosa(std::span<const std::byte>(moved).subspan(1)).has_value());
}

TEST_CASE("a file appears whole or not at all", "[io]") {
    namespace fs = std::filesystem;
    std::string pattern = (fs::temp_directory_path() / "headrace_XXXXXX").string();
    const fs::path directory = ::mkdtemp(pattern.data());
    const auto bytes = [](std::string_view text) { return std::as_bytes(std::span(text)); };
    const std::string path = (directory / "out").string();
    CHECK(write_atomically(path, bytes("one")).has_value());
    CHECK(write_atomically(path, bytes("two"), durability::synced).has_value());
    std::string text;
    std::ifstream(path) >> text;
    CHECK(text == "two");
    CHECK_FALSE(write_atomically((directory / "none" / "out").string(), bytes("x")).has_value());
    fs::create_directory(directory / "taken");
    CHECK_FALSE(write_atomically((directory / "taken").string(), bytes("x")).has_value());
    CHECK(std::distance(fs::directory_iterator(directory), fs::directory_iterator()) == 2);
    CHECK(write_atomically("/dev/null", bytes("x")).has_value());
    CHECK(fs::is_character_file("/dev/null"));
    fs::remove_all(directory);
}
