// SPDX-License-Identifier: MIT
// Defines headrace::testing::program, with which tests build small graphs, and random inputs for it.
#ifndef HEADRACE_TESTS_SUPPORT_PROGRAM_HPP
#define HEADRACE_TESTS_SUPPORT_PROGRAM_HPP

#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <headrace/eval/evaluator.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/infer/builtin.hpp>
#include <headrace/infer/dim_order_ops.hpp>
#include <headrace/infer/higher_order.hpp>
#include <headrace/infer/quantized_decomposed.hpp>
#include <headrace/infer/tosa.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

using eval::extents;
using eval::tensor;

namespace testing {  // io/ also has a `program`, and both may be linked together

/// A graph that a test builds node by node. Metadata is inferred.
struct program {
    graph g;
    std::vector<value> results;

    value input(dtype type, const int_list& shape) {
        const value v = g.create<builtin::placeholder>({}).result();
        g.set_meta(v, {type, shape, {}});
        return v;
    }
    template <class T>
    value constant(dtype type, std::initializer_list<std::int64_t> shape, std::initializer_list<T> elements) {
        return create_constant(g, {type, int_list(shape), {}}, nullptr,
            [&](std::span<std::byte> data) { std::memcpy(data.data(), std::data(elements), data.size()); });
    }
    /// Returns the node, for ops with several results.
    template <op_tag Op>
    node& make_node(const args<Op>& a) {
        inference inferred(g.arena());
        const result<void> status = infer_op<Op>(a, inferred);
        if (!status) fault = status.error().message;
        node& n = g.create(info_of<Op>, &a, inferred.results().size());
        for (std::uint32_t i = 0; i != n.result_count; ++i) g.set_meta(n.result(i), inferred.results()[i]);
        return n;
    }
    template <op_tag Op>
    value make(const args<Op>& a) {
        return make_node<Op>(a).result();
    }
    void output(value v) { results.push_back(v); }
    void finish() { g.create<builtin::output>({.values = list<value>(results)}); }

    std::pmr::string fault;  ///< inference's reason for a refusal, if any
};

/// A function that builds a program, with its type erased, so that the code that runs programs is compiled
/// once. It must not outlive the function.
class builder {
public:
    template <class Build>
        requires std::is_class_v<Build> && (!std::is_same_v<Build, builder>)
    builder(const Build& build)
        : object_(&build),
          call_([](const builder& self, program& p) { (*static_cast<const Build*>(self.object_))(p); }) {}
    builder(void (&build)(program&))
        : function_(build), call_([](const builder& self, program& p) { self.function_(p); }) {}
    /// Builds the whole program, including its output node.
    void operator()(program& p) const {
        call_(*this, p);
        p.finish();
    }

private:
    const void* object_ = nullptr;
    void (*function_)(program&) = nullptr;
    void (*call_)(const builder&, program&);
};

}  // namespace testing

/// Returns random elements: normally distributed for floats, small for integers.
[[nodiscard]] inline tensor random_tensor(std::mt19937& random, const tensor_meta& meta) {
    std::vector<double> numbers(static_cast<std::size_t>(meta.elements()));
    std::normal_distribution<double> normal;
    std::uniform_int_distribution<int> small(-9, 9);
    for (double& x : numbers) {
        if (is_floating(meta.dtype)) {
            x = normal(random);
        } else {
            x = is_boolean(meta.dtype) ? (small(random) > 0 ? 1 : 0) : small(random);
        }
    }
    return tensor::of(meta.dtype, extents(meta.shape.begin(), meta.shape.end()), numbers);
}

/// Empty if two tensors agree: NaN with NaN, infinities exactly, other numbers within `tolerance` of their
/// magnitude. Dtypes may differ, since INT32 may represent int64.
[[nodiscard]] inline std::pmr::string tensor_difference(const tensor& a, const tensor& b, double tolerance) {
    if (a.shape() != b.shape()) return "shapes " + shape_text(a.shape()) + " and " + shape_text(b.shape());
    for (std::int64_t i = 0; i != a.size(); ++i) {
        const double x = a.real(i);
        const double y = b.real(i);
        if (x == y || (std::isnan(x) && std::isnan(y))) continue;
        if (std::abs(x - y) <= tolerance * (1 + std::abs(x))) continue;
        return "element " + number_text(i) + ": " + number_text(x) + " became " + number_text(y);
    }
    return {};
}

/// Returns how many nodes of an op are left.
template <op_tag Op>
[[nodiscard]] std::size_t count_of(const graph& g) {
    std::size_t count = 0;
    for ([[maybe_unused]] const node& n : g.nodes_of(info_of<Op>)) ++count;
    return count;
}

}  // namespace headrace

#endif
