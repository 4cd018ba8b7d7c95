// SPDX-License-Identifier: MIT
// Defines the functions of headrace/compare/softmax_chain.hpp.

#include <headrace/compare/softmax_chain.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/cortex_m.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>

namespace headrace {

namespace {

constexpr trait same_elements = trait::forwarding | trait::reshaping | trait::broadcasting;

// Returns the value that others quantize, dequantize or give another shape.
value before_quantization(value v) {
    for (;;) {
        const node& n = *v.producer;
        const bool passes =
            is_of_dialect<quantized_decomposed::dialect>(n) || n.op->functional().has(same_elements);
        if (!passes || n.operand_count == 0) return v;
        v = n.operand(0);
    }
}

template <class Op>
const args<Op>* computed_by(value v) {
    return args_if<Op>(*before_quantization(v).producer);
}

bool is_last_axis(const int_list& axes, value v) {
    const auto rank = static_cast<std::int64_t>(meta_of(v)->rank());
    return axes.size() == 1 && (axes[0] == -1 || axes[0] == rank - 1);
}

// Returns x if the values are exp(x - max(x)) and the sum of it.
std::optional<softmax_chain> softmax_of_quotient(value powers, value sum) {
    const auto* const exp = computed_by<aten::exp>(powers);
    const auto* const summed = computed_by<aten::sum_dim_intlist>(sum);
    const auto* const difference = exp != nullptr ? computed_by<aten::sub_tensor>(exp->self) : nullptr;
    const auto* const highest = difference != nullptr ? computed_by<aten::amax>(difference->other) : nullptr;
    if (summed == nullptr || highest == nullptr || !summed->dim) return std::nullopt;
    const value x = difference->self;
    const bool is_softmax = before_quantization(summed->self) == before_quantization(powers) &&
        before_quantization(highest->self) == before_quantization(x) &&
        is_last_axis(*summed->dim, summed->self) && is_last_axis(highest->dim, highest->self);
    return is_softmax ? std::optional(softmax_chain{x}) : std::nullopt;
}

}  // namespace

std::optional<softmax_chain> softmax_completed_by(const node& product) {
    if (const auto* quotient = args_if<aten::div_tensor>(product))
        return softmax_of_quotient(quotient->self, quotient->other);
    const auto* const a = args_if<aten::mul_tensor>(product);
    if (a == nullptr) return std::nullopt;
    if (const auto* inverse = computed_by<aten::reciprocal>(a->other))
        return softmax_of_quotient(a->self, inverse->self);
    if (const auto* inverse = computed_by<aten::reciprocal>(a->self))
        return softmax_of_quotient(a->other, inverse->self);
    return std::nullopt;
}

std::vector<double> softmax_along_rows(const tensor& x) {
    std::vector<double> numbers = x.to<double>();
    const std::size_t row = x.rank() == 0 ? 1 : static_cast<std::size_t>(x.dim(x.rank() - 1));
    for (std::size_t at = 0; at != numbers.size(); at += row) {
        const std::span<double> line(numbers.data() + at, row);
        const double highest = std::ranges::max(line);
        double sum = 0;
        for (double& number : line) sum += number = std::exp(number - highest);
        for (double& number : line) number /= sum;
    }
    return numbers;
}

bool is_by_softmax_kernel(const node& n) {
    const node* at = &n;
    while (at->op->functional().has(same_elements) && at->operand_count != 0) at = at->operand(0).producer;
    if (is<cortex_m::softmax>(*at)) return true;
    const auto* const table = args_if<cortex_m::quantized_activation>(*at);
    if (table == nullptr) return false;
    return is_by_softmax_kernel(*table->input.producer);
}

}  // namespace headrace
