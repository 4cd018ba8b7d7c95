// SPDX-License-Identifier: MIT
// Defines the rules of what a stream has before the whole model's first element.

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/stream/arguments.hpp>
#include <headrace/stream/rules.hpp>

namespace headrace::streams {

void flow_analysis::define_cleared(node& n) {
    flow f = of(n.operand(0));
    f.exact = std::max(std::int64_t{0}, f.delay);
    f.zero_before = true;
    node_rule made{.clears = true};
    made.readings.resize(n.operand_count);
    made.results.push_back(f);
    flows_[n.result()] = f;
    rules_[&n] = std::move(made);
}

bool flow_analysis::wants_zeros(const node& n) const {
    if (n.operand_count == 0 || meta_of(n.operand(0)) == nullptr) return false;
    const flow f = of(n.operand(0));
    if (f.kind != flow_kind::flowing || f.delay <= 0 || f.zero_before || f.exact > f.delay) return false;
    if (is<quantized_decomposed::dequantize_per_tensor>(*n.operand(0).producer)) return false;
    const std::size_t rank = meta(n, 0).rank();
    const std::size_t from_right = rank - f.axis;
    const auto at = [&](std::string_view name, std::size_t i) {
        const std::vector items = integers_argument(n, name);
        return items.empty() ? 0 : items[std::min(i, items.size() - 1)];
    };
    if (is<aten::cumsum>(n)) return normalized_axis(*integer_argument(n, "dim"), rank) == f.axis;
    if (n.op->has(trait::padding)) {
        const std::vector pads = integers_argument(n, "pad");
        return 2 * (from_right - 1) < pads.size() && pads[2 * (from_right - 1)] > 0;
    }
    const bool convolves = n.op->has(trait::convolving);
    if (!convolves && !(n.op->has(trait::pooling) && boolean_argument(n, "count_include_pad"))) return false;
    const std::size_t axes = convolves ? meta(n, 1).rank() - 2 : spatial_rank_in(n.op->traits);
    if (from_right > axes) return false;
    const bool is_transposed = n.op->has(trait::transposed) || boolean_argument(n, "transposed");
    return is_transposed || at("padding", axes - from_right) > 0;
}

}  // namespace headrace::streams
