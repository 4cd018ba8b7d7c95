// SPDX-License-Identifier: MIT
// Defines headrace::detail::computed_values and keys of results, with which layers are found again.
#ifndef HEADRACE_COMPARE_COMPUTED_VALUES_HPP
#define HEADRACE_COMPARE_COMPUTED_VALUES_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <headrace/compare/layer_values.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/ir/views.hpp>

namespace headrace::detail {

/// Maps values to those from which they were quantized, dequantized or reshaped.
class computed_values {
public:
    explicit computed_values(const graph& g) : sources_(g.id_bound()) {
        for (const node& n : g.nodes()) {
            if (const auto* q = args_if<quantized_decomposed::quantize_per_tensor>(n)) {
                sources_[n.id] = (*this)[q->input];
            } else if (const auto* d = args_if<quantized_decomposed::dequantize_per_tensor>(n)) {
                sources_[n.id] = (*this)[d->input];
            } else if (is_view(n)) {
                sources_[n.id] = (*this)[n.operand(0)];
            }
        }
    }
    [[nodiscard]] value operator[](value v) const {
        const value source = sources_[v.producer->id];
        return source ? source : v;
    }

private:
    std::vector<value> sources_;  // by the node's id; none for other nodes
};

using result_key = std::pair<const node*, std::uint32_t>;

[[nodiscard]] inline result_key key_of(value v) { return {v.producer, v.result}; }

/// Returns the position of each value among the layers.
[[nodiscard]] std::map<result_key, std::size_t> places_of(std::span<const layer_value> layers);

inline constexpr auto no_layer = static_cast<std::size_t>(-1);

}  // namespace headrace::detail

#endif
