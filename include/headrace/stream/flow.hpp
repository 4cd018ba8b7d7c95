// SPDX-License-Identifier: MIT
// Defines headrace::streams::flow, how a value of a model depends on a streamed input.
#ifndef HEADRACE_STREAM_FLOW_HPP
#define HEADRACE_STREAM_FLOW_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <boost/rational.hpp>

#include <headrace/ir/graph.hpp>

namespace headrace::streams {

using ratio = boost::rational<std::int64_t>;

enum class flow_kind : std::uint8_t {
    independent,  ///< no streamed input reaches the value
    flowing,      ///< it has a stream axis; each step makes `rate · step` elements of it
    latest        ///< it has no stream axis; each step makes it anew
};

/// A value in a stream. Element n of the stream is element n - delay of what the whole model computes.
struct flow {
    flow_kind kind = flow_kind::independent;
    std::size_t axis = 0;
    std::int64_t size = 0;  ///< of the axis in the whole model
    ratio rate{1};          ///< elements for each element of the streamed input
    std::int64_t delay = 0;
    /// The first element, or the first step of a `latest` value, that equals the whole model's.
    std::int64_t exact = 0;
    /// The first element that depends on nothing before the stream's first element.
    std::int64_t interior = 0;
    /// The whole model has the elements before this one, and its window's end does not affect them.
    std::int64_t end = 0;
    /// All elements are exact, and those before the first one are zero.
    bool zero_before = false;
    /// Depends on all elements since the first one.
    bool remembers = false;
    /// The whole model says it: a `latest` value when the stream has had as many elements as its window.
    bool comparable = true;
};

/// The elements of an operand's stream axis that a step's node reads, counted from the first element of the
/// step; negative ones are of earlier steps.
struct reading {
    std::int64_t begin = 0;
    std::int64_t length = 0;
};

/// A state that a node hands on to the next step.
struct carried {
    std::uint32_t operand;  ///< takes the old value
    std::uint32_t result;   ///< is the new value
};

/// How a node is computed in steps.
struct node_rule {
    std::vector<flow> results{};
    std::vector<std::optional<reading>> readings{};  ///< for each operand; none: what it is
    bool forwards = false;                           ///< the result is the first operand
    bool reshapes = false;
    bool sums_up = false;
    std::size_t spatial =
        SIZE_MAX;                   ///< position of the stream axis among the window's; its padding becomes 0
    std::size_t padded = SIZE_MAX;  ///< position in a list of padding that becomes 0
    std::optional<reading> crop{};  ///< of the results
    std::int64_t extra = 0;         ///< output padding of a transposed convolution
    std::int64_t overlap = 0;       ///< elements of results to which the next step adds its own
    bool clears = false;            ///< elements before the results' delay become zero
    std::int64_t first_step = 0;    ///< the first step that changes the states
    std::int64_t factor = 1;        ///< of a resampling along the axis
    std::vector<carried> states{};
};

}  // namespace headrace::streams

#endif
