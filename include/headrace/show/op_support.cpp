// SPDX-License-Identifier: MIT
// Defines the functions of headrace/show/op_support.hpp.

#include <headrace/show/op_support.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/compare/layer_values.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/dim_order_ops.hpp>
#include <headrace/eval/tensor.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/io/program.hpp>
#include <headrace/ir/operand_fields.hpp>
#include <headrace/lowering/lower.hpp>
#include <headrace/quantization/quantize_graph.hpp>
#include <headrace/run/execution.hpp>
#include <headrace/run/models.hpp>
#include <headrace/show/sample_arguments.hpp>

namespace headrace {

namespace {

// Draws and lowers programs of one op.
class op_probe {
public:
    op_probe(const op_info& op, const std::optional<target_spec>& target) : op_(op), target_(target) {}

    [[nodiscard]] op_support_table run() {
        op_support_table table;
        for (std::size_t c = 0; c != element_classes.size(); ++c) {
            for (std::size_t rank = 0; rank != probed_ranks; ++rank)
                table[c][rank] = probe(element_classes[c], rank);
        }
        return table;
    }

private:
    // With given shapes, only numbers must fit; otherwise, if the rule accepts no draw, the op takes no such
    // operand.
    static constexpr int draws = 600;
    static constexpr int draws_of_numbers = 5000;
    static constexpr std::size_t enough = 3;
    static constexpr std::int64_t max_elements = 4096;

    [[nodiscard]] op_support probe(const element_class& elements, std::size_t rank) {
        std::mt19937 random(static_cast<std::uint32_t>(rank));
        samples::small_arguments small(random);
        op_support found;
        const bool has_shapes = samples::shapes_of(op_) != nullptr;
        const int tries = has_shapes ? draws_of_numbers : draws;
        for (int i = 0; i != tries && found.lowered + found.refused != enough; ++i) {
            samples::integers shape(rank);
            for (std::int64_t& size : shape) size = 1 + static_cast<std::int64_t>(random() % 4);
            const samples::arguments all = for_inference(small.draw(op_, elements.type, shape));
            if (has_shapes && !begins_with(all, elements.type, rank)) break;
            if (const auto p = program_of(all); p.graph != nullptr && is_meant(p, elements.type, rank))
                try_one(all, elements, found);
        }
        return found;
    }

    // Sets arguments for inference: programs are exported in eval mode.
    [[nodiscard]] samples::arguments for_inference(samples::arguments all) const {
        static constexpr std::array<std::string_view, 4> of_training{
            "dropout", "dropout_p", "train", "training"};
        for (std::size_t i = 0; i != all.size(); ++i) {
            if (std::ranges::find(of_training, op_.fields[i].name) == of_training.end()) continue;
            all[i].absent = false;
            all[i].ints = {0};
            all[i].reals = {0};
        }
        return all;
    }
    [[nodiscard]] static bool begins_with(const samples::arguments& all, dtype type, std::size_t rank) {
        const auto& first = all[0].tensors[0];
        return first && first->type == type && first->shape.size() == rank;
    }

    void try_one(const samples::arguments& all, const element_class& elements, op_support& found) const {
        if (elements.is_quantized && !quantized(all)) return;
        const auto reason = refusal(all, elements, false);
        if (!reason) {
            ++found.lowered;
            return;
        }
        if (found.reason.empty()) found.reason = *reason;
        // Models often read only the first result: indices and statistics are for training.
        if (op_.results != 1 && !refusal(all, elements, true)) ++found.lowered;
        ++found.refused;
    }

    // Returns why the program is refused, or nothing if it is lowered.
    [[nodiscard]] std::optional<std::pmr::string> refusal(
        const samples::arguments& all, const element_class& elements, bool first_result) const {
        const lowering_outcome outcome = try_lowering(
            [&]() -> result<program> {
                program p = elements.is_quantized ? *quantized(all) : program_of(all);
                if (first_result) keep_first_result(p);
                return p;
            },
            {.target = target_ ? target_ : target_for(elements)});
        if (outcome.failure) return outcome.failure->message;
        if (!outcome.refusals.empty()) return outcome.refusals[0].reason;
        return std::nullopt;
    }
    static void keep_first_result(program& p) {
        graph& g = *p.graph;
        const value first = g.outputs()[0];
        g.erase(*g.output());
        g.create<builtin::output>({.values = list<value>(&first, 1)});
        p.user_outputs = 1;
    }
    // Returns the target that `headrace lower` would choose, except INT for quantized ops, and bfloat16 for
    // its class.
    [[nodiscard]] static std::optional<target_spec> target_for(const element_class& elements) {
        const target_spec bare;
        if (elements.is_quantized) return bare.with(target_feature::profile_int);
        if (elements.type == dtype::bfloat16)
            return bare.with(target_feature::profile_fp).with(target_feature::bf16);
        return std::nullopt;
    }

    // Returns a program that computes the op; none if its rule refuses the arguments or a tensor is large.
    [[nodiscard]] program program_of(const samples::arguments& all) const {
        program p;
        p.graph = std::make_unique<graph>();
        graph& g = *p.graph;
        const samples::argument_struct given(
            op_, all, [&](const samples::operand& o) { return input(g, o); });
        node* n = &g.create(op_, given.data(), op_.results == variadic_results ? 1U : result_count());
        inference inferred(g.arena());
        if (!infer_node(*n, inferred)) return {};
        if (op_.results == variadic_results) {
            g.erase(*n);
            n = &g.create(op_, given.data(), inferred.results().size());
        }
        if (inferred.results().size() != n->result_count) return {};
        std::vector<value> results;
        for (std::uint32_t i = 0; i != n->result_count; ++i) {
            const tensor_meta& meta = inferred.results()[i];
            if (!is_usual(meta)) return {};
            g.set_meta(n->result(i), meta);
            results.push_back(n->result(i));
        }
        g.annotate(*n, provenance{op_.name, op_.name});
        for (const node& input : g.inputs()) {
            if (!is_usual(*input.results[0].meta)) return {};
        }
        make_constants(g, *n);
        p.user_outputs = results.size();
        g.create<builtin::output>({.values = list<value>(results)});
        return p;
    }
    // False for empty tensors and ranks above 6, which TOSA does not have, whatever the op.
    [[nodiscard]] static bool is_usual(const tensor_meta& meta) {
        const std::int64_t elements = meta.checked_elements().value_or(0);
        return elements > 0 && elements <= max_elements && meta.rank() < probed_ranks;
    }
    [[nodiscard]] unsigned result_count() const { return static_cast<unsigned>(op_.results); }

    static value input(graph& g, const samples::operand& o) {
        const value v = g.create<builtin::placeholder>({}).result();
        g.set_meta(v, {o.type, int_list(o.shape), {}});
        g.set_name(v, join_text("x", g.size()));
        return v;
    }

    // Makes operands that models learn constants, as exports have them.
    static void make_constants(graph& g, node& n) {
        static constexpr std::array<std::string_view, 9> learnt{
            "weight", "bias", "running_mean", "running_var", "params", "w_ih", "w_hh", "b_ih", "b_hh"};
        const pmr_vector<std::string_view> fields = operand_fields(n);
        std::mt19937 random(1);
        for (std::size_t i = 0; i != n.operand_count; ++i) {
            if (std::ranges::find(learnt, fields[i]) == learnt.end()) continue;
            node& placeholder = *n.operand(i).producer;
            if (!is<builtin::placeholder>(placeholder)) continue;
            const tensor_meta meta = *meta_of(placeholder.result());
            std::vector<double> numbers(static_cast<std::size_t>(meta.elements()), 1.0);
            if (fields[i] != "running_var")
                for (double& x : numbers) x = static_cast<double>(random() % 9) / 4 - 1;
            const tensor data = tensor::of(meta.dtype, {meta.shape.begin(), meta.shape.end()}, numbers);
            const value made = create_constant(g, meta, &placeholder,
                [&](std::span<std::byte> bytes) { std::ranges::copy(data.bytes(), bytes.begin()); });
            g.replace_all_uses(placeholder.result(), made);
            g.erase(placeholder);
        }
    }

    [[nodiscard]] static bool is_meant(const program& p, dtype type, std::size_t rank) {
        const node* n = nullptr;
        for (const node& each : p.graph->nodes()) {
            if (!is_of_dialect<builtin::dialect>(each)) n = &each;
        }
        if (n->result_count == 0) return false;
        const value first = n->operand_count != 0 ? n->operand(0) : value{const_cast<node*>(n), 0};
        const tensor_meta* meta = meta_of(first);
        return meta != nullptr && meta->dtype == type && meta->rank() == rank;
    }

    // Returns the program quantized with one random sample; none if nothing in it is quantized.
    [[nodiscard]] std::optional<program> quantized(const samples::arguments& all) const {
        program p = program_of(all);
        pass_context context(standard_functions);
        auto inputs = model_inputs(*p.graph, {});
        if (!inputs) return std::nullopt;
        const sample_source one{
            1, [&](std::size_t) -> result<std::vector<tensor>> { return inputs.value(); }};
        const auto done = quantize_graph(*p.graph, context, {}, one);
        if (!done || !is_quantized_program(*p.graph)) return std::nullopt;
        return p;
    }

    const op_info& op_;
    const std::optional<target_spec>& target_;
};

}  // namespace

op_support_table support_of(const op_info& op, const std::optional<target_spec>& target) {
    return op_probe(op, target).run();
}

std::vector<const op_info*> probed_ops() {
    std::vector<const op_info*> ops;
    const auto add = [&](const op_info* op) {
        constexpr trait left_out = trait::in_place | trait::writes_out | trait::host_number;
        if (!op->has(left_out) && op->results != 0) ops.push_back(op);
    };
    std::ranges::for_each(op_table<aten::dialect>, add);
    std::ranges::for_each(op_table<dim_order_ops::dialect>, add);
    std::ranges::sort(ops, {}, &op_info::name);
    return ops;
}

}  // namespace headrace
