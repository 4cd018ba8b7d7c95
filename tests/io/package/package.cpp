// SPDX-License-Identifier: MIT
// Tests packages: what is written can be read; the data has each content once and nothing else.

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

#include <headrace/io/package/package.hpp>
#include <headrace/io/package/package_writer.hpp>
#include <headrace/io/text/graph_text.hpp>
#include <headrace/io/tosa/backend.hpp>
#include <headrace/io/tosa/emitter.hpp>
#include <headrace/io/tosa/reader.hpp>
#include <headrace/partition/to_backend.hpp>

#include "../../support/program.hpp"

using namespace headrace;
namespace fs = std::filesystem;

namespace {

// A separate directory for each test.
struct scratch {
    fs::path path;
    scratch() {
        std::string name = (fs::temp_directory_path() / "headrace_package_XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path = name;
    }
    ~scratch() { fs::remove_all(path); }
    [[nodiscard]] std::size_t entries() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(path), fs::directory_iterator()));
    }
};

// x + w, + w, and for the second method a further number: graphs that are already TOSA.
void build(testing::program& p, float more) {
    const value x = p.input(dtype::float32, {4});
    p.g.set_name(x, "x");
    const value weights = p.constant<float>(dtype::float32, {4}, {1, 2, 3, 4});
    const value numbers = p.constant<float>(dtype::float32, {1}, {more});
    const value sum = p.make<tosa::add>({.input1 = x, .input2 = weights});
    p.output(p.make<tosa::add>({.input1 = sum, .input2 = numbers}));
    p.finish();
}

tosa_backend nothing_to_lower() {
    return tosa_backend([](graph&, pass_context&) -> result<void> { return {}; });
}

struct two_methods {
    testing::program encode, decode;
    std::vector<std::byte> encoded;
    lowered_methods lowered;
    package_writer writer;

    two_methods() {
        build(encode, 5);
        build(decode, 6);
        const auto alone = emit_tosa(encode.g);
        encoded.assign(alone.value().bytes().begin(), alone.value().bytes().end());
        backend_registry backends;
        backends.add(nothing_to_lower());
        auto done = to_backend({{"encode", &encode.g}, {"decode", &decode.g}},
            whole_program_partitioner{{.backend = "tosa"}}, backends);
        REQUIRE(done.has_value());
        lowered = std::move(done).value();
        writer.add_data(lowered.data);
        for (const auto& [name, m] : lowered.methods) {
            const auto& made = m.delegates[0].processed;
            const auto number = writer.add_delegate(name, "tosa", made.processed_bytes, made.data_keys);
            REQUIRE(number.has_value());
            writer.add_method(name, {.delegate = number.value()});
        }
    }
};

}  // namespace

TEST_CASE("a package gives back the flatbuffers that it was made of", "[package]") {
    const scratch s;
    two_methods m;
    CHECK(m.writer.data_count() == 3);  // the weights of both, and a number of each
    CHECK(m.writer.data_bytes() == 16 + 4 + 4);
    REQUIRE(m.writer.write(s.path / "p").has_value());
    CHECK(s.entries() == 1);
    CHECK(fs::file_size(s.path / "p" / "constants.bin") == 24);
    const auto opened = package::open(s.path / "p");
    REQUIRE(opened.has_value());
    CHECK(opened.value().methods().size() == 2);
    const auto method = opened.value().method("encode");
    REQUIRE(method.has_value());
    const auto flatbuffer = opened.value().flatbuffer(*method.value()->delegate);
    REQUIRE(flatbuffer.has_value());
    CHECK(flatbuffer.value() == m.encoded);
    CHECK_FALSE(opened.value().method("").has_value());
    CHECK(opened.value().method("other").error().message.find("it has: decode, encode") != std::string::npos);
}

TEST_CASE("a package takes the place of a package, and of nothing else", "[package]") {
    const scratch s;
    two_methods m;
    const fs::path at = s.path / "p";
    REQUIRE(m.writer.write(at).has_value());
    REQUIRE(m.writer.write(at).has_value());
    REQUIRE(m.writer.write(at.string() + "/").has_value());
    CHECK(s.entries() == 1);
    fs::create_directory(s.path / "other");
    REQUIRE(m.writer.write(s.path / "other").has_value());  // the directory was empty
    fs::create_directory(s.path / "mine");
    std::ofstream(s.path / "mine" / "file") << "precious";
    CHECK_FALSE(m.writer.write(s.path / "mine").has_value());
    CHECK_FALSE(m.writer.write(s.path / "mine" / "file").has_value());
    CHECK_FALSE(m.writer.write(s.path / "none" / "p").has_value());
    CHECK(fs::file_size(s.path / "mine" / "file") == 8);
    CHECK(s.entries() == 3);
}

TEST_CASE("a host graph finds its constants and delegates", "[package]") {
    const scratch s;
    testing::program p;
    const value x = p.input(dtype::float32, {4});
    const value weights = p.constant<float>(dtype::float32, {4}, {1, 2, 3, 4});
    const value inside = p.make<tosa::add>({.input1 = x, .input2 = weights});
    p.output(p.make<aten::add_tensor>({.self = inside, .other = weights}));
    p.finish();
    const std::vector<tensor> inputs{tensor::of(dtype::float32, {4}, std::vector<double>{5, 6, 7, 8})};
    const auto expected = run_graph(p.g, inputs);
    backend_registry backends;
    backends.add(nothing_to_lower());
    const auto lowered = to_backend({{"forward", &p.g}},
        support_partitioner{
            create_op_support<tosa::add>(), {.backend = "tosa"}, {.allows_single_node_partition = true}},
        backends);
    REQUIRE(lowered.has_value());
    package_writer writer;
    writer.add_data(lowered.value().data);
    const lowered_delegate& d = lowered.value().methods.at("forward").delegates.at(0);
    const auto number =
        writer.add_delegate("part", "tosa", d.processed.processed_bytes, d.processed.data_keys);
    REQUIRE(number.has_value());
    const graph* const delegated = args_of<delegate::call_delegate>(*d.call).lowered_graph;
    const graph_text_stores stores{
        .constant =
            [&](std::span<const std::byte> bytes) { return std::to_string(writer.add_constant(bytes)); },
        .nested =
            [&](const graph& nested) {
                return &nested == delegated ? std::to_string(number.value()) : std::string();
            }};
    const auto text = graph_text(p.g, stores);
    REQUIRE(text.has_value());
    CHECK(writer.data_count() == 1);  // the host and the delegate share it
    writer.add_file("host.hr", text.value());
    writer.add_method("forward",
        {.host = "host.hr",
            .user_outputs = 1,
            .calls = {number.value()},
            .notes = {{"add", "aten.add.Tensor", "because"}}});
    REQUIRE(writer.write(s.path / "p").has_value());

    const auto opened = package::open(s.path / "p");
    REQUIRE(opened.has_value());
    const auto method = opened.value().method("");
    REQUIRE(method.has_value());
    CHECK(method.value()->notes.at(0).reason == "because");
    const auto fill = [](std::span<const std::byte> bytes, graph& region) {
        return read_tosa(bytes, region);
    };
    const auto read = opened.value().read_host(*method.value(), fill);
    if (!read) FAIL(read.error().message);
    CHECK(read.value().user_outputs == 1);
    const auto got = run_graph(*read.value().graph, inputs);
    REQUIRE(got.has_value());
    CHECK(tensor_difference(expected.value()[0], got.value()[0], 0).empty());

    // A text that refers to what the package does not have is malformed.
    const std::string path = s.path / "p" / "host.hr";
    const auto refusal = [&](const std::string& from, const std::string& to) {
        std::string changed = text.value();
        REQUIRE(changed.find(from) != std::string::npos);
        std::ofstream(path) << changed.replace(changed.find(from), from.size(), to);
        const auto broken = opened.value().read_host(*method.value(), fill);
        REQUIRE_FALSE(broken);
        CHECK(broken.error().kind == error_kind::malformed);
        return std::string(broken.error().message);
    };
    CHECK(refusal("constant @0", "constant @1").find("there is no data '1'") != std::string::npos);
    CHECK(refusal("constant @0", "constant @x").find("there is no data 'x'") != std::string::npos);
    CHECK(refusal("lowered_graph=@0", "lowered_graph=@1").find("'1' is not one of the method's") !=
        std::string::npos);
}

TEST_CASE("data with a tag lies in a file of its own", "[package]") {
    const scratch s;
    testing::program p;
    build(p, 1);
    backend_registry backends;
    backends.add(nothing_to_lower());
    const auto lowered = to_backend(
        {{"m", &p.g}}, whole_program_partitioner{{"tosa", {{"external_tag", "weights"}}}}, backends);
    REQUIRE(lowered.has_value());
    package_writer writer;
    writer.add_data(lowered.value().data);
    const auto& made = lowered.value().methods.at("m").delegates[0].processed;
    const auto number = writer.add_delegate("m", "tosa", made.processed_bytes, made.data_keys);
    REQUIRE(number.has_value());
    writer.add_method("m", {.delegate = number.value()});
    REQUIRE(writer.write(s.path / "p").has_value());
    CHECK(fs::file_size(s.path / "p" / "weights.bin") == 20);
    CHECK_FALSE(fs::exists(s.path / "p" / "constants.bin"));
    const auto opened = package::open(s.path / "p");
    REQUIRE(opened.has_value());
    CHECK(opened.value().flatbuffer(0).has_value());
    CHECK_FALSE(
        writer.add_delegate("m", "tosa", made.processed_bytes, std::vector<std::string>{"none"}).has_value());
}

TEST_CASE("a directory with other files is not replaced", "[package]") {
    const scratch s;
    const two_methods m;
    fs::create_directory(s.path / "p");
    std::ofstream(s.path / "p" / "notes.txt") << "mine";
    const auto written = m.writer.write(s.path / "p");
    REQUIRE_FALSE(written.has_value());
    CHECK(written.error().message.find("it has files but no manifest.json") != std::string::npos);
    CHECK(fs::file_size(s.path / "p" / "notes.txt") == 4);
    CHECK(s.entries() == 1);
    fs::remove(s.path / "p" / "notes.txt");
    CHECK(m.writer.write(s.path / "p").has_value());
}

TEST_CASE("changed files are noticed", "[package]") {
    const scratch s;
    const two_methods m;
    REQUIRE(m.writer.write(s.path / "p").has_value());
    const fs::path data = s.path / "p" / "constants.bin";
    std::fstream(data, std::ios::in | std::ios::out | std::ios::binary).put('!');
    const auto opened = package::open(s.path / "p");
    REQUIRE(opened.has_value());
    const auto flatbuffer = opened.value().flatbuffer(0);
    REQUIRE_FALSE(flatbuffer.has_value());
    CHECK(flatbuffer.error().message.find("not those that the manifest describes") != std::string::npos);
    fs::resize_file(data, 3);
    CHECK_FALSE(package::open(s.path / "p").has_value());
    fs::remove(s.path / "p" / "manifest.json");
    CHECK(package::open(s.path / "p").error().message.find("no such file") != std::string::npos);
}
