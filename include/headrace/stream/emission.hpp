// SPDX-License-Identifier: MIT
// Declares headrace::streams::step_emission, which turns a model into one that computes a step.
#ifndef HEADRACE_STREAM_EMISSION_HPP
#define HEADRACE_STREAM_EMISSION_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/eval/tensor.hpp>
#include <headrace/io/program.hpp>
#include <headrace/stream/rules.hpp>

namespace headrace::streams {

/// A buffer of the step's program.
struct state {
    std::string name;
    std::string of;  ///< the value whose past elements it holds, or the node that hands it on
    tensor_meta meta{};
    std::int64_t fill = 0;  ///< all its elements before the first step, unless it is a recurrence's
};

/// Replaces each node that a stream reaches by its step. A value whose earlier elements are read gets one
/// buffer of as many as the reader that looks back the furthest needs, in the integers of a quantized value.
class step_emission {
public:
    step_emission(program& p, const flow_analysis& flows) : program_(p), graph_(*p.graph), flows_(flows) {}

    /// The streamed input must have its step's shape already. After an error, the program is of no use.
    [[nodiscard]] result<std::vector<state>> run(std::span<node* const> nodes);

private:
    struct history {
        std::int64_t length = 0;
        std::int64_t fill = 0;  // what was before the first element
        value full{};           // the history, and then the step's elements
    };
    struct update {
        value buffer;
        value next;
    };

    void note_histories(node& n);
    result<void> replace(node& n);
    result<node*> emit(node& n, std::span<const value> operands, const node_rule& rule, std::int64_t length);
    result<value> read(node& n, std::uint32_t operand, const node_rule& rule);
    result<value> full_history(value root, node& before);
    result<value> at_length(value v, value root, value made, std::int64_t length, node& before);
    result<void> add_sum(node& n, node& made);
    result<void> add_overlap(node& n, const node_rule& rule, value made);
    result<value> add_bias(value v, value bias, node& n);
    // How a stream starts.
    std::vector<std::int64_t> first_steps(const flow& f) const;
    void note_starts(const node& n);
    dtype count_type() const;
    result<value> is_step_from(std::span<const std::int64_t> first, const int_list& shape, node& before);
    result<void> clear(node& n, const node_rule& rule);
    result<value> next_state(node& n, const node_rule& rule, const carried& c, value made);
    result<void> count_steps();
    value add_constant(const tensor_meta& meta, std::span<const std::byte> bytes, node& before);
    result<value> first_value(value v);
    result<eval::tensor> evaluate(value v);
    value add_buffer(
        const tensor_meta& meta, std::span<const std::byte> bytes, std::string_view of, node& before);
    result<value> add(const op_info& op, const void* arguments, node& before);
    result<value> part(value v, std::size_t axis, std::int64_t begin, std::int64_t end, node& before);
    void write_outputs();

    // Returns the value whose elements are kept for readers of `v`, and what it is before the first one.
    std::pair<value, std::int64_t> root_of(value v) const;
    // Returns the value in the step.
    value stepped(value v) const;

    program& program_;
    graph& graph_;
    const flow_analysis& flows_;
    std::unordered_map<value, value, headrace::detail::value_hash> made_;
    std::unordered_map<value, history, headrace::detail::value_hash> histories_;
    std::vector<update> updates_;
    value steps_{};  ///< the number of steps so far, up to `last_counted_`, one element
    std::int64_t last_counted_ = 0;
    std::vector<state> states_;
};

}  // namespace headrace::streams

#endif
