// SPDX-License-Identifier: MIT
// Defines the functions of headrace/compare/compare_models.hpp.

#include <headrace/compare/compare_models.hpp>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include <range/v3/view/enumerate.hpp>
#include <range/v3/view/zip.hpp>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/printable.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/base/text.hpp>
#include <headrace/compare/compared_layers.hpp>
#include <headrace/compare/computed_values.hpp>
#include <headrace/compare/layer_values.hpp>
#include <headrace/compare/match_layers.hpp>
#include <headrace/compare/match_values.hpp>
#include <headrace/infer/shape_builder.hpp>
#include <headrace/io/signature/graph_signature.hpp>
#include <headrace/ir/exported_types.hpp>
#include <headrace/ir/source_location.hpp>
#include <headrace/partition/extract.hpp>
#include <headrace/partition/source_partitions.hpp>
#include <headrace/quantization/quantize_graph.hpp>
#include <headrace/run/execution.hpp>
#include <headrace/run/models.hpp>

namespace headrace {

namespace {

// Returns the layers that are a graph's inputs, by position; null for an input that is not a layer.
std::vector<const layer_value*> input_layers(const graph& g, std::span<const layer_value> layers) {
    const std::map<detail::result_key, std::size_t> places = detail::places_of(layers);
    std::vector<const layer_value*> found;
    for (node& n : g.inputs()) {
        const auto at = places.find(detail::key_of(n.result()));
        found.push_back(at == places.end() ? nullptr : &layers[at->second]);
    }
    return found;
}

// Annotates an input of a lowered model with its missing metadata: the quantization of its integers, and the
// axis of its channels. `known` are layers of other forms of the model at that position.
result<void> complete_input(
    const tensor_meta& exported, node& n, graph& g, std::initializer_list<const layer_value*> known) {
    const tensor_meta& meta = *n.results[0].meta;
    const bool same = exported.shape == meta.shape;
    if (!same && meta.rank() == 4 && exported.rank() == 4 &&
        std::ranges::equal(detail::with_channels_last(exported.shape), meta.shape))
        g.annotate(n, channels_last_signature{true});
    if (!same && !is_channels_last(n, meta.rank())) {
        return malformed(join_text("input ", input_name(n), " of the second model has ",
            shape_text(meta.shape), ", the first one's has ", shape_text(exported.shape)));
    }
    const bool needs = is_floating(exported.dtype) && !is_floating(meta.dtype);
    if (!needs || n.find_annotation<signature_quantization>() != nullptr) return {};
    for (const layer_value* layer : known) {
        if (layer == nullptr || layer->numbers.scale == 0 || meta_of(layer->stored)->dtype != meta.dtype)
            continue;
        g.annotate(n, layer->numbers);
        return {};
    }
    return unsupported(join_text("input ", input_name(n), " of the second model is ", name_of(meta.dtype),
        "; give the description that was written with it (--io), or the quantized "
        "program that it was made of (--through), which say what these integers "
        "stand for"));
}

result<void> complete_inputs(const graph& from, std::span<const layer_value* const> layers,
    std::span<const layer_value* const> between, graph& to) {
    std::size_t i = 0;
    const std::vector<tensor_meta> exported = [&] {
        std::vector<tensor_meta> metas;
        for (const node& n : from.inputs()) metas.push_back(*n.results[0].meta);
        return metas;
    }();
    for (node& n : to.inputs()) {
        if (i < exported.size()) {
            HEADRACE_TRY(
                complete_input(exported[i], n, to, {layers[i], i < between.size() ? between[i] : nullptr}));
        }
        ++i;
    }
    if (i == exported.size()) return {};
    return malformed(
        join_text("the first model has ", counted_text(exported.size(), "input"), ", the second ", i));
}

// Tracks which layers precede which, and the noise of each layer's inputs.
class layer_order {
public:
    layer_order(
        const graph& g, std::span<const detail::compared_layers> pairs, std::span<const layer_sums> sums)
        : sums_(sums), before_(g.id_bound()) {
        for (const auto& [i, pair] : ranges::views::enumerate(pairs))
            place_.emplace(detail::key_of(pair.reference->real), i);
        for (const node& n : g.nodes()) {
            incoming& mine = before_[n.id];
            for (const edge& e : n.operand_edges()) {
                const auto layer = place_.find(detail::key_of(*e.slot));
                if (layer == place_.end()) {
                    const incoming& its = before_[e.source->id];
                    for (const std::size_t at : its.layers) mine.add(at, its.noise);
                    mine.noise = std::max(mine.noise, its.noise);
                } else {
                    mine.add(layer->second, sums_[layer->second].noise_ratio());
                }
            }
        }
    }

    struct incoming {
        static constexpr std::size_t max_inputs = 8;  // more arrows would make a picture unreadable
        std::vector<std::size_t> layers{};
        double noise = 0;
        void add(std::size_t layer, double its_noise) {
            noise = std::max(noise, its_noise);
            if (layers.size() < max_inputs && std::ranges::find(layers, layer) == layers.end())
                layers.push_back(layer);
        }
    };
    [[nodiscard]] const incoming& before(const node& n) const { return before_[n.id]; }

private:
    std::span<const layer_sums> sums_;
    std::vector<incoming> before_;  // by the node's id
    std::map<detail::result_key, std::size_t> place_;
};

// Returns the path of the innermost module that a node was traced from; empty if the export has none.
std::string module_of(const node& n) {
    const auto* stack = n.find_annotation<module_stack>();
    if (stack == nullptr) return {};
    const auto frames = module_frames(stack->text);
    return frames.empty() ? std::string() : std::string(frames.back().path);
}

std::vector<layer_comparison> figures_of(const graph& reference,
    std::span<const detail::compared_layers> pairs, std::span<const layer_sums> sums) {
    const layer_order order(reference, pairs, sums);
    std::vector<layer_comparison> layers;
    for (const auto& [pair, sum] : ranges::views::zip(pairs, sums)) {
        const layer_value& layer = *pair.reference;
        const bool in_model = layer.real.producer->owner == &reference;
        const layer_order::incoming before =
            in_model ? order.before(*layer.real.producer) : layer_order::incoming{};
        const double noise = sum.noise_ratio();
        layer_comparison& made = layers.emplace_back();
        made.name = layer.name;
        made.op = std::string(layer.real.producer->op->name);
        made.other = pair.other->name;
        made.source = std::string(source_line(*layer.real.producer));
        made.module = module_of(*layer.real.producer);
        made.shape.assign(pair.shape().begin(), pair.shape().end());
        made.sqnr = decibels_of(noise);
        made.own_sqnr = decibels_of(noise > before.noise ? noise - before.noise : 0);
        made.largest_difference = sum.largest;
        made.cosine = sum.cosine();
        made.saturated = sum.share_beyond();
        made.fitted = pair.fitted;
        made.is_output = layer.is_output;
        made.inputs = before.layers;
    }
    return layers;
}

// Returns the float program in the form in which it is quantized; null if it cannot be brought into that
// form.
std::unique_ptr<graph> form_to_quantize(const graph& g) {
    auto form = std::make_unique<graph>();
    copy_graph(g, *form);
    pass_context context(standard_functions);
    plan_merges(*form, {});
    if (!prepare_quantization(*form, context) || !context.diagnostics().empty()) return nullptr;
    return form;
}

// Returns the layers of a lowered graph, those that are outputs in the shape that a view gives them: it is
// that of the exported program, where that of a kernel may tell nothing.
std::vector<layer_value> as_outputs(std::vector<layer_value> layers, const graph& g) {
    if (!is_kernel_graph(g)) return layers;
    const std::map<detail::result_key, std::size_t> places = detail::places_of(layers);
    const detail::computed_values computed(g);
    for (const value v : g.outputs()) {
        const auto at = places.find(detail::key_of(computed[v]));
        if (at == places.end()) continue;
        layer_value& layer = layers[at->second];
        if (layer.stored == layer.real && is_view(*v.producer) &&
            meta_of(v)->dtype == meta_of(layer.real)->dtype)
            layer.stored = v;
    }
    return layers;
}

// Returns the pairs of layers, by way of a third model if there is one.
result<std::vector<detail::compared_layers>> pairs_of(const graph& reference, std::span<const layer_value> a,
    const graph* between, std::span<const layer_value> t, const graph& other, std::span<const layer_value> b,
    std::span<const layer_value> viewed, const sample_source& samples) {
    std::vector<detail::compared_layers> pairs;
    const bool has_own_layout = is_lowered(other) || is_kernel_graph(other);
    const auto add = [&](std::size_t i, std::size_t k, const layer_value* by) {
        // The host's kernels quantize what a caller gives as real numbers.
        const bool is_given = is<builtin::placeholder>(*a[i].real.producer) && a[i].stored != a[i].real &&
            is_floating(meta_of(b[k].stored)->dtype);
        if (is_given && is_kernel_graph(other)) return;
        const sizes mine = meta_of(a[i].stored)->shape;
        const sizes its = meta_of(b[k].stored)->shape;
        if (!has_own_layout && !std::ranges::equal(mine, its)) return;
        std::vector<element_order> orders = possible_orders(mine, its);
        const layer_value& found = orders.empty() ? viewed[k] : b[k];
        if (orders.empty()) orders = possible_orders(mine, meta_of(found.stored)->shape);
        if (!has_own_layout && orders.size() > 1) orders.resize(1);
        if (!orders.empty())
            pairs.push_back({&a[i], &found, std::move(orders), detail::known_meaning(a[i], found, by)});
    };
    const auto matches = [&](const graph& g,
                             std::span<const layer_value> layers) -> result<std::vector<layer_match>> {
        std::vector<layer_match> by_name = match_layers(g, layers, other, b);
        if (!is_kernel_graph(other)) return by_name;
        HEADRACE_TRY(inputs, samples.inputs(0));
        return match_values(g, layers, other, b, std::move(by_name), inputs);
    };
    if (between == nullptr) {
        HEADRACE_TRY(found, matches(reference, a));
        for (const layer_match m : found) add(m.reference, m.other, nullptr);
        return pairs;
    }
    std::vector<std::size_t> behind(t.size(), detail::no_layer);
    HEADRACE_TRY(found, matches(*between, t));
    for (const layer_match m : found) behind[m.reference] = m.other;
    for (const layer_match m : match_layers(reference, a, *between, t)) {
        if (behind[m.other] != detail::no_layer) add(m.reference, behind[m.other], &t[m.other]);
    }
    return pairs;
}

// Returns the runtime whose arithmetic a model has; empty for PyTorch's and TOSA's.
std::string_view machine_of(const graph& g) {
    if (!is_kernel_graph(g)) return {};
    return has_integer_kernels(g) ? "ExecuTorch's runtime with CMSIS-NN's kernels"
                                  : "ExecuTorch's portable kernels";
}

}  // namespace

result<void> annotate_signature(graph& g, const io_description& io) {
    std::size_t i = 0;
    for (node& n : g.inputs()) {
        if (i == io.inputs.size()) return malformed("it describes fewer inputs than the model has");
        const io_tensor& t = io.inputs[i++];
        if (!std::ranges::equal(t.shape, n.results[0].meta->shape))
            return malformed(join_text("it gives input ", input_name(n), " the shape ", shape_text(t.shape),
                ", the model has ", shape_text(n.results[0].meta->shape)));
        if (t.quantization) g.annotate(n, *t.quantization);
        if (t.channels_last) g.annotate(n, channels_last_signature{true});
        if (t.dtype == dtype::uint8 && n.results[0].meta->dtype == dtype::int8)
            g.annotate(n, unsigned_input{});
    }
    if (i != io.inputs.size()) return malformed("it describes more inputs than the model has");
    if (g.output() == nullptr || io.outputs.size() != g.outputs().size())
        return malformed("it describes a different number of outputs than the model has");
    std::vector<signature_quantization> outputs;
    for (const io_tensor& t : io.outputs)
        outputs.push_back(t.quantization.value_or(signature_quantization{}));
    g.annotate(*g.output(), output_quantizations{g.own(list<signature_quantization>(outputs))});
    std::vector<std::int64_t> unsigned_ones;
    const list<value> given = g.outputs();
    for (i = 0; i != given.size(); ++i) {
        const bool is_byte = meta_of(given[i]) != nullptr && meta_of(given[i])->dtype == dtype::int8;
        if (io.outputs[i].dtype == dtype::uint8 && is_byte)
            unsigned_ones.push_back(static_cast<std::int64_t>(i));
    }
    if (!unsigned_ones.empty())
        g.annotate(*g.output(), unsigned_outputs{g.own(list<std::int64_t>(unsigned_ones))});
    pmr_vector<dtype> exported;
    for (const io_tensor& t : io.outputs) exported.push_back(t.exported);
    g.annotate(*g.output(), exported_output_types{g.own(list<dtype>(exported))});
    return {};
}

result<model_comparison> compare_models(
    const graph& reference, graph& other, const comparison_options& options) {
    if (is_lowered(reference) && !is_lowered(other))
        return unsupported("the first model is lowered, the second is not; give the lowered one last");
    const graph& quantized = options.through == nullptr ? other : *options.through;
    std::unique_ptr<graph> prepared;
    if (!is_lowered(reference) && !is_quantized_program(reference) && is_quantized_program(quantized))
        prepared = form_to_quantize(reference);
    const graph& form = prepared == nullptr ? reference : *prepared;
    const std::vector<layer_value> a = layer_values_of(form);
    const std::vector<layer_value> t =
        options.through == nullptr ? std::vector<layer_value>() : layer_values_of(*options.through);
    HEADRACE_TRY(complete_inputs(form, input_layers(form, a),
        options.through == nullptr ? std::vector<const layer_value*>() : input_layers(quantized, t), other));
    const std::vector<layer_value> b = layer_values_of(other);
    const std::vector<layer_value> viewed = as_outputs(b, other);
    HEADRACE_TRY(pairs, pairs_of(form, a, options.through, t, other, b, viewed, options.samples));
    if (std::ranges::all_of(pairs, [](const detail::compared_layers& p) {
            return is<builtin::placeholder>(*p.reference->real.producer);
        }))
        return unsupported("the models have no layer in common; are they forms of the same one?");
    HEADRACE_TRY(detail::settle(form, other, pairs, options));
    const auto add = [&](layer_sums& sums, std::size_t i, const tensor& x, const tensor& y) {
        sums.add(detail::real_numbers(*pairs[i].reference, x), elements_in_order(y, pairs[i].orders.front()),
            *pairs[i].meaning);
    };
    const detail::pair_runner runner(form, other, pairs, options);
    HEADRACE_TRY(sums, runner.sum<layer_sums>(add));
    return model_comparison{
        figures_of(form, pairs, sums), options.samples.count, a.size(), b.size(), machine_of(other)};
}

}  // namespace headrace
