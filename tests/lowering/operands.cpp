// SPDX-License-Identifier: MIT
// Tests rules and passes together: for any arguments of an op, its inference rule refuses them, or a program
// of this op alone is lowered, or refused as one that the target cannot express, in floats and in quantized
// numbers, to TOSA and to .pte. An internal error is a fault.
//
// HEADRACE_OPERAND_CASES sets how many cases are drawn for an op; HEADRACE_OPERAND_OP selects a single op.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <headrace/base/target_text.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/dim_order_ops.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/lowering/lower.hpp>
#include <headrace/lowering/lower_pte.hpp>
#include <headrace/partition/extract.hpp>
#include <headrace/run/execution.hpp>
#include <headrace/target/tosa_verify.hpp>

#include "../support/drawn_cases.hpp"
#include "../support/extreme_arguments.hpp"

using namespace headrace;
using namespace headrace::samples;

namespace {

/// The target of a lowering.
struct lowering {
    std::string name;  ///< of the target; empty: chosen by the contents of the program
    bool quantized = false;
    bool pte = false;  ///< the target, if named, has the integer kernels
    bool delegates = false;

    [[nodiscard]] std::optional<target_spec> target() const {
        return name.empty() ? std::nullopt : parse_target(name);
    }
};
const std::vector<lowering> lowerings{{""}, {"TOSA-1.0+INT"}, {"TOSA-1.0+INT+int16+int4+u55"},
    {"TOSA-1.0+INT+int16+int4+u85"}, {"TOSA-1.0+INT", true}, {"TOSA-1.0+INT+int16+int4+u55", true},
    {"TOSA-1.0+INT+int16+int4+u85", true}, {"", false, true}, {"", false, true, true},
    {"TOSA-1.0+INT+core+mve", true, true}};

/// A program with one op. Its operands are inputs, or small constants; if quantized, floats are dequantized
/// from INT8, and results are quantized to it.
class one_op_program {
public:
    one_op_program(
        const op_info& op, const arguments& all, std::mt19937::result_type constants, bool quantized)
        : constants_(constants), quantized_(quantized), graph_(std::make_unique<graph>()) {
        const argument_struct given(op, all, [this](const operand& spec) { return add(spec); });
        const auto results = op.results == variadic_results ? 1U : static_cast<unsigned>(op.results);
        node* n = &graph_->create(op, given.data(), results);
        inference inferred(graph_->arena());
        taken_ = infer_node(*n, inferred).has_value() && inferred.results().size() <= most_results;
        if (!taken_) return;
        if (op.results == variadic_results) {
            graph_->erase(*n);
            n = &graph_->create(op, given.data(), inferred.results().size());
        }
        std::vector<value> outputs;
        for (std::uint32_t i = 0; i != n->result_count; ++i) {
            if (inferred.results()[i].dtype == dtype::unknown) continue;  // the rule leaves it open
            graph_->set_meta(n->result(i), inferred.results()[i]);
            outputs.push_back(given_out(n->result(i)));
        }
        if (outputs.empty() && !operands_.empty()) outputs.push_back(operands_[0]);
        graph_->create<builtin::output>({.values = list<value>(outputs)});
    }

    [[nodiscard]] bool taken() const { return taken_; }
    [[nodiscard]] std::string text() const { return std::string(listing(*graph_)); }

    /// Returns what is wrong with its lowering; empty if it succeeds, or is refused.
    [[nodiscard]] std::string fault(const lowering& to) const {
        return to.pte ? pte_fault(to) : tosa_fault(to);
    }

private:
    static constexpr std::size_t most_results = 64;
    static constexpr std::int64_t most_elements = std::int64_t{1} << 12;  // of a constant

    [[nodiscard]] program copied() const {
        program p{};
        p.graph = std::make_unique<graph>();
        copy_graph(*graph_, *p.graph);
        p.user_outputs = graph_->output()->operand_count;
        return p;
    }
    template <class Refusals>
    static std::string internal_error(const Refusals& refusals) {
        for (const diagnostic& d : refusals) {
            if (d.kind == error_kind::invalid) return std::string(d.reason);
        }
        return {};
    }
    [[nodiscard]] std::string tosa_fault(const lowering& to) const {
        const lowering_outcome done =
            try_lowering([this]() -> result<program> { return copied(); }, {.target = to.target()});
        if (done.failure && done.failure->kind == error_kind::invalid)
            return std::string(done.failure->message);
        if (done.flatbuffer.bytes.empty()) return internal_error(done.refusals);
        const graph& g = *done.model.graph;
        const auto legal = verify_tosa(g, g.target());
        return legal ? std::string() : "not legal: " + std::string(legal.error().message);
    }
    [[nodiscard]] std::string pte_fault(const lowering& to) const {
        std::map<std::string, program, std::less<>> methods;
        methods.emplace("forward", copied());
        const auto done =
            lower_to_pte(std::move(methods), {.delegate = to.delegates, .kernels = to.target()});
        if (done && done.value().refusals.empty()) {
            const auto sound = verify_metadata(*done.value().methods.at("forward").graph);
            if (!sound) return std::string(sound.error().message);
        }
        if (done) return internal_error(done.value().refusals);
        return done.error().kind == error_kind::invalid ? std::string(done.error().message) : std::string();
    }

    value add(const operand& spec) {
        const auto count = tensor_meta{spec.type, int_list(spec.shape), {}}.checked_elements();
        const bool dequantized = quantized_ && spec.type == dtype::float32 && count;
        const tensor_meta meta{dequantized ? dtype::int8 : spec.type, int_list(spec.shape), {}};
        const bool constant = (constants_ >> operands_.size() % 32 & 1U) != 0 && count &&
            *count <= static_cast<std::int64_t>(most_elements);
        const value v = constant ? add_constant(meta, spec.data) : add_input(meta);
        operands_.push_back(dequantized ? dequantized_from(v, constant ? 0 : 3) : v);
        return operands_.back();
    }
    value add_input(const tensor_meta& meta) {
        const value v = graph_->create<builtin::placeholder>({}).result();
        graph_->set_meta(v, meta);
        return v;
    }
    value add_constant(const tensor_meta& meta, operand::content data) {
        return create_constant(*graph_, meta, nullptr, [&](std::span<std::byte> bytes) {
            const bool extreme = data == operand::content::extreme && !is_boolean(meta.dtype);
            std::ranges::fill(bytes, static_cast<std::byte>(extreme ? 0x7f : 0));
            if (data == operand::content::small && !bytes.empty()) bytes[0] = std::byte{1};
        });
    }
    value dequantized_from(value v, std::int64_t zero_point) {
        node& n = graph_->create<quantized_decomposed::dequantize_per_tensor>(
            {v, 0.05, zero_point, -128, 127, dtype::int8, std::nullopt});
        graph_->set_meta(n.result(), {dtype::float32, meta_of(v)->shape, {}});
        return n.result();
    }
    value given_out(value v) {
        if (!quantized_ || meta_of(v)->dtype != dtype::float32) return v;
        node& n =
            graph_->create<quantized_decomposed::quantize_per_tensor>({v, 0.1, -5, -128, 127, dtype::int8});
        graph_->set_meta(n.result(), {dtype::int8, meta_of(v)->shape, {}});
        return n.result();
    }

    std::mt19937::result_type constants_;  // the operands that are constants, by bit
    bool quantized_;
    std::unique_ptr<graph> graph_;
    std::vector<value> operands_;
    bool taken_ = false;
};

struct tally {
    std::size_t tried = 0, lowered = 0;
};

/// Lowers the op with drawn arguments in each way.
void try_op(const op_info& op, std::size_t cases, tally& counts) {
    std::mt19937 random(1);
    std::set<std::string> seen;
    const auto take = [&](const arguments& all) {
        const lowering& to = lowerings[counts.lowered % lowerings.size()];
        const one_op_program p(op, all, random(), to.quantized);
        ++counts.tried;
        if (!p.taken()) return false;
        ++counts.lowered;
        const std::string fault = p.fault(to);
        if (!fault.empty() && seen.insert(fault).second) {
            FAIL_CHECK(fault << "\n  target " << (to.pte ? ".pte" : to.name) << '\n' << p.text());
        }
        return true;
    };
    constexpr std::size_t each = 8;  // cases from the same small arguments
    extreme_arguments drawn(op, random, take);
    drawn.find((cases + each - 1) / each, [&](const arguments& all) {
        for (std::size_t k = 0; k != each; ++k) drawn.replace_some(all, 1 + k % 2);
    });
}

template <class Dialect>
void try_dialect(tally& counts) {
    for (const op_info* op : op_table<Dialect>) {
        if (is_wanted(*op)) try_op(*op, cases_wanted(testing::drawn_cases(32)), counts);
    }
}

}  // namespace

TEST_CASE("rules refuse arguments, or passes lower or refuse them", "[operands]") {
    tally counts;
    try_dialect<aten::dialect>(counts);
    try_dialect<quantized_decomposed::dialect>(counts);
    try_dialect<dim_order_ops::dialect>(counts);
    WARN(counts.tried << " cases, " << counts.lowered << " taken by the rule and lowered or refused");
}
