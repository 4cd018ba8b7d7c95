// SPDX-License-Identifier: MIT
// Defines the functions of headrace/compare/computed_values.hpp.

#include <headrace/compare/computed_values.hpp>

#include <cstddef>
#include <map>
#include <span>

#include <range/v3/view/enumerate.hpp>

namespace headrace::detail {

std::map<result_key, std::size_t> places_of(std::span<const layer_value> layers) {
    std::map<result_key, std::size_t> places;
    for (const auto& [i, layer] : ranges::views::enumerate(layers)) places.emplace(key_of(layer.real), i);
    return places;
}

}  // namespace headrace::detail
