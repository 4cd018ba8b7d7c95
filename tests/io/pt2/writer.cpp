// SPDX-License-Identifier: MIT
// Tests io/pt2/writer.hpp: a written program is read unchanged.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>

#include <headrace/io/pt2/pt2.hpp>
#include <headrace/io/pt2/writer.hpp>
#include <headrace/io/pt2/writing/keyword_arguments.hpp>
#include <headrace/io/text/graph_text.hpp>
#include <headrace/ir/listing.hpp>

#include "../../support/source_tree.hpp"
#include "read_fixture.hpp"

namespace {

using namespace headrace;
using testing::read_fixture;

// A path that is unused while the object lives.
struct temporary_path {
    std::filesystem::path path = std::filesystem::temp_directory_path() / "headrace_pt2_writer_test.pt2";
    ~temporary_path() { std::filesystem::remove(path); }
};

}  // namespace

TEST_CASE("a program that is written is read again as it was") {
    for (const char* name : {"conv_bn_relu", "quantized_cnn", "quantized_attention", "multi_output",
             "integer_ops", "tied_weights", "upsample_concat", "rnn", "projected_lstm", "attention"}) {
        INFO(name);
        const program p = read_fixture(name);
        const temporary_path file;
        REQUIRE(write_pt2(file.path.string(), p).has_value());
        const auto again = read_pt2(file.path);
        REQUIRE(again.has_value());
        CHECK(again.value().user_outputs == p.user_outputs);
        // Constants come first; the text of the computation is unchanged.
        const auto computed = [](const graph& g) {
            std::string lines;
            const std::string all(listing(g));
            for (std::size_t at = 0, end = 0; at < all.size(); at = end + 1) {
                end = std::min(all.find('\n', at), all.size());
                const std::string line = all.substr(at, end - at);
                if (line.find("= constant") == std::string::npos) lines += line + '\n';
            }
            return lines;
        };
        CHECK(computed(*again.value().graph) == computed(*p.graph));
    }
}

namespace {

// Returns a text after it was written to a .pt2 and read, or the error.
std::string through_pt2(std::string_view text) {
    const auto p = parse_graph_text(text);
    REQUIRE(p.has_value());
    const temporary_path file;
    if (const auto written = write_pt2(file.path.string(), p.value()); !written)
        return std::string(written.error().message);
    const auto again = read_pt2(file.path);
    REQUIRE(again.has_value());
    return std::string(listing(*again.value().graph));
}

}  // namespace

TEST_CASE("ops that no dialect knows are written with all that they are given", "[opaque]") {
    const std::string_view text = R"(headrace 1
%x: float32[2] = input
%y: float32[2] = opaque mine.blend.default(self=%x, more=[%x, %x], others=[none, %x], sizes=[1, -2], weights=[0.5, inf], flags=[true, false], k=3, alpha=1.5, on=true, absent=none, type=int8, kept=channels_last, mode="a\"b", labels=["a", "b"], device="cpu", none_at_all=[])
%a: int64[2], %b: float32[2] = opaque mine.split.default(%y, by=%x)
%c: float32[2] = opaque mine.plain.default(%b)
opaque mine.log.default(%y)
output %a, %c
)";
    CHECK(through_pt2(text) == std::string(listing(*parse_graph_text(text).value().graph)));
    const auto refused = [](std::string_view argument) {
        return through_pt2("headrace 1 %x: float32[2] = input %y: float32[2] = opaque mine.op(%x, " +
            std::string(argument) + ") output %y");
    };
    CHECK(refused("body=graph").find("y (mine.op): the graph that it was given") != std::string::npos);
    CHECK(refused("w=[a=1]").find("its argument w is a struct") != std::string::npos);
    CHECK(refused("w=[1, \"a\"]").find("a list of several kinds") != std::string::npos);
    CHECK(refused("w=sideways").find("sideways has no form") != std::string::npos);
}

TEST_CASE("the same program has the same bytes, and weights begin at multiples of 64") {
    const program p = read_fixture("conv_bn_relu");
    const auto first = pt2_archive(p);
    const auto second = pt2_archive(p);
    REQUIRE(first.has_value());
    CHECK(first.value() == second.value());
    const temporary_path file;
    REQUIRE(write_pt2(file.path.string(), p).has_value());
    const auto again = read_pt2(file.path);
    REQUIRE(again.has_value());
    const std::byte* begin = again.value().file.bytes().data();
    for (const node& n : again.value().graph->nodes_of(info_of<builtin::constant>))
        CHECK((args_of<builtin::constant>(n).data.bytes - begin) % 64 == 0);
}

TEST_CASE("programs that need more than their graph are refused") {
    const auto archive = pt2_archive(read_fixture("control_flow"));
    REQUIRE_FALSE(archive.has_value());
    CHECK(archive.error().kind == error_kind::unsupported);
}

TEST_CASE("a file keeps how its program takes a stream, and refuses what is not of the program") {
    program p = read_fixture("conv_bn_relu");
    const node& x = *p.graph->inputs().begin();
    const std::int64_t rows = x.results[0].meta->shape[2];
    p.stream = stream_signature{.inputs = {{std::string(x.name()), 2, rows}}, .first_step = 7};
    for (std::size_t i = 0; i != p.user_outputs; ++i) p.stream->outputs.push_back({0, 0, 0});
    const auto written = [&] {
        const temporary_path file;
        REQUIRE(write_pt2(file.path.string(), p).has_value());
        return read_pt2(file.path);
    };
    const auto again = written();
    REQUIRE(again.has_value());
    REQUIRE(again.value().stream.has_value());
    CHECK(again.value().stream->inputs[0].name == x.name());
    CHECK(again.value().stream->inputs[0].axis == 2);
    CHECK(again.value().stream->inputs[0].step == rows);
    CHECK(again.value().stream->outputs.size() == p.user_outputs);
    CHECK(again.value().stream->first_step == 7);

    const stream_signature right = *p.stream;
    const auto is_refused = [&](const stream_signature& wrong) {
        p.stream = wrong;
        const auto read = written();
        return !read.has_value() && read.error().kind == error_kind::malformed;
    };
    for (const auto& input : {streamed_input{"other", 2, rows}, {std::string(x.name()), 4, rows},
             {std::string(x.name()), -1, rows}, {std::string(x.name()), 2, rows + 1}}) {
        stream_signature wrong = right;
        wrong.inputs = {input};
        CHECK(is_refused(wrong));
    }
    stream_signature wrong = right;
    wrong.outputs.push_back({});
    CHECK(is_refused(wrong));
    wrong = right;
    wrong.first_step = std::int64_t{1} << 40U;
    CHECK(is_refused(wrong));
}

TEST_CASE("what is written back is in the signature") {
    for (const char* name : {"buffer_update", "reading/writes_input", "reading/writes_input_decomposed",
             "reading/writes_buffer", "reading/writes_buffer_decomposed"}) {
        INFO(name);
        const program p = read_fixture(name);
        const temporary_path file;
        REQUIRE(write_pt2(file.path.string(), p).has_value());
        const auto again = read_pt2(file.path);
        REQUIRE(again.has_value());
        CHECK(again.value().user_outputs == p.user_outputs);
        REQUIRE(again.value().mutations.size() == 1);
        CHECK(again.value().mutations[0].kind == p.mutations[0].kind);
        CHECK(again.value().mutations[0].position == p.mutations[0].position);
        CHECK(again.value().graph->outputs().size() == p.graph->outputs().size());
    }
}

namespace {

// Returns "dtype=2 memory_format=1": how the arguments of the first node of an op are passed, 1 in order, 2
// by name.
std::string kinds_of(const std::string& archive, std::string_view op) {
    std::string kinds;
    const std::size_t begin = archive.find("\"target\":\"torch.ops." + std::string(op));
    REQUIRE(begin != std::string::npos);
    const std::string node = archive.substr(begin, archive.find("\"outputs\"", begin) - begin);
    for (std::size_t at = 0; (at = node.find("\"kind\":", at)) != std::string::npos; ++at)
        kinds += node[at + 7];
    return kinds;
}

}  // namespace

TEST_CASE("arguments behind the asterisk of PyTorch's schemas are given by name", "[keywords]") {
    const auto p = parse_graph_text(R"(headrace 1
%x: float32[1, 2, 2, 2] = input
%a: float32[1, 2, 2, 2] = aten.to.dtype_layout(%x, dtype=float32)
%b: float32[1, 2, 2, 2] = aten.to.dtype(%a, dtype=float32)
%c: float32[1, 2, 2, 2] = aten.add.Tensor(%b, %b, alpha=2)
%d: float32[1, 2, 2, 2] = aten.gelu.default(%c, approximate="tanh")
%e: float32[1, 2, 2, 2] = aten.elu.default(%d, alpha=2)
%f: float32[1, 2, 2, 2] = aten.softmax.int(%e, dim=1, dtype=float32)
%g: float32[1, 2, 2, 2] = opaque aten.searchsorted.Tensor(sorted_sequence=%f, self=%f, sorter=%f)
output %g
)");
    REQUIRE(p.has_value());
    const auto bytes = pt2_archive(p.value());
    REQUIRE(bytes.has_value());
    const std::string archive(reinterpret_cast<const char*>(bytes.value().data()), bytes.value().size());
    CHECK(kinds_of(archive, "aten.to.dtype_layout").substr(0, 2) == "12");
    CHECK(kinds_of(archive, "aten.to.dtype\"").substr(0, 2) == "11");
    CHECK(kinds_of(archive, "aten.add.Tensor") == "112");
    CHECK(kinds_of(archive, "aten.gelu.default") == "12");
    CHECK(kinds_of(archive, "aten.elu.default").substr(0, 2) == "11");
    CHECK(kinds_of(archive, "aten.softmax.int") == "111");
    CHECK(kinds_of(archive, "aten.searchsorted.Tensor") == "112");
    CHECK(pt2::is_keyword_only("aten.isin.Tensor_Tensor", "invert"));
    CHECK(pt2::is_keyword_only("quantized_decomposed.dequantize_per_tensor.default", "out_dtype"));
    CHECK_FALSE(pt2::is_keyword_only("quantized_decomposed.quantize_per_tensor.default", "dtype"));
    CHECK_FALSE(pt2::is_keyword_only("mine.op.default", "alpha"));
}
