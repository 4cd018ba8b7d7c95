// SPDX-License-Identifier: MIT
// Defines headrace::prove::pull_back.

#include <headrace/prove/gradient.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include <headrace/dialect/tosa.hpp>
#include <headrace/eval/evaluation.hpp>

namespace headrace::prove {

namespace {

using eval::tensor;

/// One derivative: of the results of a node by its operands.
class derivative {
public:
    derivative(const node& n, std::span<const tensor> operands, const element_weights& weights)
        : node_(n), operands_(operands), weights_(weights), out_(operands.size()) {}

    [[nodiscard]] std::vector<element_weights> take() {
        const bool is_product = detail::pull_back_product(node_, operands_, weights_, out_);
        if (!is_product && !binary() && !unary() && !moved()) reduced();
        return std::move(out_);
    }

private:
    // Calls `f(result, operand)` with the indices of elements that elementwise ops and reductions relate.
    template <class F>
    void for_each_pair(std::size_t operand, F f) {
        const eval::extents& shape = operands_[operand].shape();
        const int_list& result = node_.results[0].meta->shape;
        const eval::extents strides = eval::row_major_strides(shape);
        for (std::size_t i = 0; i != weights_.size(); ++i) {
            if (weights_[i] == 0) continue;
            auto rest = static_cast<std::int64_t>(i);
            std::int64_t at = 0;
            for (std::size_t d = result.size(); d-- != 0; rest /= std::max<std::int64_t>(1, result[d])) {
                if (d < shape.size() && shape[d] != 1) at += rest % result[d] * strides[d];
            }
            f(i, static_cast<std::size_t>(at));
        }
    }
    element_weights& weights_of(std::size_t operand) {
        out_[operand].resize(static_cast<std::size_t>(operands_[operand].size()), 0.0);
        return out_[operand];
    }
    template <class Slope>
    void add(std::size_t operand, Slope slope) {
        element_weights& to = weights_of(operand);
        for_each_pair(operand, [&](std::size_t i, std::size_t at) { to[at] += weights_[i] * slope(i, at); });
    }
    void add_times(std::size_t operand, double factor) {
        add(operand, [factor](std::size_t, std::size_t) { return factor; });
    }
    [[nodiscard]] bool is_any(std::initializer_list<const op_info*> ops) const {
        return std::ranges::find(ops, node_.op) != ops.end();
    }

    bool binary() {
        if (is_any({&info_of<tosa::add>, &info_of<tosa::maximum>, &info_of<tosa::minimum>})) {
            add_times(0, 1);
            add_times(1, 1);
        } else if (is<tosa::sub>(node_)) {
            add_times(0, 1);
            add_times(1, -1);
        } else if (is<tosa::mul>(node_)) {
            add_product(0, 1);
            add_product(1, 0);
        } else if (is<tosa::select>(node_)) {
            add_times(1, 1);
            add_times(2, 1);
        } else if (is<tosa::intdiv>(node_)) {
            add_times(0, 1);
        } else {
            return false;
        }
        return true;
    }
    void add_product(std::size_t operand, std::size_t factor) {
        std::vector<double> factors(weights_.size());
        for_each_pair(factor, [&](std::size_t i, std::size_t at) {
            factors[i] = operands_[factor].real(static_cast<std::int64_t>(at));
        });
        add(operand, [&](std::size_t i, std::size_t) { return factors[i]; });
    }

    bool unary() {
        if (is_any({&info_of<tosa::clamp>, &info_of<tosa::cast>, &info_of<tosa::identity>,
                &info_of<tosa::reshape>, &info_of<tosa::arithmetic_right_shift>,
                &info_of<tosa::logical_left_shift>})) {
            if (is<tosa::reshape>(node_)) {
                out_[0] = weights_;
            } else {
                add_times(0, 1);
            }
        } else if (is<tosa::negate>(node_)) {
            add_times(0, -1);
        } else if (is<tosa::abs>(node_)) {
            add(0, [&](std::size_t, std::size_t at) {
                return operands_[0].integer(static_cast<std::int64_t>(at)) < 0 ? -1.0 : 1.0;
            });
        } else if (is<tosa::rescale>(node_)) {
            const bool by_channel = args_of<tosa::rescale>(node_).per_channel;
            add(0, [&](std::size_t i, std::size_t) {
                const std::int64_t c = by_channel ? static_cast<std::int64_t>(i) % operands_[1].size() : 0;
                return std::ldexp(operands_[1].real(c), -static_cast<int>(operands_[2].integer(c)));
            });
        } else if (is<tosa::table>(node_)) {
            add_table();
        } else {
            return false;
        }
        return true;
    }
    // The slope over a sixteenth of the table, or over all of it where that is flat.
    void add_table() {
        const std::vector<double> table = operands_[1].to<double>();
        const bool wide = operands_[0].type() == dtype::int16;
        const auto last = static_cast<std::int64_t>(table.size()) - 1;
        add(0, [&](std::size_t, std::size_t at) {
            const std::int64_t x = operands_[0].integer(static_cast<std::int64_t>(at));
            const std::int64_t place = wide ? (x >> 7) + 256 : x + 128;
            const std::int64_t reach = last / 16;
            const auto entry = [&](std::int64_t i) {
                return table[static_cast<std::size_t>(std::clamp<std::int64_t>(i, 0, last))];
            };
            const double near = entry(place + reach) - entry(place - reach);
            return near != 0 ? near : (entry(last) - entry(0)) / 16;
        });
    }

    // Moves are executed with the positions of elements as their numbers.
    bool moved() {
        const bool joins = is<tosa::concat>(node_);
        const bool moves = joins ||
            is_any({&info_of<tosa::transpose>, &info_of<tosa::slice>, &info_of<tosa::reverse>,
                &info_of<tosa::tile>, &info_of<tosa::pad>, &info_of<tosa::gather>});
        if (!moves) return false;
        const std::size_t sources = joins ? operands_.size() : 1;
        std::vector<tensor> given(operands_.begin(), operands_.end());
        std::vector<std::int64_t> firsts(sources + 1, 0);
        for (std::size_t k = 0; k != sources; ++k) {
            std::vector<std::int64_t> positions(static_cast<std::size_t>(operands_[k].size()));
            std::iota(positions.begin(), positions.end(), firsts[k]);
            firsts[k + 1] = firsts[k] + operands_[k].size();
            given[k] = tensor::of(dtype::int64, operands_[k].shape(), positions);
        }
        if (is<tosa::pad>(node_))
            given[2] = tensor::of(dtype::int64, operands_[2].shape(), std::vector<std::int64_t>{-1});
        const std::vector<std::int64_t> from = executed(given);
        for (std::size_t i = 0; i < from.size() && i < weights_.size(); ++i) {
            if (weights_[i] == 0 || from[i] < 0) continue;
            const auto k =
                static_cast<std::size_t>(std::ranges::upper_bound(firsts, from[i]) - firsts.begin() - 1);
            weights_of(k)[static_cast<std::size_t>(from[i] - firsts[k])] += weights_[i];
        }
        return true;
    }
    [[nodiscard]] std::vector<std::int64_t> executed(std::span<const tensor> given) const {
        tensor_meta meta = *node_.results[0].meta;
        meta.dtype = dtype::int64;
        eval::variable_store variables;
        eval::evaluation e(node_, given, {meta}, eval::run_state(variables));
        eval::kernel_of_headrace (*node_.op)(node_.arguments, e);
        auto done = e.take_results();
        return done ? done.value()[0].to<std::int64_t>() : std::vector<std::int64_t>();
    }

    // A sum, a maximum or a minimum rises with each of its elements.
    void reduced() {
        if (!is_any({&info_of<tosa::reduce_sum>, &info_of<tosa::reduce_max>, &info_of<tosa::reduce_min>}))
            return;
        element_weights& to = weights_of(0);
        const eval::extents& shape = operands_[0].shape();
        const int_list& result = node_.results[0].meta->shape;
        const eval::extents strides = eval::row_major_strides(std::span(result.begin(), result.size()));
        for (std::size_t i = 0; i != to.size(); ++i) {
            auto rest = static_cast<std::int64_t>(i);
            std::int64_t at = 0;
            for (std::size_t d = shape.size(); d-- != 0; rest /= shape[d])
                at += result[d] == 1 ? 0 : rest % shape[d] * strides[d];
            to[i] = weights_[static_cast<std::size_t>(at)];
        }
    }

    const node& node_;
    std::span<const tensor> operands_;
    const element_weights& weights_;
    std::vector<element_weights> out_;
};

}  // namespace

std::vector<element_weights> pull_back(
    const node& n, std::span<const tensor> operands, const element_weights& weights) {
    return derivative(n, operands, weights).take();
}

}  // namespace headrace::prove
