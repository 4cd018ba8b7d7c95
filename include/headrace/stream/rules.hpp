// SPDX-License-Identifier: MIT
// Declares headrace::streams::flow_analysis, which says for each node of a model how it is computed in steps.
#ifndef HEADRACE_STREAM_RULES_HPP
#define HEADRACE_STREAM_RULES_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/partition/extract.hpp>
#include <headrace/stream/flow.hpp>

namespace headrace::streams {

/// The rules of streams, one for each family of ops. An op is pointwise along the axis, moves the axis,
/// computes on a window that moves along it, hands a state on, or is global: that is refused, unless a window
/// of its latest elements is kept.
class flow_analysis {
public:
    /// `step` is in elements of the streamed input, whose axis has `size` in the whole model; `window` is the
    /// number of elements that global ops keep, or 0.
    flow_analysis(std::int64_t step, std::int64_t size, std::int64_t window)
        : step_(step), size_(size), window_(window) {}

    void define(value v, const flow& f) { flows_[v] = f; }

    /// Determines the rule of a node whose operands are known. An error names the node and the way out.
    [[nodiscard]] result<void> visit(node& n);

    /// Makes the node, whose result is its operand, one that gives zeros before the first element of the
    /// whole model's.
    void define_cleared(node& n);

    /// True if the node reads zeros before the first element of its operand, as the whole model pads with
    /// them, and the stream has other numbers there.
    [[nodiscard]] bool wants_zeros(const node& n) const;

    [[nodiscard]] flow of(value v) const;
    /// Returns null for a node that no stream reaches.
    [[nodiscard]] const node_rule* rule_of(const node& n) const;
    /// Returns the elements that a step makes of a flowing value.
    [[nodiscard]] std::int64_t elements(const flow& f) const { return (f.rate * step_).numerator(); }
    /// Returns the number whose multiples a step must be.
    [[nodiscard]] std::int64_t step_multiple() const { return multiple_; }

private:
    result<node_rule> rule(node& n);
    result<node_rule> rule_by_traits(node& n);
    result<node_rule> named_rule(node& n);

    // Pointwise along the axis: operands broadcast, and earlier ones wait for later ones.
    result<node_rule> pointwise(node& n);
    result<node_rule> like_operand(node& n, std::uint32_t operand, std::int64_t axis_shift = 0);
    result<node_rule> aligned(node& n, std::size_t from_right);
    // Windows.
    result<node_rule> convolution(node& n);
    result<node_rule> pooling(node& n);
    result<node_rule> windowed(node& n, const struct moving_window& w, std::size_t result_axis);
    result<node_rule> transposed(node& n, const struct moving_window& w);
    result<node_rule> resampling(node& n);
    // Moves.
    result<node_rule> permutation(node& n);
    result<node_rule> reshape(node& n);
    result<node_rule> slice(node& n);
    result<node_rule> shifted(node& n, std::int64_t delay, bool zeros);
    result<node_rule> pad(node& n);
    result<node_rule> join(node& n);
    result<node_rule> reduction(node& n);
    result<node_rule> product(node& n);
    result<node_rule> recurrence(node& n);
    result<node_rule> cumulative_sum(node& n);
    static result<node_rule> begins_with_others(const node& n, const flow& f);
    // Global ops.
    result<node_rule> global(node& n, std::string_view what);
    result<node_rule> newest(node& n, std::int64_t from_end);
    result<node_rule> gathered(node& n, std::int64_t elements_kept);

    // Returns the elements that as many steps make as the whole model's window has.
    [[nodiscard]] std::int64_t whole_elements(const flow& f) const {
        return boost::rational_cast<std::int64_t>(f.rate * size_);
    }
    [[nodiscard]] const tensor_meta& meta(const node& n, std::uint32_t operand) const;
    [[nodiscard]] result<void> check_flow(const node& n, const flow& f);

    std::int64_t step_;
    std::int64_t size_;
    std::int64_t window_;
    std::int64_t multiple_ = 1;
    std::unordered_map<value, flow, headrace::detail::value_hash> flows_;
    std::unordered_map<const node*, node_rule> rules_;
};

}  // namespace headrace::streams

#endif
