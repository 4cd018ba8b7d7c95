// SPDX-License-Identifier: MIT
// Defines headrace::firmware::write_layers: from a graph of the device dialect to calls of kernels over
// planned memory.
#ifndef HEADRACE_FIRMWARE_LAYERS_HPP
#define HEADRACE_FIRMWARE_LAYERS_HPP

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/dialect/device.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/firmware/functions.hpp>
#include <headrace/firmware/result_names.hpp>
#include <headrace/firmware/source_text.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/on_device/core.hpp>
#include <headrace/on_device/tensor.hpp>

namespace headrace::firmware {

/// A value's place: its buffer, and its layout there.
struct place {
    std::size_t buffer = 0;
    on_device::tensor type{};
};

/// Memory that layers share; `first` and `last` are the first and the last of them that use it.
struct planned_buffer {
    on_device::element type = on_device::element::int8;
    std::int64_t count = 0;
    std::int64_t first = 0, last = 0;
    std::int64_t offset = 0;           ///< in bytes, once it is planned
    std::int64_t arena = 0;            ///< number of the arena, one for each bank of memory
    bool is_state = false;             ///< lives from one inference to the next
    std::vector<std::string> names{};  ///< of the values that lie there, one after the other

    [[nodiscard]] std::int64_t bytes() const { return count * bytes_of(type); }
};

/// One call of a kernel, or a choice between calls, or calls that are repeated.
struct call {
    enum class kind_type : std::uint8_t { kernel, branch, loop };
    std::string name;  ///< of the node that it computes
    std::string op;    ///< the kernel's operator, as a type
    std::vector<std::string> operands;
    std::vector<std::optional<std::size_t>> buffers{};  ///< of the operands; nothing for constants
    std::optional<std::size_t> scratch{};               ///< a buffer
    std::int64_t macs = 0;
    std::string kernel{};   ///< of the operator's kernels, the one that was chosen
    std::string because{};  ///< why the core's faster kernels were not taken; empty if they were
    std::optional<std::int64_t> instructions{};  ///< an estimate

    kind_type kind = kind_type::kernel;
    std::size_t condition = 0;  ///< the buffer of the boolean that decides
    std::vector<call> first{},
        second{};  ///< of a branch, if it is true and if not; of a loop, its test and its body
};

/// A value of the flatbuffer that is in memory right after a call.
struct traced_result {
    std::size_t call = 0;  ///< position among the calls
    std::string name;
    place at{};
};

/// A model as calls of kernels.
struct written_layers {
    std::vector<planned_buffer> buffers;
    std::vector<call> calls;
    std::vector<call> first_states;      ///< what gives states the values that they begin with
    std::int64_t steps = 0;              ///< calls of kernels, those in branches and loops included
    std::vector<place> inputs, outputs;  ///< of the graph, in its order
    std::vector<traced_result> traces;   ///< of calls outside of branches and loops; each name once
    constant_arrays constants;
    element_functions functions;
};

/// Calls `f(const call&)` for each call of a kernel, in the order of their steps, those that begin states
/// last.
template <class F>
void for_each_call(const std::vector<call>& calls, const F& f) {
    for (const call& c : calls) {
        if (c.kind == call::kind_type::kernel) f(c);
        for_each_call(c.first, f);
        for_each_call(c.second, f);
    }
}
template <class F>
void for_each_call(const written_layers& layers, const F& f) {
    for_each_call(layers.calls, f);
    for_each_call(layers.first_states, f);
}

/// Which kernels a header is written for, and how much memory there is.
struct core_description {
    std::string_view name;  ///< cortex-m4
    on_device::core_id set = on_device::core_id::portable;
};

/// The cores, and `host`.
[[nodiscard]] std::span<const core_description> all_cores();
[[nodiscard]] std::optional<core_description> find_core(std::string_view name);

/// An error if a part has no kernel: computed weights, types that no kernel has.
[[nodiscard]] result<written_layers> write_layers(
    const graph& g, const core_description& core, const result_names& names = {});

}  // namespace headrace::firmware

#endif
