// SPDX-License-Identifier: MIT
// Tests rules and kernels together: for any arguments of an op, its inference rule refuses them, or its
// kernel computes without a fault. Most useful in the configuration with ASan and UBSan.
//
// Arguments are generated from the fields that each op has at run time. First, small ones are drawn until the
// rule accepts them; then each argument of such a case is replaced by extreme ones, alone and in pairs.
// HEADRACE_OPERAND_CASES sets how many pairs are drawn for an op; HEADRACE_OPERAND_OP selects a single op.
#include <catch2/catch.hpp>

#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/dim_order_ops.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/eval/evaluator.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/run/execution.hpp>
#include <headrace/show/sample_arguments.hpp>

#include "../support/drawn_cases.hpp"
#include "../support/extreme_arguments.hpp"

using namespace headrace;
using namespace headrace::samples;

namespace {

constexpr std::int64_t max_bytes = std::int64_t{1} << 20;  // of a tensor that is allocated

// --- one execution ---------------------------------------------------------------------

bool is_small(dtype type, const integers& shape) {
    const tensor_meta meta{type, int_list(shape), {}};
    const auto count = meta.checked_elements();
    return count && *count <= max_bytes / 16;
}

/// An op with arguments, made from their description in its own graph.
class execution {
public:
    execution(const op_info& op, const arguments& all, std::mt19937& random) : random_(&random) {
        const argument_struct given(op, all, [this](const operand& spec) { return add(spec); });
        const auto results = op.results == variadic_results ? 1U : static_cast<unsigned>(op.results);
        node_ = &graph_.create(op, given.data(), results);
        inference inferred(graph_.arena());
        accepted_ = infer_node(*node_, inferred).has_value();
        if (!accepted_) return;
        if (op.results == variadic_results)
            node_ = &graph_.create(op, given.data(), inferred.results().size());
        complete_ = inferred.results().size() == node_->result_count;
        for (const tensor_meta& meta : inferred.results())
            affordable_ &= is_small(meta.dtype, integers(meta.shape.begin(), meta.shape.end()));
    }

    [[nodiscard]] bool accepted() const { return accepted_; }
    /// True if the rule returns as many results as the op has.
    [[nodiscard]] bool complete() const { return complete_; }
    [[nodiscard]] bool affordable() const { return affordable_ && node_->result_count < 1000; }
    /// Runs the kernel and checks its results against the rule. An error that depends on data is not a fault.
    [[nodiscard]] result<std::vector<tensor>> run() {
        std::vector<tensor> operands;
        for (const edge& e : node_->operand_edges()) {
            for (std::size_t i = 0; i != placeholders_.size(); ++i) {
                if (placeholders_[i] == e.source) operands.push_back(make(specs_[i]));
            }
        }
        return evaluate_node(*node_, operands);
    }

private:
    value add(const operand& spec) {
        node& n = graph_.create<builtin::placeholder>({});
        graph_.set_meta(n.result(), {spec.type, int_list(spec.shape), {}});
        placeholders_.push_back(&n);
        specs_.push_back(spec);
        affordable_ &= is_small(spec.type, spec.shape);
        return n.result();
    }
    tensor make(const operand& spec) {
        tensor t(spec.type, spec.shape);
        constexpr double infinity = std::numeric_limits<double>::infinity();
        static constexpr double extremes[] = {0, -1, 1, 2, 5, -7, 1e30, -1e30, infinity, -infinity, 9.3e18,
            -9.3e18, std::numeric_limits<double>::quiet_NaN(), 2147483648.0};
        std::vector<double> numbers(static_cast<std::size_t>(t.size()));
        for (double& x : numbers) {
            if (spec.data == operand::content::small) x = static_cast<double>((*random_)() % 2);
            if (spec.data == operand::content::extreme) x = extremes[(*random_)() % std::size(extremes)];
        }
        t.assign(numbers);
        return t;
    }

    std::mt19937* random_;
    graph graph_;
    node* node_ = nullptr;
    std::vector<const node*> placeholders_;
    std::vector<operand> specs_;
    bool accepted_ = false;
    bool complete_ = false;
    bool affordable_ = true;
};

// --- the test --------------------------------------------------------------------------

struct tally {
    std::size_t tried = 0, accepted = 0, run = 0, succeeded = 0;
};

class op_test {
public:
    op_test(const op_info& op, std::size_t pairs, tally& counts)
        : op_(op),
          pairs_(pairs),
          counts_(counts),
          cases_(op, random_, [this](const arguments& all) { return try_one(all); }) {}

    /// Returns whether the kernel ran for any arguments.
    bool run() {
        return cases_.find(testing::drawn_cases(3), [this](const arguments& all) { replace(all); }) != 0;
    }

private:
    bool try_one(const arguments& all) {
        execution e(op_, all, random_);
        ++counts_.tried;
        if (!e.accepted()) return false;
        ++counts_.accepted;
        CHECK(e.complete());
        if (!e.affordable()) return false;
        ++counts_.run;
        const auto results = e.run();
        if (results) ++counts_.succeeded;
        if (!results && results.error().kind == error_kind::invalid) FAIL_CHECK(results.error().message);
        return results || results.error().kind == error_kind::unsupported;  // some ops have no kernel
    }
    void replace(const arguments& all) {
        cases_.replace_each(all);
        for (std::size_t k = 0; k != pairs_; ++k) cases_.replace_some(all, 2);
    }

    const op_info& op_;
    std::size_t pairs_;
    tally& counts_;
    std::mt19937 random_{1};
    extreme_arguments cases_;
};

template <class Dialect>
void try_dialect() {
    tally counts;
    std::string never;
    for (const op_info* op : op_table<Dialect>) {
        if (!is_wanted(*op)) continue;
        INFO(op->name);
        if (!op_test(*op, cases_wanted(20), counts).run()) (never += op->name) += ' ';
    }
    WARN(Dialect::name << ": " << counts.tried << " cases, " << counts.accepted << " taken by the rule, "
                       << counts.run << " computed, " << counts.succeeded << " without an error");
    CHECK(never == "");
}

}  // namespace

TEST_CASE("rules refuse arguments, or kernels compute with them") {
    try_dialect<aten::dialect>();
    try_dialect<quantized_decomposed::dialect>();
    try_dialect<dim_order_ops::dialect>();
}
