// SPDX-License-Identifier: MIT
// Defines the functions of headrace/quantization/quantize_graph.hpp.

#include <headrace/quantization/quantize_graph.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include <boost/mp11/list.hpp>

#include <headrace/base/strings.hpp>
#include <headrace/base/text.hpp>
#include <headrace/ir/linear_merges.hpp>
#include <headrace/ir/nearest_named.hpp>
#include <headrace/ir/source_location.hpp>
#include <headrace/partition/extract.hpp>
#include <headrace/pass/run_pass.hpp>
#include <headrace/passes/decompose/activations.hpp>
#include <headrace/passes/decompose/arithmetic.hpp>
#include <headrace/passes/decompose/comparisons.hpp>
#include <headrace/passes/decompose/convolution.hpp>
#include <headrace/passes/decompose/decompose.hpp>
#include <headrace/passes/decompose/indexing.hpp>
#include <headrace/passes/decompose/losses.hpp>
#include <headrace/passes/decompose/matmul.hpp>
#include <headrace/passes/decompose/normalization.hpp>
#include <headrace/passes/decompose/norms.hpp>
#include <headrace/passes/decompose/pooling.hpp>
#include <headrace/passes/decompose/powers.hpp>
#include <headrace/passes/decompose/products.hpp>
#include <headrace/passes/decompose/rearrangements.hpp>
#include <headrace/passes/decompose/recurrent.hpp>
#include <headrace/passes/decompose/resampling.hpp>
#include <headrace/passes/decompose/scans.hpp>
#include <headrace/passes/decompose/scatter.hpp>
#include <headrace/passes/decompose/searches.hpp>
#include <headrace/passes/decompose/sorting.hpp>
#include <headrace/passes/decompose/special.hpp>
#include <headrace/passes/decompose/statistics.hpp>
#include <headrace/passes/decompose/tables.hpp>
#include <headrace/passes/decompose/trigonometric.hpp>
#include <headrace/passes/fold/redundancies.hpp>
#include <headrace/passes/merge/merge_linear_maps.hpp>
#include <headrace/passes/normalize/functionalize.hpp>
#include <headrace/passes/normalize/regions.hpp>
#include <headrace/passes/normalize/variants.hpp>
#include <headrace/passes/npu/convolution_groups.hpp>
#include <headrace/quantization/annotate.hpp>
#include <headrace/quantization/correct_biases.hpp>
#include <headrace/quantization/device/keep_device_integers.hpp>
#include <headrace/quantization/equalize_layers.hpp>
#include <headrace/quantization/expand_functions.hpp>
#include <headrace/quantization/fold_batch_norms.hpp>
#include <headrace/quantization/fold_weights.hpp>
#include <headrace/quantization/masks/mask_scores.hpp>
#include <headrace/quantization/masks/picked_extremes.hpp>
#include <headrace/quantization/relax_clamps.hpp>
#include <headrace/quantization/replacements.hpp>
#include <headrace/quantization/smooth_layers.hpp>

namespace headrace {

namespace {

// New nodes for passes earlier in the list are rewritten in the next round.
template <class... Last>
using expanding_passes =
    boost::mp11::mp_append<pass_list<canonicalize_variants, fold_batch_norms, decompose_recurrent>,
        composite_passes,
        pass_list<decompose_einsum, decompose_fused_arithmetic, expand_functions, decompose_attention,
            decompose_normalization, decompose_norms, decompose_var, decompose_masks, canonicalize_arithmetic,
            scalars_to_tensors, decompose_add_sub_alpha, Last...>>;

template <class... Passes>
result<std::size_t> run_passes(graph& g, pass_context& context, pass_list<Passes...>) {
    std::size_t rewritten = 0;
    std::optional<error> failure;
    const auto run = [&]<class P>() {
        if (failure) return;
        auto counts = pass_code<P>::run(P{}, g, context, driver_kind::in_place);
        if (counts) {
            rewritten += counts.value().rewritten;
        } else {
            failure = std::move(counts).error();
        }
    };
    (run.template operator()<Passes>(), ...);
    if (failure) return *std::move(failure);
    return rewritten;
}

// Gives each reader of a constant its own copy, right before it, so that readers have separate ranges.
void split_constants(graph& g) {
    for (node *n = g.first(), *next = nullptr; n != nullptr; n = next) {
        next = n->next;
        for (edge& e : std::span(n->operands, n->operand_count)) {
            const node& source = *e.source;
            const auto* constant = args_if<builtin::constant>(source);
            if (constant == nullptr) continue;
            node& copy = g.create<builtin::constant>(*constant, n);
            g.set_meta(copy.result(), *source.results[0].meta);
            g.set_name(copy.result(), source.name());
            g.inherit_annotations(copy, source);
            g.set_operand(e, copy.result());
        }
    }
}

// Replaces convolutions of the general form by those of modules, if they have one.
void spell_as_modules(graph& g) {
    for (node *n = g.first(), *next = nullptr; n != nullptr; n = next) {
        next = n->next;
        const auto* a = args_if<aten::convolution>(*n);
        if (a == nullptr || a->transposed) continue;
        const auto replace_by = [&]<class Op>() {
            replace_with<Op>(
                g, *n, {a->input, a->weight, a->bias, a->stride, a->padding, a->dilation, a->groups});
        };
        switch (a->stride.size()) {
            case 1:
                replace_by.template operator()<aten::conv1d>();
                break;
            case 2:
                replace_by.template operator()<aten::conv2d>();
                break;
            default:
                replace_by.template operator()<aten::conv3d>();
        }
    }
}

int bits_of(const tensor_scheme& scheme) {
    return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(scheme.highest - scheme.lowest)));
}

// Merges layers that are linear in one tensor before their ranges are observed: what is between them needs
// no quantization then.
result<void> merge_layers(graph& g, pass_context& context) {
    if (keeps_branches(g)) return {};
    const bool is_of_modules = g.census().count(info_of<aten::convolution>) == 0;
    HEADRACE_TRY(run_passes(g, context, pass_list<merge_linear_maps>{}));
    if (is_of_modules) spell_as_modules(g);
    return {};
}

// True if a layer reads a device's integers. A camera's bytes are not centered at zero, so that rounded weights
// shift the layer's sums.
bool reads_device_integers(const node& layer) {
    return layer.operand(0).producer->find_annotation<device_integers>() != nullptr;
}

// Removes nodes that expand a tensor to the shape it already has.
void remove_idle_expansions(graph& g) {
    for (node *n = g.first(), *next = nullptr; n != nullptr; n = next) {
        next = n->next;
        const auto* expand = args_if<aten::expand>(*n);
        if (expand == nullptr || !(meta_of(expand->self)->shape == meta_of(n->result())->shape)) continue;
        g.replace_all_uses(n->result(), expand->self);
        g.erase(*n);
    }
}

// Replaces max and min by amax and amin where the indices are unused: the quantized form of ops with a
// single result is known.
template <op_tag From, op_tag To>
void drop_unused_places(graph& g) {
    for (node *n = g.first(), *next = nullptr; n != nullptr; n = next) {
        next = n->next;
        const auto* a = args_if<From>(*n);
        if (a == nullptr || use_count(n->result(1)) != 0) continue;
        replace_with<To>(g, *n, {.self = a->self, .dim = {a->dim}, .keepdim = a->keepdim});
    }
}

// Replaces views by reshapes. Passes make views because tensors are values here; PyTorch refuses a view of a
// tensor that is not contiguous, and copies for a reshape.
void reshape_instead_of_view(graph& g) {
    for (node *n = g.first(), *next = nullptr; n != nullptr; n = next) {
        next = n->next;
        const auto* view = args_if<aten::view>(*n);
        if (view == nullptr) continue;
        replace_with<aten::reshape>(g, *n, {.self = view->self, .shape = view->size});
    }
}

// Returns the number of a one-element constant; nothing for other values.
std::optional<float> sole_number(value v) {
    const auto* constant = match<builtin::constant>(v);
    const tensor_meta* meta = meta_of(v);
    if (constant == nullptr || meta->dtype != dtype::float32 || meta->elements() != 1) return std::nullopt;
    return tensor_of_constant(constant->data, *meta).data<float>()[0];
}

// Returns the scale that holds a factor exactly if the chosen one is off by more than half a step of the type.
// The smallest scale is meant for tensors whose numbers carry no information; a factor, such as the 1/N of a
// mean over many elements, would be rounded to a multiple of 2^-16 (23 % off for 224 x 224).
std::optional<qparams> exact_factor(
    const quantization_point& p, const tensor_scheme& scheme, const qparams& chosen) {
    const std::optional<float> number = sole_number(p.source);
    if (!number || p.readers.size() != 1 || !is<aten::mul_tensor>(*p.readers.front()->target)) return {};
    if (*number == 0 || !std::isfinite(*number)) return {};
    const auto inverse = static_cast<float>(1 / chosen.scale);
    const std::int64_t q = quantized(*number, inverse, chosen.zero_point, scheme);
    const double got = chosen.scale * static_cast<double>(q - chosen.zero_point);
    const double half_step = 0.5 / static_cast<double>(scheme.highest - scheme.lowest + 1);
    if (std::fabs(got / static_cast<double>(*number) - 1) < half_step) return {};
    tensor_scheme free = scheme;
    free.smallest_scale = 0x1p-100;
    return choose_qparams({*number, *number}, free);
}

// True for a constant that a product of matrices reads: small numbers, such as those of a filter bank, carry
// as much information as large ones.
bool is_factor_matrix(const quantization_point& p) {
    const auto reads = [](const edge* e) { return is<aten::mm>(*e->target) || is<aten::bmm>(*e->target); };
    return is<builtin::constant>(*p.source.producer) && std::ranges::all_of(p.readers, reads);
}

value_range widened(value_range range, double factor) {
    if (range.empty() || factor == 1) return range;
    const auto f = static_cast<float>(factor);
    constexpr float max_number = std::numeric_limits<float>::max();
    return {range.lowest < 0 ? std::max(range.lowest * f, -max_number) : range.lowest,
        range.highest > 0 ? std::min(range.highest * f, max_number) : range.highest};
}

// Numbers that are told from others by a bound must not be clipped to it, so their range is not narrowed.
void observe_extremes(quantization_groups& groups, std::span<const value> bounded) {
    for (const value v : bounded) {
        const auto group = groups.of(v);
        if (group == quantization_groups::none) continue;
        tensor_scheme scheme = groups.scheme(group);
        scheme.observer = observer_kind::min_max;
        scheme.headroom = 1;
        groups.set_scheme(group, scheme);
    }
}

// "net.py:42: masked_fill (aten.masked_fill.Scalar): ", or the known parts of that.
std::string place_of(const node& n) {
    const std::pmr::string line = source_line(n);
    const node& named = nearest_named(n);
    const std::string_view name = origin_name(named);
    return join_text(
        line, line.empty() ? "" : ": ", name.empty() ? op_name(n) : name, ": ", relation_text(n, named));
}
std::string format_number(float x) {
    if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
    std::array<char, 32> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), x, std::chars_format::general, 5);
    return {text.data(), end.ptr};
}

// Notes numbers far outside the quantized range, which lose their meaning; clipping a little is what
// observers intend. A finite one may be an outlier among the samples: of that, a warning is enough.
void note_lost_numbers(const range_observer& seen, std::span<const quantization_point> points,
    const qparams& chosen, const tensor_scheme& scheme, quantization_summary& summary) {
    constexpr double far = 64;
    const auto end = [&](std::int64_t q) {
        return static_cast<float>(chosen.scale * static_cast<double>(q - chosen.zero_point));
    };
    const value_range held{end(scheme.lowest), end(scheme.highest)};
    const double reach = static_cast<double>(std::max(-held.lowest, held.highest));
    for (const seen_extreme& x : {seen.lowest(), seen.highest()}) {
        if (x.point >= points.size() || std::abs(static_cast<double>(x.number)) <= far * reach) continue;
        const bool is_passed_by_all = std::ranges::all_of(
            points[x.point].readers, [&](const edge* e) { return is_passed_over(*e->target, x.number < 0); });
        if (is_passed_by_all && !points[x.point].readers.empty()) continue;
        auto& to = std::isinf(x.number) ? summary.lost : summary.warnings;
        to.push_back(join_text(place_of(*points[x.point].source.producer), format_number(x.number),
            " is outside of the quantized range [", format_number(held.lowest), ", ",
            format_number(held.highest), "] and becomes ",
            format_number(x.number < 0 ? held.lowest : held.highest)));
    }
}

// Tells for each node if other samples could change its value. A factor that is always zero, such as the first
// state of a recurrent layer, lets nothing through; if it is another number, the other factor is warned of.
std::vector<bool> input_dependence(const graph& g) {
    using enum trait;
    std::vector<bool> depends(g.id_bound());
    for (const node& n : g.nodes()) {
        const auto varies = [&](const edge& e) { return depends[e.source->id]; };
        const auto edges = n.operand_edges();
        const bool is_fixed = n.op->has(gives_zeros | gives_ones | gives_number);
        depends[n.id] = is<builtin::placeholder>(n) ||
            (!is_fixed && std::ranges::any_of(edges, varies) &&
                (!is<aten::mul_tensor>(n) || std::ranges::all_of(edges, varies)));
    }
    return depends;
}

std::vector<qparams> parameters_of(const graph& g, const quantization_groups& groups,
    std::span<const quantization_point> points, std::span<const range_observer> observers,
    const parallel_for& in_parallel, quantization_summary& summary) {
    std::vector<qparams> parameters(groups.size());
    std::vector<const quantization_point*> first(groups.size(), nullptr);
    std::vector<std::size_t> used;
    std::vector<std::size_t> members(groups.size(), 0);
    std::vector<bool> feeds_layers(groups.size(), false);
    for (const quantization_point& p : points) {
        if (std::ranges::any_of(p.readers, [](const edge* e) { return is_weighted_layer(*e->target); }))
            feeds_layers[p.group] = true;
        if (++members[p.group] != 1) continue;
        first[p.group] = &p;
        used.push_back(p.group);
    }
    in_parallel(used.size(), [&](std::size_t i) {
        const auto k = static_cast<quantization_groups::key>(used[i]);
        value_range range = observers[k].range();
        // All elements of a constant are known; samples show only some of a computed tensor's numbers.
        if (!is<builtin::constant>(*first[k]->source.producer))
            range = widened(range, groups.scheme(k).headroom);
        tensor_scheme scheme = groups.scheme(k);
        if (is_factor_matrix(*first[k])) scheme.smallest_scale = 0x1p-100;
        // The smallest scale of int16 keeps biases of layers in int32; others, such as audio, have 16 bits.
        if (scheme.type == dtype::int16 && !feeds_layers[k])
            scheme.smallest_scale = std::min(scheme.smallest_scale, tensor_scheme{}.smallest_scale);
        parameters[k] = choose_qparams(range, scheme);
        if (members[k] != 1) return;
        if (const auto exact = exact_factor(*first[k], groups.scheme(k), parameters[k]))
            parameters[k] = *exact;
    });
    const std::vector<bool> depends = input_dependence(g);
    for (const std::size_t k : used) {
        const node& source = *first[k]->source.producer;
        const range_observer& seen = observers[k];
        const auto warn = [&](auto&&... words) {
            summary.warnings.push_back(join_text(place_of(source), words...));
        };
        const auto key = static_cast<quantization_groups::key>(k);
        note_lost_numbers(seen, points, parameters[k], groups.scheme(key), summary);
        if (seen.undefined() != 0) {
            warn(seen.undefined(), " of its numbers are NaN, and were left out of its range");
        }
        const bool varies = seen.seen().lowest != seen.seen().highest || seen.count() < 2;
        if (depends[source.id] && !varies)
            summary.warnings.push_back(
                join_text(origin_name(source), ": it is ", std::to_string(seen.seen().lowest),
                    " in all samples, so its range is a guess; give other samples"));
    }
    return parameters;
}

// Warns of rules that no node fits, in the form in which the graph is quantized.
void warn_of_idle_rules(const graph& g, const quantization_config& config, quantization_summary& summary) {
    static constexpr const char* subjects[] = {"op", "name", "module"};
    for (const quantization_rule& rule : config.rules) {
        const auto fits = [&](const node& n) { return fits_rule(n, rule); };
        if (std::ranges::any_of(g.nodes(), fits)) continue;
        summary.warnings.push_back(
            join_text("the rule for ", subjects[static_cast<std::size_t>(rule.subject)], " '", rule.pattern,
                "' fits no node that is quantized; `headrace show` has their names"));
    }
}

// Returns the samples for all that is not the observation of ranges: those of a shard are not all of them.
sample_source samples_to_execute(const sample_source& samples) {
    if (!samples.statistics.record && !samples.statistics.recorded) return samples;
    return {
        samples.count, [](std::size_t) -> result<std::vector<tensor>> {
            return unsupported(
                "ranges can be observed apart, but numbers that mask scores, bounds that --equalize relaxes, "
                "--smooth, --correct-biases and the integers of a device need all samples at once; "
                "quantize with --samples alone");
        }};
}

}  // namespace

void plan_merges(graph& g, const quantization_config& config) {
    if (config.keep_branches) keep_branches(g);
    if (g.output() == nullptr) return;
    if (!config.merge_branches)
        g.annotate(*g.output(), quantized_merges{bits_of(config.all.weight), bits_of(config.all.activation)});
    for (node& n : g.nodes()) {
        for (std::size_t i = config.rules.size(); i-- != 0;) {
            const quantization_rule& rule = config.rules[i];
            if (rule.subject == quantization_rule::subject_type::op || !fits_rule(n, rule)) continue;
            g.annotate(n, merge_group{static_cast<std::uint32_t>(i + 1)});
            break;
        }
    }
}

result<std::vector<value>> prepare_quantization(
    graph& g, pass_context& context, const sample_source& samples, const parallel_for& in_parallel) {
    HEADRACE_TRY(run_passes(
        g, context, pass_list<inline_regions, functionalize, canonicalize_variants, fold_weights>{}));
    remove_idle_expansions(g);
    drop_unused_places<aten::max_dim, aten::amax>(g);
    drop_unused_places<aten::min_dim, aten::amin>(g);
    HEADRACE_TRY(merge_layers(g, context));
    const auto expand = [&](auto passes) -> result<void> {
        constexpr int rounds = 4;  // an expansion may make nodes that are expanded in turn
        for (int i = 0; i != rounds; ++i) {
            HEADRACE_TRY(rewritten, run_passes(g, context, passes));
            if (rewritten == 0) break;
        }
        return {};
    };
    HEADRACE_TRY(expand(expanding_passes<>{}));
    HEADRACE_TRY(bounded, mask_scores(g, context, samples, in_parallel));
    HEADRACE_TRY(run_passes(g, context, pass_list<remove_dead_code>{}));
    HEADRACE_TRY(expand(expanding_passes<decompose_softmax>{}));
    reshape_instead_of_view(g);
    split_constants(g);
    HEADRACE_TRY(run_passes(g, context, pass_list<remove_dead_code>{}));
    std::erase_if(bounded, [](value v) { return v.producer->owner == nullptr; });
    return bounded;
}

result<quantization_summary> quantize_graph(graph& g, pass_context& context,
    const quantization_config& config, const sample_source& observed, const parallel_for& in_parallel) {
    const sample_source samples = samples_to_execute(observed);
    plan_merges(g, config);
    HEADRACE_TRY(bounded, prepare_quantization(g, context, samples, in_parallel));
    if (config.equalize) {
        HEADRACE_TRY(relax_clamps(g, samples, in_parallel));
        HEADRACE_TRY(run_passes(g, context, pass_list<equalize_layers>{}));
    }
    if (config.smooth) {
        HEADRACE_TRY(smooth_layers(g, samples, in_parallel));
    }
    graph real;
    const auto is_corrected = [all = config.correct_biases](const node& n) {
        return is_weighted_layer(n) && (all || reads_device_integers(n));
    };
    const bool corrects = std::ranges::any_of(g.nodes(), is_corrected);
    if (corrects) copy_graph(g, real);
    quantization_groups groups = annotate_quantization(g, config);
    observe_extremes(groups, bounded);
    keep_device_integers(g, groups);
    const std::vector<quantization_point> points = quantization_points_of(g, groups);
    HEADRACE_TRY(observers, observe_ranges(g, groups, points, observed, in_parallel, bounded));
    quantization_summary summary;
    warn_of_idle_rules(g, config, summary);
    for (const value v : bounded) {
        if (is<builtin::placeholder>(*v.producer)) summary.mask_inputs.emplace_back(v.producer->name());
    }
    const std::vector<qparams> parameters = parameters_of(g, groups, points, observers, in_parallel, summary);
    insert_quantization(g, groups, points, parameters, summary);
    HEADRACE_TRY(run_passes(g, context, pass_list<remove_dead_code>{}));
    if (corrects) {
        HEADRACE_TRY(correct_biases(real, g, samples, in_parallel, is_corrected));
    }
    return summary;
}

}  // namespace headrace
