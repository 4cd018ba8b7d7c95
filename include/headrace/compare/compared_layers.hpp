// SPDX-License-Identifier: MIT
// Defines headrace::detail::compared_layers, two values of a comparison, and the runs over them.
#ifndef HEADRACE_COMPARE_COMPARED_LAYERS_HPP
#define HEADRACE_COMPARE_COMPARED_LAYERS_HPP

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/compare/compare_models.hpp>
#include <headrace/compare/layer_difference.hpp>
#include <headrace/compare/layer_runner.hpp>
#include <headrace/compare/layer_values.hpp>
#include <headrace/run/signature_tensors.hpp>

namespace headrace::detail {

/// Two values that are compared, and how elements of the second become real numbers like those of the first.
struct compared_layers {
    const layer_value* reference;
    const layer_value* other;
    std::vector<element_order> orders;  ///< until one is chosen
    std::optional<integer_meaning> meaning{};
    bool fitted = false;

    [[nodiscard]] bool is_open() const { return !meaning || orders.size() != 1; }
    [[nodiscard]] sizes shape() const { return meta_of(reference->stored)->shape; }
};

/// Returns the reference's numbers; if the layer has a quantize node, the real numbers that its integers
/// represent.
[[nodiscard]] std::vector<double> real_numbers(const layer_value& layer, const tensor& t);

/// Returns the known quantization of a value of the other model; none if it must be fitted.
[[nodiscard]] std::optional<integer_meaning> known_meaning(
    const layer_value& reference, const layer_value& other, const layer_value* between);

/// Runs both models on samples, and accumulates sums over each pair of layers.
class pair_runner {
public:
    pair_runner(const graph& reference, const graph& other, std::span<const compared_layers> pairs,
        const comparison_options& options)
        : other_(other),
          pairs_(pairs),
          options_(options),
          run_reference_(reference, values_of(pairs, &compared_layers::reference)),
          run_other_(other, values_of(pairs, &compared_layers::other)) {}

    /// Returns the sums of `add(sum, i, reference's tensor, the other's)` for all i, over all samples.
    template <class Sum, class Add>
    [[nodiscard]] result<std::vector<Sum>> sum(const Add& add) const {
        constexpr std::size_t at_once = 16;  // samples whose values are in memory at a time
        std::vector<Sum> total(pairs_.size());
        for (std::size_t first = 0; first < options_.samples.count; first += at_once) {
            const std::size_t count = std::min(at_once, options_.samples.count - first);
            std::vector<std::vector<Sum>> sums(count, std::vector<Sum>(pairs_.size()));
            HEADRACE_TRY(try_each(count, options_.in_parallel, [&](std::size_t s) {
                return run(first + s,
                    [&](std::size_t i, const tensor& x, const tensor& y) { add(sums[s][i], i, x, y); });
            }));
            for (const std::vector<Sum>& own : sums) {
                for (std::size_t i = 0; i != total.size(); ++i) total[i] += own[i];
            }
        }
        return total;
    }

private:
    [[nodiscard]] static std::vector<value> values_of(
        std::span<const compared_layers> pairs, const layer_value* compared_layers::*side) {
        std::vector<value> values;
        for (const compared_layers& p : pairs) values.push_back((p.*side)->stored);
        return values;
    }

    template <class F>
    [[nodiscard]] result<void> run(std::size_t sample, const F& f) const {
        HEADRACE_TRY(inputs, options_.samples.inputs(sample));
        auto x = run_reference_.run(inputs);
        if (!x) return x.error().in("first model");
        auto y = run_other_.run(inputs_for(other_, inputs));
        if (!y) return y.error().in("second model");
        for (std::size_t i = 0; i != pairs_.size(); ++i) f(i, x.value()[i], y.value()[i]);
        return {};
    }

    const graph& other_;
    std::span<const compared_layers> pairs_;
    const comparison_options& options_;
    layer_runner run_reference_;
    layer_runner run_other_;
};

/// Chooses the order and the line of best fit for pairs for which they are unknown.
[[nodiscard]] result<void> settle(const graph& reference, const graph& other,
    std::vector<compared_layers>& pairs, const comparison_options& options);

}  // namespace headrace::detail

#endif
