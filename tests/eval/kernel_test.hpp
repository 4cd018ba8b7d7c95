// SPDX-License-Identifier: MIT
// Defines kernel_test, which runs one kernel on given tensors, without the table of all kernels.
#ifndef HEADRACE_TESTS_EVAL_KERNEL_TEST_HPP
#define HEADRACE_TESTS_EVAL_KERNEL_TEST_HPP

#include <catch2/catch.hpp>

#include <limits>
#include <map>
#include <vector>

#include <headrace/eval/evaluation.hpp>
#include <headrace/ir/graph.hpp>

inline constexpr float infinity = std::numeric_limits<float>::infinity();
inline constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

using reals = std::vector<double>;
using integers = std::vector<std::int64_t>;

inline headrace::tensor f32(headrace::eval::extents shape, const reals& numbers) {
    return headrace::tensor::of(headrace::dtype::float32, std::move(shape), numbers);
}
inline headrace::tensor whole(headrace::dtype type, headrace::eval::extents shape, const integers& numbers) {
    return headrace::tensor::of(type, std::move(shape), numbers);
}
inline headrace::tensor i64(headrace::eval::extents shape, const integers& numbers) {
    return whole(headrace::dtype::int64, std::move(shape), numbers);
}
inline headrace::tensor flags(headrace::eval::extents shape, const integers& numbers) {
    return whole(headrace::dtype::boolean, std::move(shape), numbers);
}

/// Results have the dtype and shape passed to run(), which inference determines in a graph.
class kernel_test {
public:
    headrace::value operator()(const headrace::tensor& t) {
        headrace::node& n = graph_.create<headrace::builtin::placeholder>({});
        inputs_.emplace(&n, t);
        return n.result();
    }
    template <headrace::op_tag Op>
    headrace::result<std::vector<headrace::tensor>> run_all(
        const headrace::args<Op>& a, std::vector<headrace::tensor_meta> metas) {
        headrace::node& n = graph_.create(headrace::info_of<Op>, &a, metas.size());
        graph_.set_name(n.result(), "tested");
        std::vector<headrace::tensor> operands;
        for (const headrace::edge& e : n.operand_edges()) operands.push_back(inputs_.at(e.source));
        headrace::evaluation e(n, operands, std::move(metas), variables_);
        headrace::eval::kernel_of_headrace (*n.op)(n.arguments, e);
        return e.take_results();
    }
    template <headrace::op_tag Op>
    headrace::tensor run(const headrace::args<Op>& a, const headrace::tensor_meta& meta) {
        auto results = run_all<Op>(a, {meta});
        REQUIRE(results.has_value());
        return results.value().at(0);
    }
    template <headrace::op_tag Op>
    reals numbers(const headrace::args<Op>& a, const headrace::tensor_meta& meta) {
        return run<Op>(a, meta).template to<double>();
    }

private:
    headrace::graph graph_;
    std::map<const headrace::node*, headrace::tensor> inputs_;
    headrace::variable_store variables_;
};

/// Checks that numbers are equal up to rounding; NaN equals NaN.
inline void check_close(const reals& got, const reals& expected) {
    REQUIRE(got.size() == expected.size());
    for (std::size_t i = 0; i != got.size(); ++i) {
        INFO("element " << i);
        if (expected[i] != expected[i]) {
            CHECK(got[i] != got[i]);
        } else {
            CHECK(got[i] == Approx(expected[i]).epsilon(1e-6).margin(1e-7));
        }
    }
}

#endif
