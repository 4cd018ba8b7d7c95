// SPDX-License-Identifier: MIT
// Tests files of older versions of PyTorch, which pickle weights, and broken pickles.

#include <catch2/catch.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <headrace/io/pt2/pickle.hpp>
#include <headrace/io/pt2/pt2.hpp>
#include <headrace/io/text/graph_text.hpp>

#include "../../support/source_tree.hpp"

using namespace headrace;

namespace {

std::string text_of(std::string_view name, const size_choices& choices = {}) {
    const auto read =
        read_pt2(testing::fixtures() / "torch_versions" / (std::string(name) + ".pt2"), choices);
    if (!read) return std::string(read.error().message);
    return graph_text(read.value()).value();
}
bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::string message_of(std::string_view pickle) {
    try {
        const pt2::pickled_tensors read(std::as_bytes(std::span(pickle)));
        static_cast<void>(read.tensor("w"));
    } catch (const failure& f) {
        return std::string(f.what.message);
    }
    return {};
}

using namespace std::string_literals;

// {'w': torch._utils._rebuild_tensor_v2(('storage', torch.FloatStorage, '0', 'cpu', 2), 0, (2,), (1,), …)}
std::string pickle_with(
    const std::string& size, const std::string& stride, const std::string& offset = "K\0"s) {
    return "\x80\x02}X\x01\0\0\0w"s + "ctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storage"s +
        "ctorch\nFloatStorage\nX\x01\0\0\0"s + "0X\x03\0\0\0"s + "cpuK\x02tQ" + offset + size + "\x85" +
        stride + "\x85\x89" + "ccollections\nOrderedDict\n)RtRs.";
}

}  // namespace

TEST_CASE("pt2: files of torch 2.5 and 2.8 are read", "[io][pt2]") {
    const std::string first = text_of("torch_2_5");
    CHECK(has(first, "torch \"2.5.1"));
    CHECK(has(first, "%b_l__s___k: float32[3] = constant [1.0, 2.0, 3.0]"));
    CHECK(has(first, "%b_l__s___np: int64[3] = constant [5, 6, 7]"));
    CHECK(has(first, "aten.linear.default(%x, %p_l__s___l_weight, %p_l__s___l_bias)"));
    const std::string dynamic = text_of("torch_2_5_dynamic", {.sizes = {{"batch", 5}}});
    CAPTURE(dynamic);
    CHECK((has(dynamic, "%x: float32[5, 3, 4] = input") || has(dynamic, "s0")));
    CHECK(has(text_of("torch_2_5_dynamic", {.examples = true}), "%x: float32[2, 3, 4] = input"));
    const std::string second = text_of("torch_2_8");
    CHECK(has(second, "torch \"2.8.0"));
    CHECK(has(second, "float32[2, 1, 3, 3] = constant"));
    CHECK(has(second, "aten.batch_norm.default("));
}

TEST_CASE("pt2: a pickle is read without being run", "[io][pt2]") {
    CHECK(message_of(pickle_with("K\x02", "K\x01")).empty());
    const std::string text = pickle_with("K\x02", "K\x01");
    const pt2::pickled_tensors read(std::as_bytes(std::span(text)));
    const pt2::pickled_tensor t = read.tensor("w");
    CHECK(t.storage == "0");
    CHECK(t.layout.dtype == dtype::float32);
    CHECK(t.layout.elements == 2);
    CHECK_FALSE(read.contains("x"));
    for (std::size_t size = 0; size != text.size(); ++size)
        CHECK_FALSE(message_of(text.substr(0, size)).empty());
    CHECK(has(message_of(pickle_with("J\xff\xff\xff\xff"s, "K\x01")), "a size or a stride"));
    CHECK(has(message_of(pickle_with("K\x02", "K\x01", "J\xff\xff\xff\xff"s)), "negative storage offset"));
    CHECK(has(message_of(pickle_with("\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f"s, "K\x01")), "too large"));
    CHECK(has(message_of("\x80\x02"
                         "cos\nsystem\nX\x02\0\0\0lsR."s),
        "not a dictionary"));
    CHECK(has(message_of("\x80\x02}X\x01\0\0\0wcos\nsystem\n)Rs."s), "plain torch.Tensor"));
    CHECK(has(message_of("\x80\x02I1\n."s), "opcode 73"));
    CHECK(has(message_of("\x80\x02h\x07."s), "has not kept"));
    CHECK(has(message_of("\x80\x02t."s), "lacks a mark"));
    CHECK(has(message_of("\x80\x02."s), "where there is none"));
}
