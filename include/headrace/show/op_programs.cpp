// SPDX-License-Identifier: MIT
// Defines the functions of headrace/show/op_programs.hpp.

#include <headrace/show/op_programs.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/compare/layer_values.hpp>
#include <headrace/eval/tensor.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/ir/operand_fields.hpp>
#include <headrace/quantization/quantize_graph.hpp>
#include <headrace/run/execution.hpp>
#include <headrace/run/models.hpp>

namespace headrace {

namespace samples {

namespace {

// With given shapes, only numbers must fit; otherwise, if the rule accepts no draw, the op takes no such operand.
constexpr int draws = 600;
constexpr int draws_of_numbers = 5000;
constexpr std::int64_t max_elements = 4096;

// False for empty tensors and ranks above 6, which TOSA does not have, whatever the op.
bool is_usual(const tensor_meta& meta) {
    const std::int64_t elements = meta.checked_elements().value_or(0);
    return elements > 0 && elements <= max_elements && meta.rank() < probed_ranks;
}
value input(graph& g, const operand& o) {
    const value v = g.create<builtin::placeholder>({}).result();
    g.set_meta(v, {o.type, int_list(o.shape), {}});
    g.set_name(v, join_text("x", g.size()));
    return v;
}

// Makes operands that models learn constants, as exports have them.
void make_constants(graph& g, node& n) {
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

// Returns a program that computes the op; none if its rule refuses the arguments or a tensor is large.
program program_of(const op_info& op, const arguments& all) {
    program p;
    p.graph = std::make_unique<graph>();
    graph& g = *p.graph;
    const argument_struct given(op, all, [&](const operand& o) { return input(g, o); });
    node* n =
        &g.create(op, given.data(), op.results == variadic_results ? 1U : static_cast<unsigned>(op.results));
    inference inferred(g.arena());
    if (!infer_node(*n, inferred)) return {};
    if (op.results == variadic_results) {
        g.erase(*n);
        n = &g.create(op, given.data(), inferred.results().size());
    }
    if (inferred.results().size() != n->result_count) return {};
    std::vector<value> results;
    for (std::uint32_t i = 0; i != n->result_count; ++i) {
        const tensor_meta& meta = inferred.results()[i];
        if (!is_usual(meta)) return {};
        g.set_meta(n->result(i), meta);
        results.push_back(n->result(i));
    }
    g.annotate(*n, provenance{op.name, op.name});
    for (const node& input : g.inputs()) {
        if (!is_usual(*input.results[0].meta)) return {};
    }
    make_constants(g, *n);
    p.user_outputs = results.size();
    g.create<builtin::output>({.values = list<value>(results)});
    return p;
}

// Returns the program quantized with one random sample; none if nothing in it is quantized.
std::optional<program> quantized(program p) {
    pass_context context(standard_functions);
    auto inputs = model_inputs(*p.graph, {});
    if (!inputs) return std::nullopt;
    const sample_source one{1, [&](std::size_t) -> result<std::vector<tensor>> { return inputs.value(); }};
    const auto done = quantize_graph(*p.graph, context, {}, one);
    if (!done || !is_quantized_program(*p.graph)) return std::nullopt;
    return p;
}

}  // namespace

op_programs::op_programs(const op_info& op, const element_class& elements, std::size_t rank)
    : op_(op),
      elements_(elements),
      rank_(rank),
      random_(static_cast<std::uint32_t>(rank)),
      small_(random_),
      has_shapes_(shapes_of(op) != nullptr),
      tries_(has_shapes_ ? draws_of_numbers : draws) {}

std::optional<arguments> op_programs::next() {
    while (tries_-- > 0) {
        integers shape(rank_);
        for (std::int64_t& size : shape) size = 1 + static_cast<std::int64_t>(random_() % 4);
        arguments all = for_inference(small_.draw(op_, elements_.type, shape));
        if (has_shapes_ && !begins_with_operand(all)) break;
        if (const program p = program_of(op_, all); p.graph != nullptr && is_meant(p)) return all;
    }
    tries_ = 0;
    return std::nullopt;
}

std::optional<program> op_programs::make(const arguments& all) const {
    program p = program_of(op_, all);
    return elements_.is_quantized ? quantized(std::move(p)) : std::optional(std::move(p));
}

// Sets arguments for inference: programs are exported in eval mode.
arguments op_programs::for_inference(arguments all) const {
    static constexpr std::array<std::string_view, 4> of_training{"dropout", "dropout_p", "train", "training"};
    for (std::size_t i = 0; i != all.size(); ++i) {
        if (std::ranges::find(of_training, op_.fields[i].name) == of_training.end()) continue;
        all[i].absent = false;
        all[i].ints = {0};
        all[i].reals = {0};
    }
    return all;
}

bool op_programs::begins_with_operand(const arguments& all) const {
    const auto& first = all[0].tensors[0];
    return first && first->type == elements_.type && first->shape.size() == rank_;
}

bool op_programs::is_meant(const program& p) const {
    const node* n = nullptr;
    for (const node& each : p.graph->nodes()) {
        if (!is_of_dialect<builtin::dialect>(each)) n = &each;
    }
    if (n->result_count == 0) return false;
    const value first = n->operand_count != 0 ? n->operand(0) : value{const_cast<node*>(n), 0};
    const tensor_meta* meta = meta_of(first);
    return meta != nullptr && meta->dtype == elements_.type && meta->rank() == rank_;
}

}  // namespace samples

std::optional<target_spec> element_class::target() const {
    const target_spec bare;
    if (is_quantized) return bare.with(target_feature::profile_int);
    if (type == dtype::bfloat16) return bare.with(target_feature::profile_fp).with(target_feature::bf16);
    return std::nullopt;
}

}  // namespace headrace
