// SPDX-License-Identifier: MIT
// Tests io/pt2/pt2.hpp on the exported programs in tests/fixtures and on edits of them.
#include <catch2/catch.hpp>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <headrace/io/file/npy.hpp>
#include <headrace/io/file/zip_archive.hpp>
#include <headrace/io/pt2/pt2.hpp>
#include <headrace/io/pt2/target.hpp>
#include <headrace/io/unread_nodes.hpp>
#include <headrace/ir/signature.hpp>
#include <headrace/ir/unread.hpp>

#include "../../support/source_tree.hpp"
#include "../file/stored_zip.hpp"
#include "read_fixture.hpp"

namespace {

using namespace headrace;
using testing::read_fixture;

const node* find_node(const graph& g, std::string_view name) {
    for (const node& n : g.nodes()) {
        if (n.name() == name) return &n;
    }
    return nullptr;
}

template <class Op>
const node& only(const graph& g) {
    const auto found = g.nodes_of(info_of<Op>);
    REQUIRE_FALSE(found.empty());
    return *found.begin();
}

std::vector<std::string> names_of_outputs(const graph& g) {
    const auto* names = g.output()->find_annotation<output_names>();
    REQUIRE(names != nullptr);
    return {names->names.begin(), names->names.end()};
}

// Returns the elements of a float constant in row-major order, by its strides.
std::vector<float> floats_of(const node& n) {
    const auto& data = args_of<builtin::constant>(n).data;
    const int_list& shape = n.results[0].meta->shape;
    std::vector<float> numbers;
    std::vector<std::int64_t> at(shape.size());
    for (std::int64_t i = 0; i != n.results[0].meta->elements(); ++i) {
        std::int64_t rest = i;
        std::int64_t offset = data.strides.empty() ? i : 0;
        for (std::size_t d = shape.size(); d-- != 0; rest /= shape[d]) {
            if (!data.strides.empty()) offset += rest % shape[d] * data.strides[d];
        }
        float number = 0;
        std::memcpy(&number, data.bytes + 4 * offset, sizeof number);
        numbers.push_back(number);
    }
    return numbers;
}

// --- edited archives -------------------------------------------------------------------

std::string text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<stored_zip::stored> entries_of(std::string_view fixture) {
    const auto file = open_mapped(testing::fixtures() / fixture / "model.pt2");
    const auto archive = zip_archive::open(file.value().bytes());
    std::vector<stored_zip::stored> entries;
    for (const zip_entry& e : archive.value().entries()) {
        entries.push_back({std::string(e.name), text_of(archive.value().view(e).value())});
    }
    return entries;
}

result<program> read_entries(const std::vector<stored_zip::stored>& entries) {
    const auto path = std::filesystem::temp_directory_path() / "headrace_pt2_test.pt2";
    std::ofstream(path, std::ios::binary) << stored_zip::archive_of(entries);
    auto read = read_pt2(path);
    std::filesystem::remove(path);
    return read;
}

// Returns the reader's message when `from` is replaced by `to` in an entry, without the leading path.
std::string message_after(
    std::string_view fixture, std::string_view entry, std::string_view from, std::string_view to) {
    std::vector<stored_zip::stored> entries = entries_of(fixture);
    bool replaced = false;
    for (stored_zip::stored& e : entries) {
        if (!e.name.ends_with(entry)) continue;
        const std::size_t at = e.data.find(from);
        if (at == std::string::npos) continue;
        e.data.replace(at, from.size(), to);
        replaced = true;
    }
    REQUIRE(replaced);
    const auto read = read_entries(entries);
    if (read) return "";
    CHECK(read.error().message.find('\n') == std::string::npos);
    const std::string message(read.error().message);
    return message.substr(message.find(": ") + 2);
}

std::string after_edit(
    std::string_view from, std::string_view to, std::string_view fixture = "conv_bn_relu") {
    return message_after(fixture, "model.json", from, to);
}

}  // namespace

TEST_CASE("pt2: a convolutional network", "[io][pt2]") {
    const program p = read_fixture("conv_bn_relu");
    const graph& g = *p.graph;
    const auto& conv = args_of<aten::conv2d>(only<aten::conv2d>(g));
    CHECK(conv.stride == int_list{2, 2});
    CHECK(conv.dilation == int_list{1, 1});
    CHECK(conv.groups == 1);
    CHECK(conv.input.producer == &*g.inputs().begin());
    REQUIRE(conv.bias);
    CHECK(conv.bias->producer->name() == "p_conv_bias");
    CHECK(*meta_of(conv.weight) == tensor_meta{dtype::float32, {8, 3, 3, 3}, {}});
    const node& n = only<aten::conv2d>(g);
    CHECK(n.name() == "conv2d");
    CHECK(*n.results[0].meta == tensor_meta{dtype::float32, {1, 8, 8, 8}, {}});
    REQUIRE(n.find_annotation<provenance>() != nullptr);
    CHECK(n.find_annotation<provenance>()->op_name == "aten.conv2d.default");
    REQUIRE(n.find_annotation<module_stack>() != nullptr);
    CHECK(p.user_outputs == 1);
    CHECK(names_of_outputs(g) == std::vector<std::string>{"linear"});
    CHECK(g.outputs()[0].producer->name() == "linear");
    CHECK(p.torch_version.starts_with("2."));
}

TEST_CASE("pt2: inputs, metadata and order of every fixture", "[io][pt2]") {
    for (const char* name : {"conv_bn_relu", "depthwise_residual", "attention", "upsample_concat",
             "tied_weights", "unused", "integer_ops", "control_flow", "rnn", "multi_output", "buffer_update",
             "quantized_cnn", "quantized_attention", "quantized_int16"}) {
        INFO(name);
        const program p = read_fixture(name);
        std::size_t position = 0;
        for (const node& input : p.graph->inputs()) {
            const auto fed =
                read_npy(testing::fixtures() / name / ("in" + std::to_string(position++) + ".npy"));
            REQUIRE(fed);
            CHECK(fed.value().meta == *input.results[0].meta);
        }
        for (std::size_t i = 0; i != p.user_outputs; ++i) {
            const auto expected = read_npy(testing::fixtures() / name / ("out" + std::to_string(i) + ".npy"));
            REQUIRE(expected);
            CHECK(expected.value().meta == *meta_of(p.graph->outputs()[i]));
        }
        CHECK(p.graph->nodes_of(info_of<builtin::opaque>).empty());
        CHECK(p.graph->last() == p.graph->output());
    }
}

TEST_CASE("pt2: constants view the file, with its strides and offsets", "[io][pt2]") {
    const program p = read_fixture("tied_weights");
    const graph& g = *p.graph;
    const auto bytes_of = [&](std::string_view name) {
        const node* n = find_node(g, name);
        REQUIRE(n != nullptr);
        return args_of<builtin::constant>(*n).data.bytes;
    };
    for (const node& n : g.nodes_of(info_of<builtin::constant>)) {
        if (n.name().empty()) continue;  // a Python number
        const std::byte* first = args_of<builtin::constant>(n).data.bytes;
        CHECK((first >= p.file.bytes().data() && first < p.file.bytes().data() + p.file.bytes().size()));
    }
    CHECK(bytes_of("b_part") == bytes_of("b_whole") + 16);
    CHECK(args_of<builtin::constant>(*find_node(g, "b_part")).data.strides == int_list{4, 1});
    CHECK(args_of<builtin::constant>(*find_node(g, "b_spread")).data.strides == int_list{1, 0});
    CHECK(args_of<builtin::constant>(*find_node(g, "p_turned")).data.strides == int_list{1, 12});
    CHECK(args_of<builtin::constant>(*find_node(g, "b_whole")).data.strides.empty());
    CHECK(find_node(g, "p_turned")->results[0].meta->dim_order == list<std::int64_t>{1, 0});
    CHECK(find_node(g, "p_kernel")->results[0].meta->dim_order == list<std::int64_t>{0, 2, 3, 1});
    CHECK(floats_of(*find_node(g, "b_scratch")) == std::vector<float>{0, 1, 2, 3, 4, 5});
    const std::vector<float> whole = floats_of(*find_node(g, "b_whole"));
    CHECK(floats_of(*find_node(g, "b_part")) ==
        std::vector<float>{whole[4], whole[5], whole[8], whole[9], whole[12], whole[13]});
    const auto linears = g.nodes_of(info_of<aten::linear>);
    CHECK(linears.begin()->operand(1) == (++linears.begin())->operand(1));
}

TEST_CASE("pt2: unused weights make no nodes, Python numbers become constants", "[io][pt2]") {
    const program p = read_fixture("unused");
    CHECK(find_node(*p.graph, "p_idle_weight") == nullptr);
    const auto& scaled = args_of<aten::mul_tensor>(only<aten::mul_tensor>(*p.graph));
    REQUIRE(match<builtin::constant>(scaled.other) != nullptr);
    CHECK(floats_of(*scaled.other.producer) == std::vector<float>{1.5F});
    const auto& shifted = args_of<aten::add_tensor>(only<aten::add_tensor>(*p.graph));
    CHECK(floats_of(*shifted.other.producer) == std::vector<float>{3});
    CHECK(*meta_of(shifted.other) == tensor_meta{dtype::float32, {}, {}});
    CHECK(shifted.alpha == scalar(1));
}

TEST_CASE("pt2: several results, some of them unused", "[io][pt2]") {
    const program p = read_fixture("multi_output");
    const node& split = only<aten::split_with_sizes>(*p.graph);
    CHECK(split.result_count == 3);
    CHECK(split.results[1].meta->shape == int_list{1, 3, 4});
    CHECK(args_of<aten::split_with_sizes>(split).split_sizes == int_list{2, 3, 1});
    CHECK(only<aten::max_dim>(*p.graph).result_count == 2);
    CHECK(p.graph->outputs()[1].result == 1);
}

TEST_CASE("pt2: nested graphs become regions", "[io][pt2]") {
    const program p = read_fixture("control_flow");
    const auto& cond = args_of<higher_order::cond>(only<higher_order::cond>(*p.graph));
    REQUIRE(cond.operands.size() == 2);
    for (const graph* region : {cond.true_graph, cond.false_graph}) {
        REQUIRE(region != nullptr);
        CHECK(region->parent() == p.graph.get());
        CHECK(region->outputs().size() == 1);
        CHECK(region->nodes_of(info_of<builtin::constant>).empty());
    }
    CHECK(cond.true_graph->nodes_of(info_of<aten::sin>).empty());
    CHECK_FALSE(cond.false_graph->nodes_of(info_of<aten::sin>).empty());
}

TEST_CASE("pt2: a buffer that the program updates", "[io][pt2]") {
    const program p = read_fixture("buffer_update");
    REQUIRE(p.mutations.size() == 1);
    CHECK(p.mutations[0].kind == mutation::kind_type::buffer);
    CHECK(p.mutations[0].name == "count");
    CHECK(p.user_outputs == 1);
    CHECK(p.mutations[0].position == 1);
    CHECK(p.graph->outputs()[1].producer->name() == "add");
}

TEST_CASE("pt2: dynamic sizes are chosen, or refused by name", "[io][pt2]") {
    const auto path = testing::fixtures() / "dynamic_shape" / "model.pt2";
    const auto refused = read_pt2(path);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == error_kind::unsupported);
    CHECK(refused.error().message.find("s77 (x:0) is 2 to 64") != std::string::npos);

    const auto read = read_pt2(path, {.sizes = {{"batch", 5}}});
    REQUIRE(read);
    const graph& g = *read.value().graph;
    CHECK(g.inputs().begin()->results[0].meta->shape == int_list{5, 4});
    const node& view = only<aten::view>(g);
    CHECK(args_of<aten::view>(view).size == int_list{5, 3, 1});
    CHECK(view.results[0].meta->shape == int_list{5, 3, 1});
    CHECK(g.nodes_of(info_of<aten::sym_size_int>).empty());
    REQUIRE(read.value().sizes.size() == 1);
    CHECK(read.value().sizes[0].value == 5);

    const auto example = read_pt2(path, {.examples = true});
    REQUIRE(example);
    CHECK(example.value().graph->inputs().begin()->results[0].meta->shape == int_list{2, 4});
}

TEST_CASE("pt2: an op that is not known keeps its name, operands and metadata", "[io][pt2]") {
    std::vector<stored_zip::stored> entries = entries_of("conv_bn_relu");
    for (stored_zip::stored& e : entries) {
        const std::size_t at = e.data.find("torch.ops.aten.relu.default");
        if (at != std::string::npos) e.data.replace(at, 27, "torch.ops.mine.relu.default");
    }
    const auto read = read_entries(entries);
    REQUIRE(read);
    const node& n = only<builtin::opaque>(*read.value().graph);
    const auto& a = args_of<builtin::opaque>(n);
    CHECK(a.target == "mine.relu.default");
    CHECK(a.operands.size() == 1);
    CHECK(a.arguments == "self=%0");
    CHECK(n.find_annotation<provenance>()->op_name == "mine.relu.default");
    CHECK(n.results[0].meta->shape == int_list{1, 8, 8, 8});
}

namespace {

/// Returns the fixture with its relu replaced by a call of another op.
result<program> with_relu_as(std::string_view target) {
    std::vector<stored_zip::stored> entries = entries_of("conv_bn_relu");
    for (stored_zip::stored& e : entries) {
        const std::size_t at = e.data.find("torch.ops.aten.relu.default");
        if (at != std::string::npos) e.data.replace(at, 27, "torch.ops." + std::string(target));
    }
    return read_entries(entries);
}

}  // namespace

TEST_CASE("pt2: an op by another of its names", "[io][pt2]") {
    for (const auto& [name, op] : {std::pair{"aten.negative.default", &info_of<aten::neg>},
             std::pair{"aten.arctan.default", &info_of<aten::atan>},
             std::pair{"aten.special_expit.default", &info_of<aten::sigmoid>}}) {
        const auto read = with_relu_as(name);
        REQUIRE(read);
        const node* n = find_node(*read.value().graph, "relu");
        REQUIRE(n != nullptr);
        CHECK(n->op == op);
        CHECK(n->find_annotation<provenance>()->op_name == name);
    }
}

TEST_CASE("pt2: in place is the op and a copy into its operand", "[io][pt2]") {
    for (const auto& [name, op, type] : {std::tuple{"aten.sin_.default", &info_of<aten::sin>, dtype::float32},
             std::tuple{"aten.absolute_.default", &info_of<aten::abs>, dtype::float32},
             std::tuple{"aten.logical_not_.default", &info_of<aten::logical_not>, dtype::boolean}}) {
        const auto read = with_relu_as(name);
        REQUIRE(read);
        const node& copy = only<aten::copy_inplace>(*read.value().graph);
        const auto& a = args_of<aten::copy_inplace>(copy);
        CHECK(copy.name() == "relu");
        CHECK(a.src.producer->op == op);
        CHECK(a.src.producer->operand(0) == a.self);
        CHECK(meta_of(a.src)->dtype == type);
        CHECK(a.src.producer->find_annotation<provenance>()->op_name == name);
    }
    const auto relu = with_relu_as("aten.relu_.default");  // an op that the dialect has
    REQUIRE(relu);
    CHECK(find_node(*relu.value().graph, "relu")->op == &info_of<aten::relu_inplace>);
    CHECK(pt2::find_target("aten.t_.default").op == nullptr);
    CHECK(pt2::find_target("aten.unsqueeze_.default").op == nullptr);
    CHECK(pt2::find_target("aten.__iand__.Tensor").op == &info_of<aten::and_tensor>);
    CHECK(pt2::find_target("aten.__irshift__.Scalar").in_place);
    CHECK(pt2::find_target("mine.sin_.default").op == nullptr);
}

TEST_CASE("pt2: archives of another kind", "[io][pt2]") {
    const auto message = [](const std::vector<stored_zip::stored>& entries) {
        const std::string text(read_entries(entries).error().message);
        return text.substr(text.find(": ") + 2);
    };
    CHECK(message({{"version", "8.2"}, {"serialized_exported_program.json", "{}"}}) ==
        "serialized_exported_program.json: 'schema_version' is missing");
    CHECK(message({{"m/data.pkl", ""}}) == "is not a torch.export archive: it has no models/*.json");
    CHECK(message({{"m/models/a.json", ""}, {"m/models/b.json", ""}}) ==
        "holds several models, such as 'a' and 'b'");
    CHECK(message({{"m/models/a.json", "{}"}}) == "a.json: 'schema_version' is missing");
    CHECK(message({{"m/models/a.json", R"({"schema_version": {"major": 6}, "torch_version": "2.4.0"})"}}) ==
        "a.json: it is from torch 2.4.0, with version 6 of torch.export's schema, and versions 7 and 8 are "
        "read; "
        "export it again with torch 2.5 to 2.15");
}

TEST_CASE("pt2: broken graphs are refused with the node's name", "[io][pt2]") {
    const std::string at_relu = "model.json: node relu (aten.relu.default): ";
    CHECK(after_edit(R"({"name": "self", "arg": {"as_tensor": {"name": "batch_norm"}})",
              R"({"name": "self", "arg": {"as_tensor": {"name": "linear"}})") ==
        at_relu + "argument 'self': it uses 'linear', which nothing before it defines");
    CHECK(after_edit(R"({"name": "self", "arg": {"as_tensor": {"name": "batch_norm"}})",
              R"({"name": "selv", "arg": {"as_tensor": {"name": "batch_norm"}})") ==
        at_relu + "argument 'selv': the op has no such argument");
    CHECK(after_edit(R"({"name": "self", "arg": {"as_tensor": {"name": "batch_norm"}})",
              R"({"name": "self", "arg": {"as_string": "batch_norm"})") ==
        at_relu + "argument 'self': it cannot be 'as_string'");
    CHECK(after_edit(R"({"name": "self", "arg": {"as_tensor": {"name": "batch_norm"}}, "kind": 1})", "") ==
        at_relu + "argument 'self' is missing");
    CHECK(after_edit(R"("outputs": [{"as_tensor": {"name": "relu"}}])",
              R"("outputs": [{"as_tensor": {"name": "conv2d"}}])") ==
        at_relu + "the name 'conv2d' is used twice");
    CHECK(after_edit(R"("outputs": [{"as_tensor": {"name": "relu"}}])",
              R"("outputs": [{"as_tensor": {"name": "relu"}}, {"as_tensor": {"name": "more"}}])") ==
        at_relu + "it has 2 results, the op 1");
    CHECK(after_edit(R"("outputs": [{"as_tensor": {"name": "relu"}}])",
              R"("outputs": [{"as_sym_int": {"as_name": "u0"}}])") ==
        at_relu + "it uses the number 'u0', which nothing defines");
    CHECK(after_edit(R"("relu": {"dtype": 7, "sizes": [{"as_int": 1})",
              R"("relu": {"dtype": 7, "sizes": [{"as_int": -1})") ==
        at_relu + "'relu': it has a negative size, -1");
    CHECK(after_edit(R"("relu": {"dtype": 7, "sizes": [{"as_int": 1})",
              R"("relu": {"dtype": 7, "sizes": [{"as_int": 9223372036854775807})") ==
        at_relu + "'relu': it is too large");
    CHECK(after_edit(R"("input_specs": [{)", R"("input_specs": [{"token": {}}, {)") ==
        "model.json: the program has an input of kind 'token'");
}

TEST_CASE("pt2: a node that cannot be read is kept with the reason", "[io][pt2]") {
    std::vector<stored_zip::stored> entries = entries_of("conv_bn_relu");
    for (stored_zip::stored& e : entries) {
        const std::string_view from = R"("relu": {"dtype": 7,)";
        if (const std::size_t at = e.data.find(from);
            e.name.ends_with("model.json") && at != std::string::npos)
            e.data.replace(at, from.size(), R"("relu": {"dtype": 31,)");
    }
    const auto read = read_entries(entries);
    REQUIRE(read);
    const graph& g = *read.value().graph;
    const node* relu = find_node(g, "relu");
    REQUIRE(relu != nullptr);
    CHECK(args_of<builtin::opaque>(*relu).target == "aten.relu.default");
    CHECK(relu->find_annotation<unread_reason>()->text == "'relu': no such element type: ScalarType 31");
    const node* pooled = find_node(g, "max_pool2d");  // its own dtype is known, but not its operand's
    REQUIRE(pooled != nullptr);
    CHECK(pooled->find_annotation<unread_reason>()->follows);
    const result<void> refused = refuse_unread(g);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("relu (aten.relu.default): 'relu': no such element type") == 0);
}

TEST_CASE("pt2: numbers of the running program and masks", "[io][pt2]") {
    const auto read = [](std::string_view name, constant_truth truth) {
        return read_pt2(testing::fixtures() / "reading" / name / "model.pt2", {}, truth);
    };
    const auto indexed = read("indexed_by_tensors", nullptr);
    REQUIRE(indexed);
    CHECK(refuse_unread(*indexed.value().graph));
    CHECK(indexed.value().graph->nodes_of(info_of<builtin::opaque>).empty());
    const auto& first = args_of<aten::index_tensor>(only<aten::index_tensor>(*indexed.value().graph));
    REQUIRE(first.indices.size() == 1);
    CHECK(meta_of(*first.indices[0])->rank() == 0);
    // Only with kernels that compute masks.
    const auto unknown = read("masked", nullptr);
    REQUIRE(unknown);
    CHECK_FALSE(refuse_unread(*unknown.value().graph));
    const auto known = read("masked", [](value v) -> std::optional<std::vector<bool>> {
        std::vector<bool> truths(static_cast<std::size_t>(meta_of(v)->elements()), false);
        truths[0] = true;
        return truths;
    });
    REQUIRE(known);
    CHECK(refuse_unread(*known.value().graph));
    CHECK(meta_of(find_node(*known.value().graph, "index")->operand(0))->shape == int_list{3, 4});
    CHECK(find_node(*known.value().graph, "index")->results[0].meta->shape == int_list{1, 4});
}

TEST_CASE("pt2: Python's outputs are left out with a note", "[io][pt2]") {
    const program p = read_fixture("reading/python_outputs");
    CHECK(p.user_outputs == 2);
    CHECK(names_of_outputs(*p.graph) == std::vector<std::string>{"add", "mul"});
    const auto* notes = p.graph->output()->find_annotation<reading_notes>();
    REQUIRE(notes != nullptr);
    const std::vector<std::string_view> texts(notes->texts.begin(), notes->texts.end());
    CHECK(texts ==
        std::vector<std::string_view>{"output 0 is the number 3, not a tensor; it is left out",
            "output 2 is the number 2.5, not a tensor; it is left out",
            "output 3 is the boolean true, not a tensor; it is left out",
            "output 4 is the text \"text\", not a tensor; it is left out"});
}

TEST_CASE("pt2: what is written in place is written back, decomposed or not", "[io][pt2]") {
    for (const char* name : {"writes_input", "writes_input_decomposed"}) {
        INFO(name);
        const program p = read_fixture(std::string("reading/") + name);
        REQUIRE(p.mutations.size() == 1);
        CHECK(p.mutations[0].kind == mutation::kind_type::user_input);
        CHECK(p.mutations[0].name == "x");
        CHECK(p.mutations[0].position == 1);
    }
    for (const char* name : {"writes_buffer", "writes_buffer_decomposed"}) {
        INFO(name);
        const program p = read_fixture(std::string("reading/") + name);
        REQUIRE(p.mutations.size() == 1);
        CHECK(p.mutations[0].kind == mutation::kind_type::buffer);
        CHECK(p.mutations[0].name == "count");
        CHECK(p.mutations[0].tensor == "b_count");
    }
}

TEST_CASE("pt2: broken JSON is refused", "[io][pt2]") {
    const std::string deep(100'000, '[');
    CHECK(after_edit(R"("as_tensor": {"name": "x"})", R"("as_tensor": {"name": 5})")
              .find("'name' is missing") != std::string::npos);
    CHECK(after_edit(R"({"graph_module": )", R"({"graph_module": [)") ==
        "model.json: broken JSON: an object is missing");
    CHECK(after_edit(R"("as_ints": [)", R"("as_ints": )" + deep).find("broken JSON") != std::string::npos);
    CHECK(after_edit(R"("as_ints": [2, 2])", R"("as_ints": )" + deep + std::string(deep.size(), ']'))
              .find("The JSON document was too deep") != std::string::npos);
    CHECK(after_edit(R"("as_ints": [2, 2])", R"("as_ints": [2e400, 2])")
              .find("node conv2d (aten.conv2d.default): argument 'stride'") != std::string::npos);
    CHECK(after_edit(R"("as_ints": [2, 2])", R"("as_ints": [2.5, 2])") ==
        "model.json: node conv2d (aten.conv2d.default): argument 'stride': it cannot be 'as_ints'");
    std::vector<stored_zip::stored> entries = entries_of("conv_bn_relu");
    for (stored_zip::stored& e : entries) {
        if (e.name.ends_with("model.json")) e.data.resize(e.data.size() / 2);
    }
    CHECK_FALSE(read_entries(entries));
}

TEST_CASE("pt2: graphs that are nested too deeply are refused", "[io][pt2]") {
    const std::string before =
        R"({"as_graph": {"name": "g", "graph": {"inputs": [], "outputs": [], "tensor_values": {}, "nodes": [)"
        R"({"target": "torch.ops.higher_order.map_impl", "name": "m", "outputs": [], )"
        R"("inputs": [{"name": "", "arg": )";
    std::string text;
    for (int i = 0; i != 100; ++i) text += before;
    text += "{}";
    for (int i = 0; i != 100; ++i) text += "}]}]}}}";
    const std::string message = after_edit(R"({"name": "", "arg": {"as_tensor": {"name": "gt"}}, "kind": 1})",
        R"({"name": "", "arg": {"as_tensor": {"name": "gt"}}, "kind": 1}, {"name": "", "arg": )" + text + "}",
        "control_flow");
    CHECK(message.find("graphs are nested too deeply") != std::string::npos);
}

TEST_CASE("pt2: weights that do not fit their data are refused", "[io][pt2]") {
    const auto after = [](std::string_view from, std::string_view to) {
        return message_after("tied_weights", "model_weights_config.json", from, to);
    };
    CHECK(after(R"("path_name": "weight_3")", R"("path_name": "weight_9")")
              .find("the archive has no entry 'model/data/weights/weight_9'") != std::string::npos);
    CHECK(after(R"("use_pickle": false)", R"("use_pickle": true)").find("its data is pickled") !=
        std::string::npos);
    CHECK(after(R"("part")", R"("parts")").find("'b_part': the archive has no data for it, 'part'") !=
        std::string::npos);
    CHECK(after(R"("storage_offset": {"as_int": 4})", R"("storage_offset": {"as_int": 16})")
              .find("'b_part': it reaches to element 26 of entry 'model/data/weights/weight_3', which has 80 "
                    "bytes") != std::string::npos);
    CHECK(after(R"("storage_offset": {"as_int": 4})", R"("storage_offset": {"as_int": 9223372036854775807})")
              .find("its strides reach too far") != std::string::npos);
    CHECK(after(R"("storage_offset": {"as_int": 4})", R"("storage_offset": {"as_int": -4})")
              .find("it has a negative storage offset, -4") != std::string::npos);
}
