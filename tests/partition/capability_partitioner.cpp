// SPDX-License-Identifier: MIT
// Tests the partitioner: partitions are valid, as few as possible, and compute the same when fused.

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <memory_resource>

#include <headrace/infer/verify.hpp>
#include <headrace/partition/capability_partitioner.hpp>

#include "../support/pass_test.hpp"

using namespace headrace;

namespace {

const partitioner_options singles{.allows_single_node_partition = true};

operator_support add_mul() { return create_op_support<aten::add_tensor, aten::mul_tensor>(); }

value relu(program& p, value x) { return p.make<aten::relu>({.self = x}); }
value add(program& p, value x, value y) { return p.make<aten::add_tensor>({.self = x, .other = y}); }
value mul(program& p, value x, value y) { return p.make<aten::mul_tensor>({.self = x, .other = y}); }

// Builds a random graph: each node is an addition, which is supported, or a relu, which is not, of earlier
// nodes.
void build_random(program& p, std::mt19937& random, int size) {
    std::vector<value> values{p.input(dtype::float32, {2}), p.input(dtype::float32, {2})};
    const auto any = [&] { return values[random() % values.size()]; };
    for (int i = 0; i != size; ++i)
        values.push_back(random() % 3 != 0 ? add(p, any(), any()) : relu(p, any()));
    for (const value v : values) {
        if (v.producer->first_use == nullptr) p.output(v);
    }
    p.finish();
}

// Returns the max number of times that a path enters supported nodes: no partitioning has fewer partitions.
std::size_t lower_bound_of(const graph& g, const operator_support& support) {
    std::vector<std::size_t> entered(g.id_bound());
    std::size_t most = 0;
    for (const node& n : g.nodes()) {
        const bool own =
            !is<builtin::placeholder>(n) && !is<builtin::output>(n) && support.is_node_supported(n);
        std::size_t mine = 0;
        for (const edge& e : n.operand_edges()) {
            const bool from_own =
                !is<builtin::placeholder>(*e.source) && support.is_node_supported(*e.source);
            mine = std::max(mine, entered[e.source->id] + (own && !from_own ? 1U : 0U));
        }
        entered[n.id] = mine;
        most = std::max(most, mine);
    }
    return most;
}

// Builds a chain in which every third node is unsupported.
void build_chain(program& p, int size) {
    value at = p.input(dtype::float32, {2});
    for (int i = 0; i != size; ++i) at = i % 3 == 2 ? relu(p, at) : add(p, at, at);
    p.output(at);
    p.finish();
}

/// Counts allocations from the default resource while it lives.
class counted_memory : public std::pmr::memory_resource {
public:
    counted_memory() : before_(std::pmr::set_default_resource(this)) {}
    counted_memory(const counted_memory&) = delete;
    counted_memory& operator=(const counted_memory&) = delete;
    ~counted_memory() override { std::pmr::set_default_resource(before_); }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        bytes_ += bytes;
        return before_->allocate(bytes, alignment);
    }
    void do_deallocate(void* at, std::size_t bytes, std::size_t alignment) override {
        before_->deallocate(at, bytes, alignment);
    }
    [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
        return this == &other;
    }

    std::pmr::memory_resource* before_;
    std::size_t bytes_ = 0;
};

struct partitioning_work {
    std::size_t questions = 0;  // calls of the support
    std::size_t bytes = 0;      // allocated bytes, all of which are written
    std::size_t partitions = 0;
};

partitioning_work work_of_chain(int size) {
    program p;
    build_chain(p, size);
    partitioning_work work;
    const operator_support support = create_op_support([&](const node& n) {
        ++work.questions;
        return is<aten::add_tensor>(n);
    });
    const counted_memory memory;
    work.partitions = capability_based_partitioner(p.g, support).propose_partitions().size();
    work.bytes = memory.bytes();
    return work;
}

}  // namespace

TEST_CASE("the work grows with the graph", "[capability_partitioner]") {
    const partitioning_work small = work_of_chain(300);
    const partitioning_work large = work_of_chain(16 * 300);
    CHECK(small.partitions == 100);
    CHECK(large.partitions == 16 * 100);
    CHECK(small.questions == 300);
    CHECK(large.questions == 16 * 300);
    // Arrays grow by doubling, so one more node may need up to twice the memory.
    CHECK(small.bytes >= 300 * sizeof(node*));
    CHECK(large.bytes <= 2 * 16 * small.bytes);
}

TEST_CASE("the document's example: additions and multiplications", "[capability_partitioner]") {
    program p;
    const value x = p.input(dtype::float32, {2});
    const value y = p.input(dtype::float32, {2});
    const value first = mul(p, add(p, x, y), y);
    p.output(add(p, relu(p, first), x));
    p.finish();
    capability_based_partitioner partitioner(p.g, add_mul());
    const auto partitions = partitioner.propose_partitions();
    REQUIRE(partitions.size() == 1);  // the addition after the relu is alone
    CHECK(partitions[0].size() == 2);
    CHECK(partitions[0][1] == first.producer);
    CHECK(capability_based_partitioner(p.g, add_mul(), singles).propose_partitions().size() == 2);
}

TEST_CASE("partitions are not joined around a node that stays", "[capability_partitioner]") {
    // Joining a and c would put relu both before and after the joined node.
    program p;
    const value x = p.input(dtype::float32, {2});
    const value a = add(p, x, x);
    const value b = relu(p, a);
    const value c = add(p, a, b);
    p.output(c);
    p.finish();
    const auto partitions = capability_based_partitioner(p.g, add_mul(), singles).propose_partitions();
    REQUIRE(partitions.size() == 2);
    CHECK(is_acyclic(p.g, partitions));
    CHECK(partitions[0] == node_group{a.producer});
    CHECK(partitions[1] == node_group{c.producer});
}

TEST_CASE("branches that do not wait for the host are one partition", "[capability_partitioner]") {
    program p;
    const value x = p.input(dtype::float32, {2});
    const value y = p.input(dtype::float32, {2});
    p.output(relu(p, add(p, x, x)));
    p.output(relu(p, mul(p, y, y)));
    p.finish();
    const auto partitions = capability_based_partitioner(p.g, add_mul()).propose_partitions();
    REQUIRE(partitions.size() == 1);
    CHECK(partitions[0].size() == 2);
}

TEST_CASE("what only a later partition uses is computed there", "[capability_partitioner]") {
    program p;
    const value x = p.input(dtype::float32, {2});
    const value y = p.input(dtype::float32, {2});
    const value beside = mul(p, add(p, y, y), y);
    const value host = relu(p, add(p, x, x));
    p.output(add(p, host, beside));
    p.finish();
    const auto partitions = capability_based_partitioner(p.g, add_mul(), singles).propose_partitions();
    REQUIRE(partitions.size() == 2);
    CHECK(partitions[0].size() == 1);
    CHECK(partitions[1].size() == 3);
}

TEST_CASE("what depends on no input goes where it is used", "[capability_partitioner]") {
    program p;
    const value x = p.input(dtype::float32, {2});
    const value weight = p.constant<float>(dtype::float32, {2}, {1, 2});
    const value twice = add(p, weight, weight);
    const value thrice = add(p, weight, mul(p, weight, weight));
    const value host = p.make<aten::minimum>({.self = x, .other = twice});
    const value last = mul(p, add(p, host, thrice), x);
    p.output(last);
    p.finish();
    const auto partitions = capability_based_partitioner(p.g, add_mul(), singles).propose_partitions();
    REQUIRE(partitions.size() == 1);
    CHECK(partitions[0].size() == 4);  // not `twice`, which the host needs
}

TEST_CASE("what depends on no input is copied for each that uses it", "[capability_partitioner]") {
    program p;
    const value x = p.input(dtype::float32, {2});
    const value weight = p.constant<float>(dtype::float32, {2}, {1, 2});
    const value scaled = mul(p, add(p, weight, weight), weight);  // two nodes, both in three places
    const value first = add(p, x, scaled);
    const value host = p.make<aten::minimum>({.self = first, .other = scaled});
    const value last = mul(p, add(p, host, scaled), scaled);
    p.output(last);
    p.finish();
    const std::vector<tensor> inputs{tensor::of(dtype::float32, {2}, std::vector<double>{3, -4})};
    const auto expected = run_graph(p.g, inputs);
    REQUIRE(expected.has_value());

    capability_based_partitioner partitioner(p.g, add_mul(), singles);
    auto partitions = partitioner.propose_partitions();
    REQUIRE(partitions.size() == 2);
    CHECK(partitions[0].size() == 3);
    CHECK(partitions[1].size() == 4);
    const std::size_t size = p.g.size();
    CHECK(size == 3 + 3 * 2 + 4);
    partitions = partitioner.propose_partitions();  // nothing is left to copy
    CHECK(p.g.size() == size);
    const auto calls = partitioner.fuse_partitions(partitions);
    REQUIRE(calls.has_value());
    // Only data crosses the boundary, and each delegate has the weight.
    CHECK(calls.value()[0]->operand_count == 1);
    CHECK(calls.value()[0]->result_count == 1);
    CHECK(calls.value()[1]->operand_count == 1);
    for (const node* call : calls.value()) {
        const graph& inside = *args_of<delegate::call_delegate>(*call).lowered_graph;
        CHECK(inside.census().count(info_of<builtin::constant>) == 1);
    }
    CHECK(p.g.census().count(info_of<aten::add_tensor>) == 1);
    const auto got = run_graph(p.g, inputs);
    REQUIRE(got.has_value());
    CHECK(tensor_difference(expected.value()[0], got.value()[0], 0).empty());
}

TEST_CASE("ops that compute nothing make no partition", "[capability_partitioner]") {
    program p;
    const value x = p.input(dtype::float32, {2, 3});
    const value turned = p.make<aten::t>({.self = x});
    const value flat = p.make<aten::flatten_using_ints>({.self = turned});
    p.output(relu(p, flat));
    p.finish();
    const auto support = create_op_support<aten::t, aten::flatten_using_ints, aten::add_tensor>();
    const op_list views = op_list_of<aten::t, aten::flatten_using_ints>();
    const auto count = [&](const partitioner_options& options) {
        return capability_based_partitioner(p.g, support, options).propose_partitions().size();
    };
    CHECK(count({}) == 1);
    CHECK(count({.non_compute_ops = views}) == 0);
    CHECK(count({.allows_single_node_partition = true, .non_compute_ops = views}) == 0);
}

TEST_CASE("single nodes are partitions where they are allowed", "[capability_partitioner]") {
    program p;
    const value x = p.input(dtype::float32, {2, 3});
    const value turned = p.make<aten::t>({.self = x});
    p.output(relu(p, p.make<aten::neg>({.self = turned})));
    p.finish();
    const auto support = create_op_support<aten::t, aten::neg>();
    const auto count = [&](const partitioner_options& options) {
        return capability_based_partitioner(p.g, support, options).propose_partitions().size();
    };
    const op_list views = op_list_of<aten::t>();
    CHECK(count({.non_compute_ops = views}) == 0);
    CHECK(count({.allows_single_node_partition = true, .non_compute_ops = views}) == 1);
    CHECK(
        count({.non_compute_ops = views, .allowed_single_node_partition_ops = op_list_of<aten::neg>()}) == 1);
    CHECK(count({.non_compute_ops = views, .allowed_single_node_partition_ops = op_list_of<aten::relu>()}) ==
        0);
}

TEST_CASE("bookends that compute nothing are taken off", "[capability_partitioner]") {
    program p;
    const value x = p.input(dtype::float32, {2, 3});
    const value before = p.make<aten::t>({.self = x});
    const value first = p.make<aten::neg>({.self = before});
    const value inside = p.make<aten::t>({.self = first});
    const value last = p.make<aten::neg>({.self = inside});
    const value after = p.make<aten::flatten_using_ints>({.self = p.make<aten::t>({.self = last})});
    p.output(after);
    p.finish();
    const auto support = create_op_support<aten::t, aten::neg, aten::flatten_using_ints>();
    capability_based_partitioner partitioner(
        p.g, support, {.non_compute_ops = op_list_of<aten::t, aten::flatten_using_ints>()});
    auto partitions = partitioner.propose_partitions();
    REQUIRE(partitions.size() == 1);
    CHECK(partitions[0].size() == 6);
    partitioner.remove_bookend_non_compute_ops(partitions);
    REQUIRE(partitions.size() == 1);
    CHECK(partitions[0] == node_group{first.producer, inside.producer, last.producer});

    std::vector<node_group> of_views{{before.producer}};
    partitioner.remove_bookend_non_compute_ops(of_views);
    CHECK(of_views.empty());
}

TEST_CASE(
    "random graphs: as few partitions as can be, no cycle, the same results", "[capability_partitioner]") {
    std::mt19937 random(5);
    for (int round = 0; round != 60; ++round) {
        program p;
        build_random(p, random, 4 + round % 30);
        REQUIRE(p.fault.empty());
        std::vector<tensor> inputs;
        for (const node& n : p.g.inputs()) inputs.push_back(random_tensor(random, *n.results[0].meta));
        const auto expected = run_graph(p.g, inputs);
        REQUIRE(expected.has_value());
        const operator_support support = add_mul();
        std::size_t supported = 0;
        for (const node& n : p.g.nodes()) supported += support.is_node_supported(n);
        capability_based_partitioner partitioner(p.g, support, singles);
        const auto partitions = partitioner.propose_partitions();
        CHECK(partitions.size() == lower_bound_of(p.g, support));
        std::size_t covered = 0;
        for (const node_group& nodes : partitions) covered += nodes.size();
        CHECK(covered == supported);
        CHECK(is_acyclic(p.g, partitions));
        const auto calls = partitioner.fuse_partitions(partitions, "test");
        REQUIRE(calls.has_value());
        CHECK(calls.value().size() == partitions.size());
        CHECK(p.g.census().count(info_of<delegate::call_delegate>) == partitions.size());
        CHECK(p.g.census().count(info_of<aten::add_tensor>) == 0);
        const auto sound = verify<delegate::dialect, aten::dialect>(p.g);
        if (!sound) FAIL(sound.error().message);
        const auto got = run_graph(p.g, inputs);
        REQUIRE(got.has_value());
        for (std::size_t i = 0; i != got.value().size(); ++i)
            CHECK(tensor_difference(expected.value()[i], got.value()[i], 0).empty());
    }
}

TEST_CASE("partitions of others are checked before they are fused", "[capability_partitioner]") {
    program p;
    const value x = p.input(dtype::float32, {2});
    const value a = add(p, x, x);
    const value b = relu(p, a);
    const value c = add(p, a, b);
    p.output(c);
    p.finish();
    const auto refusal = [&](const std::vector<node_group>& partitions) {
        const auto done = fuse_partitions(p.g, partitions);
        return done ? std::pmr::string() : done.error().message;
    };
    CHECK(refusal({{a.producer, c.producer}}) == "the partitions depend on one another in a cycle");
    CHECK(refusal({{a.producer}, {a.producer}}).find("is taken") != std::string::npos);
    CHECK(refusal({{}}) == "partition 0 is empty");
    program other;
    const value elsewhere = other.input(dtype::float32, {2});
    CHECK(refusal({{elsewhere.producer}}) == "partition 0 has a node that is not in the graph");
    CHECK(p.g.size() == 5);
    CHECK(refusal({{b.producer}, {a.producer}}).empty());
}

TEST_CASE("a fused graph keeps names, types and constants", "[capability_partitioner]") {
    program p;
    const value x = p.input(dtype::float32, {2});
    const value weight = p.constant<float>(dtype::float32, {2}, {1, 2});
    const value a = add(p, x, weight);
    p.g.set_name(a, "a");
    p.output(relu(p, a));
    p.finish();
    const std::vector<node_group> partitions{{a.producer}};
    const auto calls = fuse_partitions(p.g, partitions, "npu");
    REQUIRE(calls.has_value());
    const node& call = *calls.value()[0];
    CHECK(args_of<delegate::call_delegate>(call).backend == "npu");
    CHECK(call.name() == "a");
    CHECK(*call.results[0].meta == tensor_meta{dtype::float32, {2}, {}});
    CHECK(p.g.census().count(info_of<builtin::constant>) == 0);
    CHECK(args_of<delegate::call_delegate>(call).lowered_graph->census().count(info_of<builtin::constant>) ==
        1);
}
