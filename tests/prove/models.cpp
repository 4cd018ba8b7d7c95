// SPDX-License-Identifier: MIT
// Tests that quantized models are certified, that executions are within the bounds, and what is said of a model
// that is not certified.
#include "proven.hpp"

#include <algorithm>

#include <headrace/lowering/lower.hpp>
#include <headrace/run/models.hpp>

#include "../support/source_tree.hpp"

using namespace headrace;
using testing::integer_graph;

TEST_CASE("prove: quantized models are certified, and execute within their bounds") {
    for (const char* const name :
        {"quantized_cnn", "quantized_mobile", "quantized_attention", "quantized_int16"}) {
        const std::string path = (testing::fixtures() / name / "model.pt2").string();
        const lowering_outcome done = try_lowering([&] { return read_model(path); }, {});
        REQUIRE(!done.failure);
        const graph& g = *done.model.graph;
        const auto made = prove::certify(g);
        REQUIRE(made);
        INFO(name << '\n' << prove::certificate_text(made.value()));
        CHECK(made.value().no_overflow());
        testing::check_executions(g, 5);
    }
}

namespace {

// Calls `check` with the model changed: an operand is another constant, of one number.
template <class Check>
void with_constant(graph& g, node& n, std::size_t operand, std::int64_t number, Check check) {
    edge& e = n.operands[operand];
    const value before = *e.slot;
    const tensor_meta meta = *meta_of(before);
    const tensor t = tensor::of(meta.dtype, extents(meta.shape.begin(), meta.shape.end()),
        std::vector<std::int64_t>(static_cast<std::size_t>(meta.elements()), number));
    const value other = create_constant(g, meta, g.first(),
        [&](std::span<std::byte> data) { std::ranges::copy(t.bytes().first(data.size()), data.begin()); });
    g.set_operand(e, other);
    check();
    g.set_operand(e, before);
}
bool is_named(const prove::certificate& c, const node& n) {
    return std::ranges::any_of(c.unproven, [&](const auto& u) { return u.which.where == &n; });
}

}  // namespace

TEST_CASE("prove: a bias at its limit or a shift that is too small by one is found in any layer of a model") {
    std::size_t faults = 0;
    for (const char* const name : {"quantized_cnn", "quantized_mobile", "quantized_attention"}) {
        const std::string path = (testing::fixtures() / name / "model.pt2").string();
        const lowering_outcome done = try_lowering([&] { return read_model(path); }, {});
        REQUIRE(!done.failure);
        graph& g = *done.model.graph;
        const auto is_found = [&](const node& n) {
            ++faults;
            INFO(name << ": " << n.name());
            CHECK(is_named(prove::certify(g, {.search_seconds = 0}).value(), n));
        };
        for (const prove::claim& c : prove::analyze(g).claims) {
            auto& n = const_cast<node&>(*c.where);
            if (is<tosa::conv2d>(n) || is<tosa::depthwise_conv2d>(n))
                with_constant(g, n, 2, INT32_MAX, [&] { is_found(n); });
            const bool scales = c.kind == prove::claim_kind::scale_input && is<tosa::rescale>(n);
            if (scales && prove::bits_for(c.computed) >= 2)
                with_constant(g, n, 2, prove::bits_for(c.computed), [&] { is_found(n); });
        }
        CHECK(prove::certify(g).value().no_overflow());
    }
    CHECK(faults >= 50);
}

TEST_CASE("prove: what overflows is named, with its bound and what to do") {
    integer_graph p;
    const value x = p.input(dtype::int32, {2});
    const value sum = p.make<tosa::add>({x, p.number(dtype::int32, 1)});
    p.g.set_name(sum, "one_more");
    p.end(sum);
    const auto made = prove::certify(p.g);
    REQUIRE(made);
    const std::string text = prove::certificate_text(made.value());
    INFO(text);
    CHECK(text.find("overflows: arithmetic result of one_more (tosa.ADD)") != std::string::npos);
    CHECK(text.find("an input gives 2147483648") != std::string::npos);
    CHECK(text.find("clamp the operands first") != std::string::npos);
    CHECK(prove::certificate_json(made.value()).find("\"certified\": false") != std::string::npos);
    REQUIRE(made.value().unproven.size() == 1);
    CHECK(made.value().unproven[0].refuted->inputs[0].integer(0) == INT32_MAX);
}

TEST_CASE("prove: ops of other dialects are refused") {
    graph g;
    const value x = g.create<builtin::placeholder>({}).result();
    g.set_meta(x, {dtype::int32, {2}, {}});
    node& other = g.create<builtin::opaque>({.target = "my.op", .operands = {x}}, 1);
    g.set_meta(other.result(), {dtype::int32, {2}, {}});
    g.create<builtin::output>({.values = {other.result()}});
    const auto made = prove::certify(g);
    REQUIRE(!made);
    CHECK(made.error().message.find("lower the model first") != std::pmr::string::npos);
}

TEST_CASE("prove: a loop that counts is certified, an unlimited sum is not") {
    for (const bool limited : {true, false}) {
        integer_graph p;
        const value start = p.number(dtype::int32, 0);
        graph& condition = p.g.create_region();
        graph& body = p.g.create_region();
        const auto input = [](graph& g) {
            const value v = g.create<builtin::placeholder>({}).result();
            g.set_meta(v, {dtype::int32, {1}, {}});
            return v;
        };
        const auto constant = [](graph& g, std::int32_t x) {
            return create_constant(g, {dtype::int32, {1}, {}}, nullptr,
                [&](std::span<std::byte> data) { std::memcpy(data.data(), &x, sizeof(x)); });
        };
        const value i = input(condition);
        const value limit = constant(condition, 10);
        const value more = limited ? condition.create<tosa::greater>({limit, i}).result()
                                   : condition.create<tosa::greater>({i, limit}).result();
        condition.set_meta(more, {dtype::boolean, {1}, {}});
        condition.create<builtin::output>({.values = {more}});
        const value k = input(body);
        const value next = body.create<tosa::add>({k, constant(body, 1)}).result();
        body.set_meta(next, {dtype::int32, {1}, {}});
        body.create<builtin::output>({.values = {next}});
        node& loop = p.g.create<tosa::while_loop>(
            {.inputs = {start}, .cond_graph = &condition, .body_graph = &body}, 1);
        p.g.set_meta(loop.result(), {dtype::int32, {1}, {}});
        p.end(loop.result());
        CHECK(prove::certify(p.g).value().no_overflow() == limited);
    }
}
