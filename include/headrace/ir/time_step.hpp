// SPDX-License-Identifier: MIT
// Defines headrace::time_step, the step of an unrolled network that a node belongs to, and its names.
#ifndef HEADRACE_IR_TIME_STEP_HPP
#define HEADRACE_IR_TIME_STEP_HPP

#include <charconv>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <headrace/ir/node.hpp>

namespace headrace {

/// Annotation: the time step of a recurrent network that a node computes, after the network was unrolled.
struct time_step {
    static constexpr bool inherited = true;
    std::string_view network;  ///< one layer in one direction: `gru_l0_forward`
    std::string_view name;     ///< of the step: `gru_l0_forward_t3of32`, with which its nodes' names begin
    std::uint32_t place = 0;   ///< of the node in its step: nodes of equal places compute the same
};

/// A step as the name of a node, a layer or a tensor tells it.
struct named_step {
    std::string_view network;
    std::uint32_t step = 0;  ///< from 1 on
    std::uint32_t steps = 0;

    friend auto operator<=>(const named_step&, const named_step&) = default;
};

namespace detail {

/// Reads "3of32", then the end of the name or a character that separates its parts.
[[nodiscard]] inline std::optional<named_step> read_step(std::string_view network, std::string_view text) {
    const char* const end = text.data() + text.size();
    named_step found{network};
    const auto first = std::from_chars(text.data(), end, found.step);
    if (first.ec != std::errc() || end - first.ptr < 3 || first.ptr[0] != 'o' || first.ptr[1] != 'f')
        return std::nullopt;
    const auto last = std::from_chars(first.ptr + 2, end, found.steps);
    const bool ends = last.ptr == end || *last.ptr == '_' || *last.ptr == '.';
    if (last.ec != std::errc() || !ends || found.step == 0 || found.step > found.steps) return std::nullopt;
    return found;
}

}  // namespace detail

/// Returns the step in a name such as `gru_l0_forward_t3of32_sigmoid.rescale`; nothing if it names none.
[[nodiscard]] inline std::optional<named_step> step_in_name(std::string_view name) {
    for (std::size_t at = name.find("_t"); at != std::string_view::npos; at = name.find("_t", at + 1)) {
        if (at == 0) continue;
        if (const auto found = detail::read_step(name.substr(0, at), name.substr(at + 2))) return found;
    }
    return std::nullopt;
}

/// Returns the step that a node computes; nothing if it is of no unrolled network.
[[nodiscard]] inline std::optional<named_step> step_of(const node& n) {
    const auto* const step = n.find_annotation<time_step>();
    return step_in_name(step != nullptr ? step->name : origin_name(n));
}

}  // namespace headrace

#endif
