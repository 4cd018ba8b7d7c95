// SPDX-License-Identifier: MIT
// Defines headrace::merge_linear_maps, which computes sums and chains of linear layers as one layer.
#ifndef HEADRACE_PASSES_MERGE_MERGE_LINEAR_MAPS_HPP
#define HEADRACE_PASSES_MERGE_MERGE_LINEAR_MAPS_HPP

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/ir/edits.hpp>
#include <headrace/ir/linear_merges.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/passes/merge/map_numbers.hpp>
#include <headrace/passes/merge/map_search.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

struct decompose_batch_norm;
struct decompose_grouped_convolution;
/// Re-parameterisation (Ding et al., RepVGG, arXiv:2101.03697, section 3.3): convolutions of any size,
/// identities, batch norms, factors and averages that are summed, or follow each other, are linear in one
/// tensor, and one layer computes the same. Done where that multiplies no more and has no more weights. The
/// weights are combined in float64 and rounded once; if that overflows, the layers stay. Each merge is noted
/// in merged_layers at the output, unless kept_branches is there.
struct merge_linear_maps : pass_in<decomposition> {
    using runs_after = pass_list<canonical_convolutions>;
    using runs_before = pass_list<decompose_batch_norm, decompose_grouped_convolution>;
    static constexpr std::string_view summary =
        "sums and chains of convolutions, norms, factors of one tensor as one convolution or linear";

    using targeted_ops =
        ops<aten::convolution, aten::linear, aten::avg_pool2d, aten::conv1d, aten::conv2d, aten::conv3d>;
    using produces = ops<aten::convolution, aten::linear, aten::add_tensor, aten::sub_tensor, aten::reshape>;

    [[nodiscard]] bool should_run(const graph& g) const { return !keeps_branches(g); }

    result<std::size_t> operator()(graph& g, pass_context& context) const {
        pmr_vector<layer_merge> notes;
        const auto merged =
            sum_over_graphs(g, [&](graph& sub) { return merging(sub, context, notes).run(); });
        if (notes.empty() || g.output() == nullptr) return merged;
        const list<layer_merge> before = merges_of(g);
        notes.insert(notes.begin(), before.begin(), before.end());
        g.annotate(*g.output(), merged_layers{g.own(list<layer_merge>(notes))});
        return merged;
    }

private:
    using emitting = emit<produces>;

    // The merges of one graph. Later nodes are replaced first, so that roots are still in the graph.
    class merging {
    public:
        merging(graph& g, pass_context& context, pmr_vector<layer_merge>& notes)
            : g_(g), context_(context), notes_(notes), search_(g), numbers_(search_.maps()) {}

        std::size_t run() {
            const std::size_t known = notes_.size();
            pmr_vector<node*> changed;
            for (node& n : g_.nodes()) {
                if (search_.map_of(n) != maps::no_map || !search_.addends_of(n).empty())
                    changed.push_back(&n);
            }
            std::size_t done = 0;
            for (std::size_t i = changed.size(); i-- != 0;) done += replace(*changed[i]) ? 1 : 0;
            std::reverse(notes_.begin() + static_cast<std::ptrdiff_t>(known), notes_.end());
            return done;
        }

    private:
        bool replace(node& n) {
            emission made(g_, &n, &n, context_);
            emitting e(made);
            const maps::map_id map = search_.map_of(n);
            const value v = map != maps::no_map ? layer(e, map, n) : sum(e, search_.addends_of(n), n);
            if (!v) return false;
            hand_over_name(n.results[0], v);
            g_.replace_all_uses(n.result(), v);
            erase_dead(g_, n, v.producer);
            return true;
        }

        // Makes the sum of maps of several roots.
        value sum(emitting& e, std::span<const maps::addend> addends, const node& n) {
            pmr_vector<maps::addend> ordered(addends.begin(), addends.end());  // a positive one first
            std::ranges::stable_partition(ordered, [](const maps::addend& a) { return a.sign > 0; });
            value all{};
            for (const maps::addend& a : ordered) {
                const value v = a.is_merged ? layer(e, a.map, n) : a.from;
                if (!v) return {};
                if (!all) {
                    all = v;
                } else if (a.sign > 0) {
                    all = e.make<aten::add_tensor>({.self = all, .other = v});
                } else {
                    all = e.make<aten::sub_tensor>({.self = all, .other = v});
                }
            }
            return all;
        }

        // Makes the layer of a map; an empty value if its weights are not numbers of float32.
        value layer(emitting& e, maps::map_id i, const node& n) {
            const maps::linear_map& m = search_.maps()[i];
            const auto numbers = numbers_.compute(i);
            if (!numbers || !fits(*numbers)) return {};
            const double error = rounding_error(*numbers);
            const maps::map_shape& s = numbers->shape;
            pmr_vector<std::int64_t> kernel{s.out, s.inputs()};
            pmr_vector<std::int64_t> stride, padding, dilation;
            for (std::size_t axis = 0; axis != s.axes; ++axis) {
                const maps::window& w = s.windows[axis];
                kernel.push_back(w.count);
                stride.push_back(w.stride);
                padding.push_back(-w.low);
                dilation.push_back(w.step);
            }
            const value weight = rounded(e, numbers->weights, kernel);
            const bool is_shifted = std::ranges::any_of(numbers->shifts, [](double b) { return b != 0; });
            std::optional<value> bias;
            if (is_shifted) bias = rounded(e, numbers->shifts, pmr_vector<std::int64_t>{s.out});
            note(m, n, error);
            if (s.axes != 0) {
                const pmr_vector<std::int64_t> none(s.axes, 0);
                return e.make<aten::convolution>({.input = m.root,
                    .weight = weight,
                    .bias = bias,
                    .stride = list_of(stride),
                    .padding = list_of(padding),
                    .dilation = list_of(dilation),
                    .transposed = false,
                    .output_padding = list_of(none),
                    .groups = s.groups});
            }
            const value rows = e.make<aten::linear>({.input = m.root, .weight = weight, .bias = bias});
            const int_list& shape = n.results[0].meta->shape;
            return !rows || e.shape(rows) == shape ? rows
                                                   : e.make<aten::reshape>({.self = rows, .shape = shape});
        }

        static int_list list_of(const pmr_vector<std::int64_t>& items) { return int_list(sizes(items)); }
        static value rounded(
            emitting& e, const pmr_vector<double>& numbers, const pmr_vector<std::int64_t>& shape) {
            const pmr_vector<float> elements(numbers.begin(), numbers.end());
            return e.constant(dtype::float32, sizes(shape), std::span<const float>(elements));
        }
        // True if all numbers are finite in float32, and the graph may have that many more.
        bool fits(const maps::map_numbers& numbers) {
            const std::uint64_t bytes = (numbers.weights.size() + numbers.shifts.size()) * sizeof(float);
            const auto is_finite = [](double x) { return std::isfinite(static_cast<float>(x)); };
            return g_.data_bytes() + bytes <= max_data_bytes &&
                std::ranges::all_of(numbers.weights, is_finite) &&
                std::ranges::all_of(numbers.shifts, is_finite);
        }
        static double rounding_error(const maps::map_numbers& numbers) {
            const std::size_t row = numbers.weights.size() / numbers.shifts.size();
            double worst = 0;
            for (std::size_t begin = 0; begin != numbers.weights.size(); begin += row) {
                double lost = 0, whole = 0;
                for (const double w : std::span(numbers.weights).subspan(begin, row)) {
                    lost += std::abs(w - static_cast<double>(static_cast<float>(w)));
                    whole += std::abs(w);
                }
                if (whole > 0) worst = std::max(worst, lost / whole);
            }
            return worst;
        }

        void note(const maps::linear_map& m, const node& n, double error) {
            pmr_vector<std::string_view> names;
            add_names(m, names);
            notes_.push_back({origin_name(n), g_.own(list<std::string_view>(names)), error});
        }
        void add_names(const maps::linear_map& m, pmr_vector<std::string_view>& names) const {
            if (m.kind == maps::map_kind::step) {
                if (m.of == nullptr || m.steps == 0) return;
                const std::string_view name = origin_name(*m.of);
                if (std::ranges::find(names, name) == names.end()) names.push_back(name);
                return;
            }
            add_names(search_.maps()[m.first], names);
            add_names(search_.maps()[m.second], names);
        }

        graph& g_;
        pass_context& context_;
        pmr_vector<layer_merge>& notes_;
        maps::map_search search_;
        maps::number_computer numbers_;
    };
};
HEADRACE_COMPILED_PASS(merge_linear_maps);

}  // namespace headrace

#endif
