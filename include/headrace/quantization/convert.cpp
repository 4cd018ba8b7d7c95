// SPDX-License-Identifier: MIT
// Defines the functions of headrace/quantization/convert.hpp.

#include <headrace/quantization/convert.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include <headrace/base/text.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/eval/tensor.hpp>
#include <headrace/quantization/observers/histogram.hpp>

namespace headrace {

namespace {

class quantization_inserter {
public:
    quantization_inserter(graph& g, const quantization_groups& groups,
        std::span<const quantization_point> points, std::span<const qparams> parameters,
        quantization_summary& summary)
        : graph_(g), groups_(groups), points_(points), parameters_(parameters), summary_(summary) {}

    // Biases are done last: they need the scales of their layer's other operands.
    void run() {
        quantized_.resize(points_.size());
        channels_.resize(points_.size());
        for (const bool bias : {false, true}) {
            for (std::size_t i = 0; i != points_.size(); ++i) {
                if (groups_.is_bias(points_[i].group) == bias) insert(i);
            }
        }
        for (std::size_t i = 0; i != points_.size(); ++i) dequantize_for_readers(i);
        summary_.points += points_.size();
    }

private:
    [[nodiscard]] const tensor_scheme& scheme_at(std::size_t i) const {
        return groups_.scheme(points_[i].group);
    }
    [[nodiscard]] std::string name_at(std::size_t i) const {
        return std::string(origin_name(*points_[i].source.producer));
    }

    void insert(std::size_t i) {
        const quantization_point& p = points_[i];
        const tensor_scheme& scheme = scheme_at(i);
        const bool is_constant = is<builtin::constant>(*p.source.producer);
        if (groups_.is_bias(p.group)) {
            channels_[i] = scales_of_bias(i);
            quantized_[i] = quantized_constant(i, channels_[i]);
        } else if (scheme.per_channel) {
            channels_[i] = scales_of_channels(i);
            quantized_[i] = quantized_constant(i, channels_[i]);
        } else if (is_constant && p.inner == no_point) {
            const auto scale = static_cast<float>(parameters_[p.group].scale);
            quantized_[i] = quantized_constant(i, {scale});
        } else {
            const value from = p.inner == no_point ? p.source : dequantized(p.inner, p.before);
            quantized_[i] = quantize_node(i, from);
        }
    }

    // --- scales ------------------------------------------------------------------------

    [[nodiscard]] tensor constant_at(std::size_t i) const {
        const node& n = *points_[i].source.producer;
        return tensor_of_constant(args_of<builtin::constant>(n).data, *n.results[0].meta);
    }
    // Returns the number of elements per index of the axis: the product of the sizes after it.
    [[nodiscard]] static std::size_t inner_size(const tensor& t, std::size_t axis) {
        std::int64_t inner = 1;
        for (std::size_t d = axis + 1; d < t.rank(); ++d) inner *= t.dim(d);
        return static_cast<std::size_t>(inner);
    }

    [[nodiscard]] std::vector<float> scales_of_channels(std::size_t i) const {
        const tensor_scheme& scheme = scheme_at(i);
        const tensor t = constant_at(i);
        const auto axis = static_cast<std::size_t>(scheme.axis);
        const auto channels = static_cast<std::size_t>(t.dim(axis));
        const std::size_t inner = inner_size(t, axis);
        std::vector<value_range> ranges(channels);
        const auto numbers = t.data<float>();
        for (std::size_t k = 0; k != numbers.size(); ++k) {
            if (!has_extent(numbers[k])) continue;
            value_range& r = ranges[k / inner % channels];
            r.lowest = std::min(r.lowest, numbers[k]);
            r.highest = std::max(r.highest, numbers[k]);
        }
        std::vector<float> scales;
        for (const value_range& r : ranges)
            scales.push_back(static_cast<float>(choose_qparams(r, scheme).scale));
        return scales;
    }

    // Returns the point whose quantized value an operand reads.
    [[nodiscard]] std::size_t point_read_by(const edge& e) const {
        for (std::size_t i = 0; i != points_.size(); ++i) {
            for (const edge* reader : points_[i].readers) {
                if (reader == &e) return i;
            }
        }
        return no_point;
    }
    [[nodiscard]] std::vector<float> scales_of_bias(std::size_t i) const {
        const node& layer = *points_[i].readers.front()->target;
        const std::size_t input = point_read_by(layer.operands[0]);
        const std::size_t weight = point_read_by(layer.operands[1]);
        const auto of_input = static_cast<float>(parameters_[points_[input].group].scale);
        if (!scheme_at(weight).per_channel)
            return {of_input * static_cast<float>(parameters_[points_[weight].group].scale)};
        std::vector<float> scales;
        for (const float s : channels_[weight]) scales.push_back(of_input * s);
        return scales;
    }

    // --- constants ---------------------------------------------------------------------

    // One scale for the whole tensor, or one for each index of the scheme's axis.
    value quantized_constant(std::size_t i, const std::vector<float>& scales) {
        const tensor_scheme& scheme = scheme_at(i);
        const tensor t = constant_at(i);
        const bool by_channel = scheme.per_channel && t.rank() != 0;
        const std::size_t inner = by_channel ? inner_size(t, static_cast<std::size_t>(scheme.axis)) : 1;
        const std::int64_t zero = scheme.per_channel || groups_.is_bias(points_[i].group)
            ? 0
            : parameters_[points_[i].group].zero_point;
        std::vector<float> inverse;
        for (const float s : scales)
            inverse.push_back(scheme.per_channel ? 1 / s : static_cast<float>(1 / static_cast<double>(s)));
        const auto numbers = t.data<float>();
        const std::size_t width = traits_of(scheme.type).bits / 8U;
        bool saturated = false;
        const tensor_meta meta{scheme.type, points_[i].source.producer->results[0].meta->shape, {}};
        const value v = create_constant(graph_, meta, points_[i].before, [&](std::span<std::byte> data) {
            for (std::size_t k = 0; k != numbers.size(); ++k) {
                const float factor = inverse[by_channel ? k / inner % inverse.size() : 0];
                const std::int64_t q = quantized(numbers[k], factor, zero, scheme);
                saturated = saturated ||
                    (scheme.type == dtype::int32 &&
                        std::fabs(static_cast<double>(numbers[k] * factor)) >
                            static_cast<double>(scheme.highest) + 0.5);
                std::memcpy(&data[k * width], &q, width);  // little-endian: the low bytes come first
            }
        });
        if (saturated) {
            summary_.warnings.push_back(name_at(i) +
                ": the bias does not fit in int32 at the product of the scales of "
                "its layer's input and weight; it was saturated");
        }
        ++summary_.constants;
        graph_.inherit_annotations(*v.producer, *points_[i].source.producer);
        graph_.set_name(v, graph_.own(points_[i].source.producer->name()));
        return v;
    }

    value number_list(std::size_t i, std::span<const float> scales) {
        const std::int64_t shape[] = {static_cast<std::int64_t>(scales.size())};
        const tensor_meta meta{dtype::float32, int_list(sizes(shape)), {}};
        return create_constant(graph_, meta, points_[i].before,
            [&](std::span<std::byte> data) { std::memcpy(data.data(), scales.data(), scales.size_bytes()); });
    }
    value zero_list(std::size_t i, std::size_t count) {
        const std::int64_t shape[] = {static_cast<std::int64_t>(count)};
        const tensor_meta meta{dtype::int64, int_list(sizes(shape)), {}};
        return create_constant(graph_, meta, points_[i].before,
            [](std::span<std::byte> data) { std::memset(data.data(), 0, data.size()); });
    }

    // --- nodes -------------------------------------------------------------------------

    value quantize_node(std::size_t i, value from) {
        const quantization_point& p = points_[i];
        const tensor_scheme& scheme = scheme_at(i);
        const qparams& q = parameters_[p.group];
        node& n = graph_.create<quantized_decomposed::quantize_per_tensor>({.input = from,
                                                                               .scale = q.scale,
                                                                               .zero_point = q.zero_point,
                                                                               .quant_min = scheme.lowest,
                                                                               .quant_max = scheme.highest,
                                                                               .dtype = scheme.type},
            p.before);
        graph_.set_meta(n.result(), {scheme.type, meta_of(p.source)->shape, {}});
        graph_.inherit_annotations(n, *p.source.producer);
        return n.result();
    }

    value dequantized(std::size_t i, node* before) {
        const quantization_point& p = points_[i];
        const tensor_scheme& scheme = scheme_at(i);
        const bool is_bias = groups_.is_bias(p.group);
        node* made = nullptr;
        if (scheme.per_channel) {
            made = &graph_.create<quantized_decomposed::dequantize_per_channel>(
                {.input = quantized_[i],
                    .scales = number_list(i, channels_[i]),
                    .zero_points = zero_list(i, channels_[i].size()),
                    .axis = scheme.axis,
                    .quant_min = scheme.lowest,
                    .quant_max = scheme.highest,
                    .dtype = scheme.type},
                before);
        } else {
            const qparams q = is_bias ? qparams{channels_[i].front(), 0} : parameters_[p.group];
            made =
                &graph_.create<quantized_decomposed::dequantize_per_tensor>({.input = quantized_[i],
                                                                                .scale = q.scale,
                                                                                .zero_point = q.zero_point,
                                                                                .quant_min = scheme.lowest,
                                                                                .quant_max = scheme.highest,
                                                                                .dtype = scheme.type},
                    before);
        }
        graph_.set_meta(made->result(), {dtype::float32, meta_of(p.source)->shape, {}});
        graph_.inherit_annotations(*made, *p.source.producer);
        return made->result();
    }

    // Gives each reader a dequantize node of its own, so that the lowering can fuse the two.
    void dequantize_for_readers(std::size_t i) {
        const node* last = nullptr;
        value real;
        for (edge* e : points_[i].readers) {
            if (e->target != last) real = dequantized(i, points_[i].before);
            last = e->target;
            graph_.set_operand(*e, real);
        }
    }

    graph& graph_;
    const quantization_groups& groups_;
    std::span<const quantization_point> points_;
    std::span<const qparams> parameters_;
    quantization_summary& summary_;
    std::vector<value> quantized_;              // by point
    std::vector<std::vector<float>> channels_;  // scales of each point that is per-channel or a bias
};

}  // namespace

void insert_quantization(graph& g, const quantization_groups& groups,
    std::span<const quantization_point> points, std::span<const qparams> parameters,
    quantization_summary& summary) {
    quantization_inserter(g, groups, points, parameters, summary).run();
}

}  // namespace headrace
