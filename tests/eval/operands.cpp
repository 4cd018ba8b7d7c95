// SPDX-License-Identifier: MIT
// Defines the test of rules and kernels together: whatever the arguments of an op are, its inference rule
// refuses them, or its kernel computes without a fault. Its worth is in the configuration with ASan and
// UBSan.
//
// Arguments are generated from the fields that each op has at run time. First small ones are drawn until the
// rule takes them; each argument of such a case is then replaced by extreme ones, alone and in pairs.
// HEADRACE_OPERAND_CASES says how many pairs are drawn for an op, HEADRACE_OPERAND_OP which op is tried
// alone.
#include <catch2/catch.hpp>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/dim_order_ops.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/eval/evaluator.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/lowering/execution.hpp>
#include <headrace/lowering/sample_arguments.hpp>

using namespace headrace;
using namespace headrace::samples;

namespace {

constexpr std::int64_t max_bytes = std::int64_t{1} << 20;  // of a tensor that is really made

// --- one execution ---------------------------------------------------------------------

bool is_small(dtype type, const integers& shape) {
    const tensor_meta meta{type, int_list(shape), {}};
    const auto count = meta.checked_elements();
    return count && *count <= max_bytes / 16;
}

/// An op with arguments, made from their description in a graph of its own.
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
    /// The rule gives as many results as the op has.
    [[nodiscard]] bool complete() const { return complete_; }
    [[nodiscard]] bool affordable() const { return affordable_ && node_->result_count < 1000; }
    /// Did the kernel run, with results that are what the rule says? An error that depends on data is none.
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
        static constexpr double extremes[] = {0,
                                              -1,
                                              1,
                                              2,
                                              5,
                                              -7,
                                              1e30,
                                              -1e30,
                                              infinity,
                                              -infinity,
                                              9.3e18,
                                              -9.3e18,
                                              std::numeric_limits<double>::quiet_NaN(),
                                              2147483648.0};
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

// --- extreme arguments -----------------------------------------------------------------

constexpr std::int64_t beyond_int32 = std::int64_t{1} << 31;
constexpr std::int64_t extreme_integers[] = {
    0, 1, -1, 2, 3, 7, INT32_MAX, beyond_int32, -beyond_int32, INT64_MAX, INT64_MIN, INT64_MIN + 1};

/// What an operand may become: of rank 0, 1 and 7, one size or the rank changed, other dtypes, other data.
std::vector<operand> extremes_of(const operand& o) {
    std::vector<operand> all;
    const auto add_shape = [&](integers shape) { all.push_back({o.type, std::move(shape), o.data}); };
    for (const dtype type :
         {dtype::boolean, dtype::int8, dtype::uint8, dtype::int32, dtype::int64, dtype::uint64,
          dtype::float16, dtype::float64, dtype::complex64, dtype::float8_e5m2}) {
        all.push_back({type, o.shape, o.data});
    }
    all.push_back({o.type, o.shape, operand::content::extreme});
    all.push_back({o.type, o.shape, operand::content::zeros});
    for (const integers& shape : {integers{},
                                  {0},
                                  {1},
                                  {5},
                                  {beyond_int32},
                                  {1, 1, 1, 1, 1, 1, 1},
                                  {2, 1, 2, 1, 2, 1, 2},
                                  {0, beyond_int32},
                                  {beyond_int32, 0, 3}}) {
        add_shape(shape);
    }
    for (std::size_t d = 0; d != o.shape.size(); ++d) {
        for (const std::int64_t size : {std::int64_t{0}, std::int64_t{1}, o.shape[d] + 1, beyond_int32}) {
            integers shape = o.shape;
            shape[d] = size;
            add_shape(shape);
        }
        integers without = o.shape;
        without.erase(without.begin() + static_cast<std::ptrdiff_t>(d));
        add_shape(without);
    }
    integers longer = o.shape;
    longer.push_back(2);
    add_shape(longer);
    return all;
}

/// What an argument may become. Only what counts for the field's kind is changed.
std::vector<argument> extremes_of(const field_info& field, const argument& a) {
    std::vector<argument> all;
    const auto add = [&](auto change) {
        all.push_back(a);
        all.back().absent = false;
        change(all.back());
    };
    if (field.optional)
        all.push_back({.absent = !a.absent, .tensors = a.tensors, .ints = a.ints, .reals = a.reals});
    switch (field.kind) {
        case field_kind::tensors:
        case field_kind::optional_tensors:
            add([](argument& b) { b.tensors.clear(); });
            if (a.tensors.empty()) break;
            add([](argument& b) { b.tensors.pop_back(); });
            add([](argument& b) { b.tensors.push_back(b.tensors[0]); });
            add([](argument& b) { b.tensors.resize(9, b.tensors[0]); });
            if (field.kind == field_kind::optional_tensors)
                add([](argument& b) { b.tensors.back().reset(); });
            [[fallthrough]];
        case field_kind::tensor:
            for (std::size_t i = 0; i != a.tensors.size(); ++i) {
                if (!a.tensors[i]) continue;
                for (const operand& o : extremes_of(*a.tensors[i])) {
                    add([&](argument& b) { b.tensors[i] = o; });
                }
            }
            break;
        case field_kind::integers:
            add([](argument& b) { b.ints.clear(); });
            add([](argument& b) { b.ints.push_back(1); });
            add([](argument& b) { b.ints.resize(20, 1); });
            if (!a.ints.empty()) add([](argument& b) { b.ints.pop_back(); });
            for (const std::int64_t extreme : extreme_integers) {
                add([=](argument& b) { b.ints = {extreme}; });
                for (std::size_t i = 0; i != a.ints.size(); ++i) {
                    add([=](argument& b) { b.ints[i] = extreme; });
                }
            }
            break;
        case field_kind::integer:
        case field_kind::boolean:
            for (const std::int64_t extreme : extreme_integers) {
                add([=](argument& b) { b.ints = {extreme}; });
            }
            break;
        case field_kind::floating:
        case field_kind::floatings:
            for (const double extreme : {0.0, -1.0, 1e-300, 1e300, std::numeric_limits<double>::infinity(),
                                         std::numeric_limits<double>::quiet_NaN()}) {
                add([=](argument& b) { b.reals.assign(std::max<std::size_t>(1, b.reals.size()), extreme); });
            }
            if (field.kind == field_kind::floatings) {
                add([](argument& b) { b.reals.clear(); });
                add([](argument& b) { b.reals.resize(9, 1.0); });
            }
            break;
        case field_kind::number:
            for (const scalar& extreme :
                 {scalar(0), scalar(-1), scalar(INT64_MIN), scalar(INT64_MAX), scalar(1e300), scalar(1e-300),
                  scalar(std::numeric_limits<double>::quiet_NaN()),
                  scalar(-std::numeric_limits<double>::infinity()), scalar(true)}) {
                add([&](argument& b) { b.number = extreme; });
            }
            break;
        case field_kind::text:
            for (const char* text : {"", "same", "valid", "circular", "floor", "x", "...", "i", "ii->i",
                                     "ij,...->", "i,j,k,l,m->", "->", "a...b,c->...", ",,", "... i , j"}) {
                add([&](argument& b) { b.text = text; });
            }
            break;
        case field_kind::element_type:
            for (std::size_t t = 0; t != dtype_count; ++t) {
                add([&](argument& b) { b.type = static_cast<dtype>(t); });
            }
            break;
        default:
            break;
    }
    return all;
}

// --- the test --------------------------------------------------------------------------

struct tally {
    std::size_t tried = 0, accepted = 0, run = 0, succeeded = 0;
};

class op_test {
public:
    op_test(const op_info& op, std::size_t pairs, tally& counts) : op_(op), pairs_(pairs), counts_(counts) {}

    /// Whether the kernel ran for any arguments at all.
    bool run() {
        small_arguments small(random_);
        std::size_t found = 0;
        for (std::size_t i = 0; i != tries && found != bases; ++i) {
            const arguments all = small.draw(op_);
            if (!try_one(all)) continue;
            ++found;
            replace_one(all);
            replace_pairs(all);
        }
        return found != 0;
    }
    /// The same from given arguments.
    bool run_from(const arguments& all) {
        if (!try_one(all)) return false;
        replace_one(all);
        replace_pairs(all);
        return true;
    }

private:
    static constexpr std::size_t tries = 20000;
    static constexpr std::size_t bases = 3;

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
        return results || results.error().kind == error_kind::unsupported;  // some ops have no kernel
    }
    void replace_one(const arguments& all) {
        for (std::size_t i = 0; i != op_.field_count; ++i) {
            for (const argument& a : extremes_of(op_.fields[i], all[i])) {
                arguments changed = all;
                changed[i] = a;
                try_one(changed);
            }
        }
    }
    void replace_pairs(const arguments& all) {
        for (std::size_t k = 0; k != pairs_; ++k) {
            arguments changed = all;
            for (int change = 0; change != 2; ++change) {
                const std::size_t i = random_() % op_.field_count;
                const std::vector<argument> extremes = extremes_of(op_.fields[i], changed[i]);
                if (!extremes.empty()) changed[i] = extremes[random_() % extremes.size()];
            }
            try_one(changed);
        }
    }

    const op_info& op_;
    std::size_t pairs_;
    tally& counts_;
    std::mt19937 random_{1};
};

std::size_t pairs_wanted() {
    const char* given = std::getenv("HEADRACE_OPERAND_CASES");
    return given == nullptr ? 20 : static_cast<std::size_t>(std::atoll(given));
}
bool is_wanted(const op_info& op) {
    const char* given = std::getenv("HEADRACE_OPERAND_OP");
    return given == nullptr || op.name == given;
}

template <class Dialect>
void try_dialect() {
    tally counts;
    std::string never;
    for (const op_info* op : op_table<Dialect>) {
        if (!is_wanted(*op)) continue;
        INFO(op->name);
        if (!op_test(*op, pairs_wanted(), counts).run()) (never += op->name) += ' ';
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
