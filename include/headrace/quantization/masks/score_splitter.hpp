// SPDX-License-Identifier: MIT
// Defines headrace::score_splitter, which separates the mask from scores.
#ifndef HEADRACE_QUANTIZATION_MASKS_SCORE_SPLITTER_HPP
#define HEADRACE_QUANTIZATION_MASKS_SCORE_SPLITTER_HPP

#include <map>
#include <tuple>
#include <vector>

#include <headrace/quantization/masks/mask_source.hpp>
#include <headrace/rewrite/emit.hpp>

namespace headrace {

/// A value split into excluded elements and finite numbers. Both parts broadcast to the value's shape.
struct split_scores {
    value excluded{};  ///< boolean: true for excluded elements; empty if there are none
    bool excludes_all = false;
    value finite{};           ///< the numbers of the other elements; empty if all are 0
    bool is_changed = false;  ///< false: `finite` is the value itself, or empty for a constant of zeros

    [[nodiscard]] bool masks() const { return excludes_all || excluded; }
};

/// Splits values into the elements that they exclude from a softmax and the finite numbers elsewhere,
/// regardless of the arithmetic that put infinities among them. Masks thus become booleans, and the range of
/// scores is that of the finite ones.
class score_splitter {
public:
    using made = ops<aten::where_self, aten::logical_not, aten::logical_or, aten::logical_and,
        aten::le_tensor, aten::ge_tensor, aten::add_tensor, aten::sub_tensor, aten::mul_tensor, aten::neg,
        aten::maximum, aten::minimum, aten::expand, aten::constant_pad_nd>;
    using emitter = emit<made>;

    explicit score_splitter(const mask_facts& facts) : facts_(facts), sources_(facts) {}

    /// If `low`, minus infinity excludes elements, else plus infinity does. Nodes are made by `e`.
    [[nodiscard]] split_scores split(emitter e, value v, bool low);

    /// Values in which some numbers stand for infinity and are told from the others by a bound.
    [[nodiscard]] const std::vector<value>& bounded() const { return bounded_; }

    /// Returns the finite numbers of a split value, with `filling` elsewhere, in the value's shape.
    [[nodiscard]] static value filled(emitter e, const split_scores& parts, value v, float filling);
    /// Expands a value to a shape.
    [[nodiscard]] static value fitted(emitter e, value v, const int_list& shape);

private:
    [[nodiscard]] split_scores split_unknown(emitter e, value v, bool low);
    [[nodiscard]] split_scores split_by_op(emitter e, value v, bool low);

    [[nodiscard]] split_scores of_constant(emitter e, value v, const tensor& t, bool low) const;
    [[nodiscard]] split_scores of_source(emitter e, const mask_source& source);
    [[nodiscard]] split_scores of_samples(emitter e, value v, bool low);
    [[nodiscard]] value excluded_by(
        emitter e, value v, const number_span& excluding, const number_span& keeping);

    [[nodiscard]] split_scores of_choice(emitter e, const args<aten::where_self>& a, value v, bool low);
    [[nodiscard]] split_scores of_sum(emitter e, value a, value b, value v, bool low);
    [[nodiscard]] split_scores of_difference(emitter e, value a, value b, value v, bool low);
    [[nodiscard]] split_scores of_product(emitter e, value x, value factor, bool low);
    [[nodiscard]] value condition_of_factor(emitter e, value factor) const;
    [[nodiscard]] split_scores of_extreme(emitter e, value a, value b, value v, bool low, bool is_largest);
    [[nodiscard]] split_scores of_clamp(emitter e, const node& n, bool low);
    [[nodiscard]] split_scores of_padding(emitter e, const args<aten::constant_pad_nd>& a, bool low);
    [[nodiscard]] split_scores of_reduction(emitter e, const node& n);
    [[nodiscard]] split_scores of_move(emitter e, const node& n, std::uint32_t result, bool low);

    const mask_facts& facts_;
    mask_source_finder sources_;
    std::map<std::tuple<const node*, std::uint32_t, bool>, split_scores> known_;
    std::vector<value> bounded_;
    int depth_ = 0;
};

}  // namespace headrace

#endif
