// SPDX-License-Identifier: MIT
// Defines the functions of headrace/compare/computed_values.hpp.

#include <headrace/compare/computed_values.hpp>

#include <cstddef>
#include <map>
#include <span>

namespace headrace::detail {

std::map<result_key, std::size_t> places_of(std::span<const layer_value> layers) {
    std::map<result_key, std::size_t> places;
    for (std::size_t i = 0; i != layers.size(); ++i) places.emplace(key_of(layers[i].real), i);
    return places;
}

}  // namespace headrace::detail
